"""What contacts of a frame do, as numbers by which their modes change; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.kernels.decorators import compiled, kernel
from handwright.kinematics.tree import Links, placed
from handwright.methods.stepwise.contacts.contact_kernels import ContactIndices
from handwright.methods.stepwise.vectors import dot, minus, plus, times, turned
from handwright.methods.stepwise.world import BodyPoses

_SLIDING = int(ContactMode.SLIDING)


@kernel
def held_positions(
    h: int,
    which: ContactIndices,
    vectors: np.ndarray,
    links: Links,
    bodies: BodyPoses,
    point: np.ndarray,
    away: np.ndarray,
) -> None:
    """Where contacts of hand ``h`` are on their bodies, and how far their points are apart.

    Args:
        h: Number of the hand.
        which: What touches what.
        vectors: (K, 3, 3) local points, anchors and normals.
        links: Placed links of the hand.
        bodies: Where all bodies are.
        point: (K, 3) points of the bodies, m; filled.
        away: (K, 2) distances along the normal and across it, m; filled.
    """
    center, turn = bodies.center, bodies.rotation
    for k in range(which.hand.shape[0]):
        if which.hand[k] != h:
            continue
        b, local = which.body[k], vectors[k, 0]
        point[k] = plus(center[b], turned(turn[b], vectors[k, 1]))
        normal = turned(turn[b], vectors[k, 2])
        offset = minus(placed(links, which.link[k], local[0], local[1], local[2]), point[k])
        gap = -dot(offset, normal)
        across = plus(offset, times(gap, normal))
        away[k, 0], away[k, 1] = gap, np.sqrt(dot(across, across))


class SlipFigures(NamedTuple):
    """What the force and the slip of one contact are."""

    along: float
    """Force along the normal, N."""
    across: float
    """Force across the normal, N."""
    speed: float
    """Speed of the slip, m/s."""
    pace: float
    """Speed of the mean slip, m/s."""
    dragged: float
    """Slip along the drag, m/s."""
    mean_dragged: float
    """Mean slip along the drag, m/s."""


@compiled
def slip_figures(
    force: Float[np.ndarray, "K 3"],
    normal: Float[np.ndarray, "K 3"],
    slip: Float[np.ndarray, "K 3"],
    mean: Float[np.ndarray, "K 3"],
    drag: Float[np.ndarray, "K 3"],
) -> Float[np.ndarray, "K 6"]:
    """The numbers of ``SlipFigures`` for every contact.

    Args:
        force: Forces on bodies, N.
        normal: Unit normals into bodies.
        slip: Slips over bodies at the end of a frame, m/s.
        mean: Mean slips of the last frame and this one, m/s.
        drag: Where friction pulls while a contact slides.
    """
    found = np.zeros((len(force), 6))
    for k in range(len(force)):
        along = dot(force[k], normal[k])
        across = 0.0
        for i in range(3):
            across += (force[k, i] - along * normal[k, i]) ** 2
        found[k, 0], found[k, 1] = along, np.sqrt(across)
        found[k, 2], found[k, 3] = np.sqrt(dot(slip[k], slip[k])), np.sqrt(dot(mean[k], mean[k]))
        found[k, 4], found[k, 5] = dot(slip[k], drag[k]), dot(mean[k], drag[k])
    return found


@compiled
def gaps_and_forces(
    offset: Float[np.ndarray, "K 3"],
    normal: Float[np.ndarray, "K 3"],
    force: Float[np.ndarray, "K 3"],
) -> tuple:
    """How far what touches is from the bodies along the normals, m, and forces along them, N."""
    gap, along = np.zeros(len(normal)), np.zeros(len(normal))
    for k in range(len(normal)):
        gap[k], along[k] = -dot(offset[k], normal[k]), dot(force[k], normal[k])
    return gap, along


@compiled
def energy_added(
    force: Float[np.ndarray, "K 3"],
    normal: Float[np.ndarray, "K 3"],
    slip: Float[np.ndarray, "K 3"],
    leaving: Float[np.ndarray, " K"],
    hand: np.ndarray,
    mode: np.ndarray,
    still: float,
    step: float,
) -> float:
    """Energy that contacts which slide or break add in a frame, J.

    Args:
        force: Forces on bodies, N.
        normal: Unit normals into bodies.
        slip: Over bodies, m/s.
        leaving: Away from bodies, m/s.
        hand: (K,) -1 where no hand touches.
        mode: (K,) values of ``ContactMode``.
        still: Speeds below this are none, m/s.
        step: Length of the frame, s.
    """
    total = 0.0
    for k in range(len(force)):
        if hand[k] < 0 and leaving[k] > still:
            total += max(step * leaving[k] * dot(force[k], normal[k]), 0.0)
        if mode[k] == _SLIDING:
            total += max(-step * dot(force[k], slip[k]), 0.0)
    return total


@compiled
def in_body_axes(
    vector: Float[np.ndarray, "K 3"], body: np.ndarray, turn: Float[np.ndarray, "B 3 3"]
) -> Float[np.ndarray, "K 3"]:
    """World vectors in the axes of bodies."""
    found = np.zeros(vector.shape)
    for k in range(len(vector)):
        for i in range(3):
            for j in range(3):
                found[k, i] += turn[body[k], j, i] * vector[k, j]
    return found
