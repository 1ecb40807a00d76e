"""Limits at contacts: bodies keep out of what they lie on, hands slide as Coulomb's law says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.contact import ContactMode
from handwright.kernels.decorators import compiled, inlined
from handwright.methods.stepwise.contacts.contact_kernels import ContactKinematics, across

STILL_SPEED = 3e-3
"""Fastest slip of a static contact along each of two directions, m/s; a certificate has 5e-3."""
# How much of a depth is undone in a frame, and how fast at most, m/s.
_RECOVERY, _RECOVERY_SPEED = 0.3, 0.05
_STATIC, _SLIDING = int(ContactMode.STATIC), int(ContactMode.SLIDING)


class ContactModes(NamedTuple):
    """What contacts may do in a frame."""

    hand: Int[np.ndarray, " K"]
    """The hand that touches; -1 where no hand does."""
    is_pinned: Bool[np.ndarray, " K"]
    """Whether a contact may not part."""
    is_stuck: Bool[np.ndarray, " K"]
    """Whether a static contact of two bodies may not slide."""
    mode: Int[np.ndarray, " K"]
    """Values of ``ContactMode``."""
    drag: Float[np.ndarray, "K 3"]
    """Where friction pulls bodies at contacts that slide."""


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
def contact_limits(contacts: ContactKinematics, modes: ContactModes, step: float) -> tuple:
    """Rows of velocities, how low they may be, m/s, and the slack that gives way.

    Contacts of bodies keep them apart, and pinned ones may not part (slack 1). Static contacts of
    hands do not slide, and sliding ones do not turn back (slack 2).
    """
    relative, curve, normal, offset = (
        contacts.relative,
        contacts.curve,
        contacts.normal,
        contacts.offset,
    )
    hand, mode = modes.hand, modes.mode
    lying = np.flatnonzero(hand < 0)
    pinned = np.flatnonzero(modes.is_pinned)
    stays = np.flatnonzero(((hand >= 0) | modes.is_stuck) & (mode == _STATIC))
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
        _put_row(relative, curve, k, modes.drag[k], 1.0, matrix, low, row)
        row += 1
    return matrix, low, kind
