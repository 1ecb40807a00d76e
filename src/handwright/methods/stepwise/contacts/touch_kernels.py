"""Points, velocities and force directions of contacts, compiled."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.kernels.decorators import compiled, inlined, kernel
from handwright.kinematics.tree import Links, Tree, placed
from handwright.methods.stepwise.qp.point_rows import body_point_rows, hand_point_rows

_COLLIDING, _SLIDING = int(ContactMode.COLLIDING), int(ContactMode.SLIDING)


@inlined
def _turned(turn: np.ndarray, n: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    return (
        turn[n, 0, 0] * x + turn[n, 0, 1] * y + turn[n, 0, 2] * z,
        turn[n, 1, 0] * x + turn[n, 1, 1] * y + turn[n, 1, 2] * z,
        turn[n, 2, 0] * x + turn[n, 2, 1] * y + turn[n, 2, 2] * z,
    )


@kernel
def place_contacts(
    body: np.ndarray,
    hand: np.ndarray,
    other: np.ndarray,
    vectors: np.ndarray,
    center: np.ndarray,
    turn: np.ndarray,
    first: np.ndarray,
    point: np.ndarray,
    at: np.ndarray,
    normal: np.ndarray,
    before: np.ndarray,
    relative: np.ndarray,
) -> None:
    """Where contacts are in the world, and velocities of the bodies there.

    Args:
        body: (K,) what is touched.
        hand: (K,) what touches; -1 for none.
        other: (K,) the other body that touches; -1 for none.
        vectors: (K, 6, 3) of which the first are local points, anchors and normals, and the last
            velocities of the last frame in the body's axes.
        center: (B, 3) of bodies, m.
        turn: (B, 3, 3) of bodies.
        first: (B,) of their velocities.
        point: (K, 3) filled: of the body, m.
        at: (K, 3) filled: of what touches, m; not for hands.
        normal: (K, 3) filled.
        before: (K, 3) filled: velocities of the last frame.
        relative: (K, 3, N) zeros; what is touched goes in with a minus.
    """
    for k in range(body.shape[0]):
        b, o = body[k], other[k]
        lx, ly, lz = vectors[k, 0, 0], vectors[k, 0, 1], vectors[k, 0, 2]
        nx, ny, nz = vectors[k, 2, 0], vectors[k, 2, 1], vectors[k, 2, 2]
        ax, ay, az = _turned(turn, b, vectors[k, 1, 0], vectors[k, 1, 1], vectors[k, 1, 2])
        if hand[k] >= 0 or o >= 0:
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
        at[k, 0], at[k, 1], at[k, 2] = lx, ly, lz


@kernel
def place_hand_contacts(
    tree: Tree,
    links: Links,
    num_root: int,
    first: int,
    h: int,
    hand: np.ndarray,
    link: np.ndarray,
    vectors: np.ndarray,
    point: np.ndarray,
    at: np.ndarray,
    relative: np.ndarray,
) -> None:
    """Where hand ``h`` touches, and its velocities there; see ``place_contacts``."""
    for k in range(hand.shape[0]):
        if hand[k] != h:
            continue
        local = vectors[k, 0]
        at[k, 0], at[k, 1], at[k, 2] = placed(links, link[k], local[0], local[1], local[2])
        hand_point_rows(
            tree,
            links,
            num_root,
            first,
            link[k],
            point[k, 0],
            point[k, 1],
            point[k, 2],
            1.0,
            relative[k],
        )


@compiled
def force_edges(
    mode: np.ndarray,
    friction: Float[np.ndarray, " K"],
    drag: Float[np.ndarray, "K 3"],
    normal: Float[np.ndarray, "K 3"],
) -> tuple:
    """Directions that span the forces of contacts on bodies, and the contact of each.

    Figure 4 of the paper: a colliding contact pushes along the normal; a sliding one on the edge
    of the cone against the slip; a static one anywhere in a pyramid with its edges on the cone.

    Args:
        mode: (K,) values of ``ContactMode``.
        friction: Coulomb coefficients.
        drag: Where friction pulls the body while it slides.
        normal: Into the body.
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
    """Two unit directions across each normal, by the formula of Duff et al. 2017."""
    first, second = np.zeros(normal.shape), np.zeros(normal.shape)
    for k in range(len(normal)):
        x, y, z = normal[k, 0], normal[k, 1], normal[k, 2]
        sign = 1.0 if z >= 0.0 else -1.0
        a = -1.0 / (sign + z)
        b = x * y * a
        first[k, 0], first[k, 1], first[k, 2] = 1.0 + sign * x * x * a, sign * b, -sign * x
        second[k, 0], second[k, 1], second[k, 2] = b, sign + y * y * a, -y
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
