"""Limits at contacts: bodies keep out of what they lie on, hands slide as Coulomb's law says."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.kernels.decorators import compiled, inlined
from handwright.methods.stepwise.contacts.touch_kernels import across

STILL_SPEED = 3e-3
"""Fastest slip of a static contact along each of two directions, m/s; a certificate has 5e-3."""
# How much of a depth is undone in a frame, and how fast at most, m/s.
_RECOVERY, _RECOVERY_SPEED = 0.3, 0.05
_STATIC, _SLIDING = int(ContactMode.STATIC), int(ContactMode.SLIDING)


@compiled
def least_speed(gap: Float[np.ndarray, " N"], step: float) -> Float[np.ndarray, " N"]:
    """Speeds apart, m/s, that close a gap within a frame, or undo some of a depth."""
    found = np.zeros(len(gap))
    for n in range(len(gap)):
        if gap[n] >= 0.0:
            found[n] = -gap[n] / step
        else:
            found[n] = min(-_RECOVERY * gap[n] / step, _RECOVERY_SPEED)
    return found


@inlined
def _put_row(
    relative: np.ndarray,
    curve: np.ndarray,
    k: int,
    way: np.ndarray,
    sign: float,
    matrix: np.ndarray,
    low: np.ndarray,
    row: int,
) -> None:
    """Writes the velocity of contact k along a way, and takes what its curve adds off the limit."""
    x, y, z = sign * way[0], sign * way[1], sign * way[2]
    for n in range(relative.shape[2]):
        matrix[row, n] = relative[k, 0, n] * x + relative[k, 1, n] * y + relative[k, 2, n] * z
    low[row] -= curve[k, 0] * x + curve[k, 1] * y + curve[k, 2] * z


@compiled
def touch_limits(
    relative: Float[np.ndarray, "K 3 N"],
    offset: Float[np.ndarray, "K 3"],
    normal: Float[np.ndarray, "K 3"],
    curve: Float[np.ndarray, "K 3"],
    hand: np.ndarray,
    is_pinned: np.ndarray,
    is_stuck: np.ndarray,
    mode: np.ndarray,
    drag: Float[np.ndarray, "K 3"],
    step: float,
) -> tuple:
    """Rows of velocities, how low they may be, m/s, and the slack that gives way.

    Contacts of bodies keep them apart, and pinned ones may not part (slack 1). Static contacts of
    hands do not slide, and sliding ones do not turn back (slack 2).

    Args:
        relative: Velocities of what touches over the bodies, by all velocities.
        offset: From points of bodies to those of what touches, m.
        normal: Into the bodies.
        curve: What is added to the velocities, m/s.
        hand: (K,) -1 where no hand touches.
        is_pinned: (K,) whether contacts may not part.
        is_stuck: (K,) whether contacts of bodies may not slide, where they are static.
        mode: (K,) values of ``ContactMode``.
        drag: Where friction pulls bodies at contacts that slide.
        step: s.
    """
    lying = np.flatnonzero(hand < 0)
    pinned = np.flatnonzero(is_pinned)
    stays = np.flatnonzero(((hand >= 0) | is_stuck) & (mode == _STATIC))
    slides = np.flatnonzero((hand >= 0) & (mode == _SLIDING))
    num_bodies = len(lying) + len(pinned)
    count = num_bodies + 4 * len(stays) + len(slides)
    matrix, low = np.zeros((count, relative.shape[2])), np.zeros(count)
    kind = np.full(count, 2)
    kind[:num_bodies] = 1
    gap = np.zeros(len(offset))
    for n in range(len(gap)):
        for i in range(3):
            gap[n] -= offset[n, i] * normal[n, i]
    speed = least_speed(gap, step)
    row = 0
    for k in lying:
        low[row] = speed[k]
        _put_row(relative, curve, k, normal[k], -1.0, matrix, low, row)
        row += 1
    for k in pinned:
        # They need not close, either.
        low[row] = -max(speed[k], 0.0)
        _put_row(relative, curve, k, normal[k], 1.0, matrix, low, row)
        row += 1
    first, second = across(normal)
    for sign in (1.0, -1.0):
        for ways in (first, second):
            for k in stays:
                low[row] = -STILL_SPEED
                _put_row(relative, curve, k, ways[k], sign, matrix, low, row)
                row += 1
    for k in slides:
        _put_row(relative, curve, k, drag[k], 1.0, matrix, low, row)
        row += 1
    return matrix, low, kind
