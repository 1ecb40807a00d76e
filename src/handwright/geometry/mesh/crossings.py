"""Which faces of a mesh cross or touch others, and which faces can tell the side of a point.

A point whose nearest point lies within a face sees that face alone: nothing is between the two. So
the winding number at the point is that just in front of the face, or just behind it, and it is the
same all over the face as long as no other face runs through it. ``sides_of_faces`` asks for it once
and says where it may be used instead of asking again at every point.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import igl
import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.geometry.mesh.edges import is_closed
from handwright.geometry.mesh.normals import face_areas, face_normals
from handwright.kernels.decorators import compiled, inlined

# Shares of the size of the mesh: what counts as touching, and how far in front of a face and
# behind it the winding number is asked for. Its tree rounds to single precision.
_TOUCHING = 1e-11
_PROBE = 4e-6
# The winding number must be a whole number to this.
_WHOLE = 0.05
# Cosine between a face's normal and the direction to a point from which the nearest point lies
# within the face, but for rounding; and the same where all faces around bend by at most 60
# degrees, so that the nearest point may lie on an edge or a corner too.
_WITHIN = 1.0 - 1e-10
_WITHIN_OR_BORDER = 0.99
_BEND = np.cos(np.radians(30.0))
_NEVER = 2.0
# Pairs of faces that are looked at, for each face and in all; with more, every point is asked for.
_PAIRS_PER_FACE, _MOST_PAIRS = 5_000, 200_000_000


class FaceSides(NamedTuple):
    """What is in front of faces and behind them."""

    straight: Float[np.ndarray, " F"]
    """Cosine between normal and direction to a point from which the face can tell its side."""
    in_front: Bool[np.ndarray, " F"]
    """Whether the solid is in front of the face, as between parts that overlap."""
    behind: Bool[np.ndarray, " F"]
    """Whether the solid is behind it."""


def sides_of_faces(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    winding: Callable[[Float[np.ndarray, "N 3"]], Float[np.ndarray, " N"]],
) -> FaceSides:
    """Which faces can tell on which side of the surface a point is, and what they say.

    Args:
        vertices: Metres.
        faces: Vertex indices.
        winding: Winding numbers at points, of the mesh that the faces are the surface of.
    """
    corners = vertices[faces]
    normals = face_normals(corners)
    size = max(float(np.abs(corners).max()), 1e-300)
    most = min(_PAIRS_PER_FACE * len(faces), _MOST_PAIRS)
    knows = ~crossed_faces(corners, faces, _TOUCHING * size, most)
    asked, spread = _asked_faces(corners, faces, is_simple=bool(knows.all()))
    step = _PROBE * size * normals[asked]
    middle = corners[asked].mean(axis=1)
    front, back = winding(middle + step)[spread], winding(middle - step)[spread]
    knows &= (np.abs(front - np.round(front)) < _WHOLE) & (np.abs(back - front - 1.0) < _WHOLE)
    straight = np.where(_is_smooth(normals, faces), _WITHIN_OR_BORDER, _WITHIN)
    return FaceSides(np.where(knows, straight, _NEVER), front > 0.5, back > 0.5)


def _asked_faces(
    corners: Float[np.ndarray, "F 3 3"], faces: Int[np.ndarray, "F 3"], *, is_simple: bool
) -> tuple[Int[np.ndarray, " N"], Int[np.ndarray, " F"]]:
    """Faces to ask the winding number at, and for each face the row of the one it follows.

    All over a closed part that nothing crosses it is the same, so one large face of it is enough.
    """
    if not (is_simple and is_closed(faces)):
        return np.arange(len(faces)), np.arange(len(faces))
    part = np.unique(igl.facet_components(faces)[1], return_inverse=True)[1].reshape(-1)
    largest_first = np.argsort(-face_areas(corners), kind="stable")
    return largest_first[np.unique(part[largest_first], return_index=True)[1]], part


def _is_smooth(
    normals: Float[np.ndarray, "F 3"], faces: Int[np.ndarray, "F 3"]
) -> Bool[np.ndarray, " F"]:
    """Whether the surface is a graph over each face as far as the faces that share its corners."""
    used, corner = np.unique(faces, return_inverse=True)
    corner = corner.reshape(-1)
    each = np.repeat(normals, 3, axis=0)
    mean = np.stack(
        [np.bincount(corner, each[:, axis], minlength=len(used)) for axis in range(3)], axis=1
    )
    mean = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-30)
    least = np.ones(len(used))
    np.minimum.at(least, corner, np.einsum("ni,ni->n", each, mean[corner]))
    return (least[corner].reshape(-1, 3) > _BEND).all(axis=1)


@compiled
def crossed_faces(
    corners: Float[np.ndarray, "F 3 3"],
    faces: Int[np.ndarray, "F 3"],
    tolerance: float,
    most_pairs: int,
) -> Bool[np.ndarray, " F"]:
    """Which triangles have points in common with others, besides the corners that they share.

    Args:
        corners: Metres.
        faces: Vertex indices; those that share a vertex may meet there.
        tolerance: Metres by which others must keep clear, and by which neighbours may run into
            each other.
        most_pairs: After so many pairs of triangles all are said to be crossed.
    """
    count = len(faces)
    crossed = np.zeros(count, dtype=np.bool_)
    low, high = np.zeros((count, 3)), np.zeros((count, 3))
    extent = np.zeros(3)
    for axis in range(3):
        for f in range(count):
            low[f, axis] = corners[f, :, axis].min() - tolerance
            high[f, axis] = corners[f, :, axis].max()
        extent[axis] = high[:, axis].max() - low[:, axis].min()
    along = np.argmax(extent)
    order = np.argsort(low[:, along])
    num_pairs = 0
    for i in range(count):
        f = order[i]
        for j in range(i + 1, count):
            g = order[j]
            if low[g, along] > high[f, along]:
                break
            num_pairs += 1
            if crossed[f] and crossed[g]:
                continue
            is_far = False
            for axis in range(3):
                is_far |= low[g, axis] > high[f, axis] or low[f, axis] > high[g, axis]
            if not is_far and _meet(corners[f], corners[g], faces[f], faces[g], tolerance):
                crossed[f] = crossed[g] = True
        if num_pairs > most_pairs:
            crossed[:] = True
            break
    return crossed


@inlined
def _meet(
    a: np.ndarray, b: np.ndarray, names_a: np.ndarray, names_b: np.ndarray, tolerance: float
) -> bool:
    """Whether no axis separates two triangles: normals, products of edges, edges in the plane."""
    need = tolerance
    for i in range(3):
        for j in range(3):
            if names_a[i] == names_b[j]:
                need = -tolerance
    normal_a = _cross(_edge(a, 0), _edge(a, 1))
    normal_b = _cross(_edge(b, 0), _edge(b, 1))
    if not _is_flat(a, b, normal_a, tolerance):
        if _separates(a, b, normal_a, need) or _separates(a, b, normal_b, need):
            return False
        for i in range(3):
            for j in range(3):
                if _separates(a, b, _cross(_edge(a, i), _edge(b, j)), need):
                    return False
    for i in range(3):
        if _separates(a, b, _cross(normal_a, _edge(a, i)), need):
            return False
        if _separates(a, b, _cross(normal_b, _edge(b, i)), need):
            return False
    return True


_Vector = tuple[float, float, float]


@inlined
def _edge(corners: np.ndarray, i: int) -> _Vector:
    j = (i + 1) % 3
    return (
        corners[j, 0] - corners[i, 0],
        corners[j, 1] - corners[i, 1],
        corners[j, 2] - corners[i, 2],
    )


@inlined
def _cross(a: _Vector, b: _Vector) -> _Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def _along(corners: np.ndarray, axis: _Vector) -> tuple[float, float]:
    """Least and largest coordinate of a triangle along an axis."""
    low, high = np.inf, -np.inf
    for i in range(3):
        at = corners[i, 0] * axis[0] + corners[i, 1] * axis[1] + corners[i, 2] * axis[2]
        low, high = min(low, at), max(high, at)
    return low, high


@inlined
def _is_flat(a: np.ndarray, b: np.ndarray, normal: _Vector, tolerance: float) -> bool:
    """Whether the second triangle lies in the plane of the first."""
    own, other = _along(a, normal), _along(b, normal)
    reach = tolerance * np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
    return abs(other[0] - own[0]) <= reach and abs(other[1] - own[0]) <= reach


@inlined
def _separates(a: np.ndarray, b: np.ndarray, axis: _Vector, need: float) -> bool:
    """Whether two triangles are so far apart along an axis of any length."""
    length = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    own, other = _along(a, axis), _along(b, axis)
    return length > 0.0 and max(other[0] - own[1], own[0] - other[1]) >= need * length
