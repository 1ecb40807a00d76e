"""Points, velocities and force directions of contacts, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.contact import ContactMode
from handwright.kernels.decorators import compiled, inlined, kernel
from handwright.kinematics.tree import placed
from handwright.mechanics.wrench import tangents
from handwright.methods.stepwise.qp.point_rows import HandChain, body_point_rows, hand_point_rows
from handwright.methods.stepwise.world import BodyPoses

_COLLIDING, _SLIDING = int(ContactMode.COLLIDING), int(ContactMode.SLIDING)


class ContactIndices(NamedTuple):
    """What touches what, for K contacts."""

    body: Int[np.ndarray, " K"]
    """The body that is touched."""
    hand: Int[np.ndarray, " K"]
    """The hand that touches; -1 where no hand does."""
    other: Int[np.ndarray, " K"]
    """The other body that touches; -1 where none does."""
    link: Int[np.ndarray, " K"]
    """Link of the hand that touches."""


class ContactKinematics(NamedTuple):
    """How contacts move with the velocities of hands and bodies."""

    relative: Float[np.ndarray, "K 3 N"]
    """Velocities of what touches over the bodies, by all velocities."""
    offset: Float[np.ndarray, "K 3"]
    """Vectors from points of bodies to those of what touches, m."""
    normal: Float[np.ndarray, "K 3"]
    """Unit normals into the touched bodies."""
    curve: Float[np.ndarray, "K 3"]
    """What is added to the velocities because points move on curves, m/s."""


class PlacedContacts(NamedTuple):
    """Contacts in the world, in arrays that kernels fill."""

    point: Float[np.ndarray, "K 3"]
    """Points of the touched bodies, m."""
    toucher: Float[np.ndarray, "K 3"]
    """Points of what touches, m."""
    normal: Float[np.ndarray, "K 3"]
    """Unit normals into the touched bodies."""
    before: Float[np.ndarray, "K 3"]
    """Velocities of what touches over the bodies in the last frame, m/s."""
    relative: Float[np.ndarray, "K 3 N"]
    """Velocities of what touches over the bodies, by all velocities."""


@inlined
def _turned(turn: np.ndarray, n: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    return (
        turn[n, 0, 0] * x + turn[n, 0, 1] * y + turn[n, 0, 2] * z,
        turn[n, 1, 0] * x + turn[n, 1, 1] * y + turn[n, 1, 2] * z,
        turn[n, 2, 0] * x + turn[n, 2, 1] * y + turn[n, 2, 2] * z,
    )


@kernel
def place_contacts(
    which: ContactIndices,
    vectors: Float[np.ndarray, "K 6 3"],
    bodies: BodyPoses,
    first: Int[np.ndarray, " B"],
    out: PlacedContacts,
) -> None:
    """Places contacts in the world, and fills in the velocities of the bodies there.

    Args:
        which: What touches what.
        vectors: Local point, anchor and normal of each contact, two vectors that are not used
            here, and the velocity of the last frame in the body's axes.
        bodies: Where all bodies are.
        first: Index of each body's first velocity among all velocities.
        out: Filled; ``relative`` must hold zeros. Points of hands are left to
            ``place_hand_contacts``.
    """
    center, turn = bodies.center, bodies.rotation
    point, normal, before, relative = out.point, out.normal, out.before, out.relative
    for k in range(which.body.shape[0]):
        b, o = which.body[k], which.other[k]
        lx, ly, lz = vectors[k, 0, 0], vectors[k, 0, 1], vectors[k, 0, 2]
        nx, ny, nz = vectors[k, 2, 0], vectors[k, 2, 1], vectors[k, 2, 2]
        ax, ay, az = _turned(turn, b, vectors[k, 1, 0], vectors[k, 1, 1], vectors[k, 1, 2])
        if which.hand[k] >= 0 or o >= 0:
            nx, ny, nz = _turned(turn, b, nx, ny, nz)
        normal[k, 0], normal[k, 1], normal[k, 2] = nx, ny, nz
        before[k, 0], before[k, 1], before[k, 2] = _turned(
            turn, b, vectors[k, 5, 0], vectors[k, 5, 1], vectors[k, 5, 2]
        )
        px, py, pz = center[b, 0] + ax, center[b, 1] + ay, center[b, 2] + az
        point[k, 0], point[k, 1], point[k, 2] = px, py, pz
        # Both sides are taken at the body's point, so that what the one gets the other gives.
        body_point_rows(first[b], ax, ay, az, -1.0, relative[k])
        if o >= 0:
            lx, ly, lz = _turned(turn, o, lx, ly, lz)
            lx, ly, lz = lx + center[o, 0], ly + center[o, 1], lz + center[o, 2]
            body_point_rows(
                first[o], px - center[o, 0], py - center[o, 1], pz - center[o, 2], 1.0, relative[k]
            )
        out.toucher[k, 0], out.toucher[k, 1], out.toucher[k, 2] = lx, ly, lz


@kernel
def place_hand_contacts(
    h: int,
    hand: HandChain,
    which: ContactIndices,
    vectors: Float[np.ndarray, "K 6 3"],
    out: PlacedContacts,
) -> None:
    """Places the contacts of hand ``h``, and adds its velocities there; see ``place_contacts``."""
    for k in range(which.hand.shape[0]):
        if which.hand[k] != h:
            continue
        link, local, point = which.link[k], vectors[k, 0], out.point[k]
        x, y, z = placed(hand.links, link, local[0], local[1], local[2])
        out.toucher[k, 0], out.toucher[k, 1], out.toucher[k, 2] = x, y, z
        hand_point_rows(hand, link, point[0], point[1], point[2], 1.0, out.relative[k])


@compiled
def force_edges(
    mode: np.ndarray,
    friction: Float[np.ndarray, " K"],
    drag: Float[np.ndarray, "K 3"],
    normal: Float[np.ndarray, "K 3"],
) -> tuple:
    """Directions that span the forces of contacts on bodies, and the contact of each.

    Figure 4 of the paper: a colliding contact pushes along the normal; a sliding one on the edge of
    the cone against the slip; a static one anywhere in a pyramid with its edges on the cone. The
    drag is where friction pulls the body while it slides; normals point into bodies.
    """
    count = 0
    for k in range(len(mode)):
        count += 1 if _has_one_edge(mode[k], friction[k]) else 4
    edges, owner = np.zeros((count, 3)), np.zeros(count, dtype=np.int64)
    first, second = across(normal)
    row = 0
    for k in range(len(mode)):
        if _has_one_edge(mode[k], friction[k]):
            # The normal has turned since the slip was seen.
            lift = drag[k, 0] * normal[k, 0] + drag[k, 1] * normal[k, 1] + drag[k, 2] * normal[k, 2]
            size = 0.0
            for i in range(3):
                edges[row, i] = drag[k, i] - lift * normal[k, i]
                size += edges[row, i] ** 2
            pull = friction[k] / max(np.sqrt(size), 1e-12) if mode[k] == _SLIDING else 0.0
            for i in range(3):
                edges[row, i] = normal[k, i] + pull * edges[row, i]
            owner[row] = k
            row += 1
            continue
        for way in range(4):
            pull = -friction[k] if way % 2 else friction[k]
            for i in range(3):
                side = first[k, i] if way < 2 else second[k, i]
                edges[row, i] = normal[k, i] + pull * side
            owner[row] = k
            row += 1
    return edges, owner


@inlined
def _has_one_edge(mode: int, friction: float) -> bool:
    return mode in (_COLLIDING, _SLIDING) or friction == 0.0


@compiled
def across(normal: Float[np.ndarray, "K 3"]) -> tuple:
    """Two unit directions across each normal."""
    first, second = np.zeros(normal.shape), np.zeros(normal.shape)
    for k in range(len(normal)):
        ax, ay, az, bx, by, bz = tangents(normal, k)
        first[k, 0], first[k, 1], first[k, 2] = ax, ay, az
        second[k, 0], second[k, 1], second[k, 2] = bx, by, bz
    return first, second


@compiled
def moving(
    relative: Float[np.ndarray, "K 3 N"],
    curve: Float[np.ndarray, "K 3"],
    velocity: Float[np.ndarray, " N"],
) -> Float[np.ndarray, "K 3"]:
    """Velocities of what touches less those of the bodies, m/s."""
    found = curve.copy()
    for k in range(len(relative)):
        for i in range(3):
            total = 0.0
            for n in range(len(velocity)):
                total += relative[k, i, n] * velocity[n]
            found[k, i] += total
    return found


@compiled
def along_and_across(vector: Float[np.ndarray, "K 3"], normal: Float[np.ndarray, "K 3"]) -> tuple:
    """Parts of vectors along normals, as lengths, and across them, with their lengths."""
    along, across_it, size = np.zeros(len(vector)), np.zeros(vector.shape), np.zeros(len(vector))
    for k in range(len(vector)):
        for i in range(3):
            along[k] += vector[k, i] * normal[k, i]
        for i in range(3):
            across_it[k, i] = vector[k, i] - along[k] * normal[k, i]
            size[k] += across_it[k, i] ** 2
        size[k] = np.sqrt(size[k])
    return along, across_it, size
