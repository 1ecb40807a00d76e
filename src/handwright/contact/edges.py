"""Contacts at sharp edges, with the faces beside them.

A finger on an edge touches both faces, and with them a range of normals; a point contact has one,
and jumps from face to face. Points on the faces beside such a contact stand for its area.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance

EDGE_RADIUS = 1e-3
"""How far from a contact the other face may be, m, across the contact's normal."""
EDGE_SINK = 0.5
"""How deep its ring is drawn to the surface from, over the radius."""
EDGE_DIRECTIONS = 6
"""Points of the ring."""
EDGE_OFF = 1e-5
"""How far off the surface the foot of a contact on another face may be, m, to lie on that face."""
EDGE_TURN = 0.8
"""Cosine between two normals up to which they are those of two faces, not of a bend."""
EDGE_BACK = -0.5
"""Cosine between two normals below which one is on the far side of a thin wall."""


class EdgeSides(NamedTuple):
    """Points on the faces beside contacts, in the order of the contacts."""

    owner: Int[np.ndarray, " M"]
    """Contact that a point stands beside."""
    points: Float[np.ndarray, "M 3"]
    """On the surface, body frame, m."""
    normals: Float[np.ndarray, "M 3"]
    """Unit length, into the body."""
    gap: Float[np.ndarray, " M"]
    """m, from a toucher that is flat around the contact."""


def edge_sides(
    points: Float[np.ndarray, "N 3"],
    normals: Float[np.ndarray, "N 3"],
    gap: Float[np.ndarray, " N"],
    distance: ExactDistance,
    *,
    touching: float,
) -> EdgeSides:
    """Finds the faces that contacts touch besides their own.

    A ring about the contact, sunk by half its radius along the normal, is drawn to the surface:
    what lies beyond an edge lands on the other face. The contact's own foot on that face, from as
    deep, is where the face is touched, if it lies within the radius, the toucher is near it, and it
    is not on the far side of a thin wall.

    Args:
        points: Contacts on the surface, body frame, m.
        normals: Unit length, into the body.
        gap: Of the contacts, m; negative in penetration.
        distance: Of the body.
        touching: Gap up to which a face is touched, m.
    """
    points, normals = np.asarray(points, dtype=np.float64), np.asarray(normals, dtype=np.float64)
    gap = np.asarray(gap, dtype=np.float64)
    if points.ndim != 2 or points.shape[1:] != (3,) or normals.shape != points.shape:
        raise InvalidValueError(
            f"points and normals have shapes {points.shape} and {normals.shape}; expected (N, 3)."
        )
    if gap.shape != points.shape[:1]:
        raise InvalidValueError(f"gap has shape {gap.shape}; expected ({len(points)},).")
    if not (np.isfinite(points).all() and np.isfinite(normals).all() and np.isfinite(gap).all()):
        raise InvalidValueError("points, normals or gap hold NaN or infinity; leave those out.")
    count, sunk = len(points), points + EDGE_SINK * EDGE_RADIUS * normals
    start = sunk[:, None] + EDGE_RADIUS * _directions(normals)
    _, closest, face, _ = distance.signed_distance(start.reshape(-1, 3))
    shape = (count, EDGE_DIRECTIONS, 3)
    closest, inward = closest.reshape(shape), -distance.face_normals(face).reshape(shape)
    off = np.einsum("nki,nki->nk", sunk[:, None] - closest, inward)
    foot = sunk[:, None] - off[..., None] * inward
    way = foot - points[:, None]
    below = np.einsum("nki,ni->nk", way, normals)
    across = np.linalg.norm(way - below[..., None] * normals[:, None], axis=-1)
    side_gap = gap[:, None] + np.maximum(below, 0.0)
    alike = np.einsum("nki,ni->nk", inward, normals)
    is_kept = (alike < EDGE_TURN) & (alike > EDGE_BACK) & (side_gap <= touching)
    # A face without area has no normal.
    is_kept &= (across <= EDGE_RADIUS) & (np.linalg.norm(inward, axis=-1) > 0.5)
    for k in range(1, EDGE_DIRECTIONS):
        same = np.einsum("nji,ni->nj", inward[:, :k], inward[:, k]) >= EDGE_TURN
        is_kept[:, k] &= ~np.any(same & is_kept[:, :k], axis=1)
    is_kept[is_kept] = np.abs(distance.signed_distance(foot[is_kept])[0]) <= EDGE_OFF
    owner, _ = np.nonzero(is_kept)
    return EdgeSides(owner, foot[is_kept], inward[is_kept], side_gap[is_kept])


def _directions(normals: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N K 3"]:
    """Unit vectors across each normal, evenly around it."""
    x, y, z = normals.T
    zero = np.zeros_like(x)
    is_steep = np.abs(x) < 0.6
    one = np.where(is_steep[:, None], np.stack([zero, z, -y], 1), np.stack([-z, zero, x], 1))
    one /= np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-30)
    angle = 2.0 * np.pi * np.arange(EDGE_DIRECTIONS) / EDGE_DIRECTIONS
    other = np.cross(normals, one)
    turned = np.cos(angle)[:, None] * one[:, None] + np.sin(angle)[:, None] * other[:, None]
    return np.asarray(turned)


def edge_distance(points: Float[np.ndarray, "N 3"], body: RigidBody) -> Float[np.ndarray, " N"]:
    """Distance of points to the nearest sharp edge, m; infinity on a body that has none."""
    if len(body.sharp_edges) == 0:
        return np.full(len(points), np.inf)
    start, end = (body.vertices[body.sharp_edges[:, side]] for side in (0, 1))
    along = end - start
    square = np.einsum("ei,ei->e", along, along)
    least = np.full(len(points), np.inf)
    for one_start, one_along, one_square in zip(start, along, square, strict=True):
        way = points - one_start
        share = np.clip(way @ one_along / one_square, 0.0, 1.0)
        way -= share[:, None] * one_along
        np.minimum(least, np.einsum("ni,ni->n", way, way), out=least)
    return np.sqrt(least)
