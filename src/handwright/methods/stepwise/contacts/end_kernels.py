"""How contacts push bodies and how far they move within a frame, compiled."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled, inlined, kernel
from handwright.kinematics.tree import Links
from handwright.methods.stepwise.contacts.contact_kernels import ContactIndices
from handwright.methods.stepwise.world import BodyPoses


@compiled
def contact_wrenches(
    force: Float[np.ndarray, "K 3"],
    point: Float[np.ndarray, "K 3"],
    body: np.ndarray,
    other: np.ndarray,
    center: Float[np.ndarray, "B 3"],
) -> Float[np.ndarray, "B 6"]:
    """Forces and moments about centres of mass of all contacts, on every body.

    Args:
        force: Forces on ``body``, N.
        point: Where they act, m.
        body: (K,) body that gets the force.
        other: (K,) body that gets the opposite; -1 for none.
        center: Centres of mass, m.
    """
    wrench = np.zeros((len(center), 6))
    for k in range(len(force)):
        for n, sign in ((body[k], 1.0), (other[k], -1.0)):
            if n < 0:
                continue
            x, y, z = sign * force[k, 0], sign * force[k, 1], sign * force[k, 2]
            ax, ay, az = (
                point[k, 0] - center[n, 0],
                point[k, 1] - center[n, 1],
                point[k, 2] - center[n, 2],
            )
            wrench[n, 0] += x
            wrench[n, 1] += y
            wrench[n, 2] += z
            wrench[n, 3] += ay * z - az * y
            wrench[n, 4] += az * x - ax * z
            wrench[n, 5] += ax * y - ay * x
    return wrench


@inlined
def _apply(turn: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    return (
        turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z,
        turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z,
        turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z,
    )


@inlined
def _apply_back(turn: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    return (
        turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
        turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
        turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
    )


@inlined
def _carried(
    turn: np.ndarray,
    place: np.ndarray,
    later_turn: np.ndarray,
    later_place: np.ndarray,
    point: np.ndarray,
) -> tuple[float, float, float]:
    """Where a point is later that moves with a frame."""
    x, y, z = _apply_back(turn, point[0] - place[0], point[1] - place[1], point[2] - place[2])
    x, y, z = _apply(later_turn, x, y, z)
    return later_place[0] + x, later_place[1] + y, later_place[2] + z


@kernel
def carry_by_hand(
    h: int,
    which: ContactIndices,
    point: np.ndarray,
    links: Links,
    later: Links,
    at: np.ndarray,
) -> None:
    """Writes where points (K, 3) that move with links of hand ``h`` are later."""
    for k in range(which.hand.shape[0]):
        if which.hand[k] == h:
            n = which.link[k]
            at[k, 0], at[k, 1], at[k, 2] = _carried(
                links.rotation[n], links.position[n], later.rotation[n], later.position[n], point[k]
            )


@kernel
def motion_over_bodies(
    which: ContactIndices,
    point: Float[np.ndarray, "K 3"],
    anchor: Float[np.ndarray, "K 3"],
    bodies: BodyPoses,
    later: BodyPoses,
    at: Float[np.ndarray, "K 3"],
) -> None:
    """Motion within a frame of what touches over the bodies, in axes of its start, m.

    Args:
        which: What touches what.
        point: Where the bodies are touched when the frame begins, m.
        anchor: The same points from the bodies' centres of mass in their axes, m.
        bodies: Where all bodies are when the frame begins.
        later: Where they are when it ends.
        at: Where points of hands are when it ends, m; becomes the motion.
    """
    center, turn = bodies.center, bodies.rotation
    later_center, later_turn = later.center, later.rotation
    for k in range(which.body.shape[0]):
        b, o = which.body[k], which.other[k]
        if which.hand[k] < 0 and o < 0:
            x, y, z = _apply(later_turn[b], anchor[k, 0], anchor[k, 1], anchor[k, 2])
            at[k, 0] = point[k, 0] - (later_center[b, 0] + x)
            at[k, 1] = point[k, 1] - (later_center[b, 1] + y)
            at[k, 2] = point[k, 2] - (later_center[b, 2] + z)
            continue
        x, y, z = at[k, 0], at[k, 1], at[k, 2]
        if o >= 0:
            x, y, z = _carried(turn[o], center[o], later_turn[o], later_center[o], point[k])
        x, y, z = x - later_center[b, 0], y - later_center[b, 1], z - later_center[b, 2]
        x, y, z = _apply_back(later_turn[b], x, y, z)
        x, y, z = x - anchor[k, 0], y - anchor[k, 1], z - anchor[k, 2]
        at[k, 0], at[k, 1], at[k, 2] = _apply(turn[b], x, y, z)
