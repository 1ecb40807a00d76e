"""The surface that is left when the closed parts of a mesh are seen as one solid.

Parts that run into each other leave pieces of surface inside the solid. The winding number tells
inside from outside there, but the distance to the nearest triangle does not: it would call the
middle of a hammer's head a surface, because the handle ends in it. So these pieces are cut out
before distances are measured.
"""

from __future__ import annotations

from typing import NamedTuple

import igl
import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.errors import InvalidValueError, MeshError
from handwright.geometry.mesh.normals import face_normals

SEAM_TOLERANCE = 5e-5
"""Metres: how far the surface may be off where two parts meet."""

# Half the thickness of surface that one winding-number probe looks through, metres: far above the
# rounding of the single-precision tree behind it, far below any wall.
_PROBE = 5e-6
# Metres. A piece below this size that lies on a face of another part at its corners and its middle
# lies on it altogether; without this rule, flush faces would be cut to dust.
_FLUSH_SIZE = 2e-3
# More pieces than this would slow every later query; the seams are then cut more coarsely.
_MAX_PIECES = 200_000


class Triangles(NamedTuple):
    """Triangles that need not share vertices.

    Attributes:
        vertices: Metres.
        faces: Vertex indices, anticlockwise seen from outside.
        source: For each face, the face of the original mesh that it is, or is a piece of.
        is_cut: Whether the parts overlapped, so that the triangles are not those of the mesh.
    """

    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    source: Int[np.ndarray, "F"]
    is_cut: bool


def as_mesh_arrays(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """Checks a mesh and returns it in the dtypes and layout that igl takes without copying.

    Args:
        vertices: Metres.
        faces: Vertex indices.
    """
    vertices = np.ascontiguousarray(vertices, dtype=np.float64)
    faces = np.ascontiguousarray(faces, dtype=np.int64)
    for name, array in (("vertices", vertices), ("faces", faces)):
        if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
            raise InvalidValueError(f"{name} has shape {array.shape}; expected (1 or more, 3).")
    if not np.isfinite(vertices).all():
        raise InvalidValueError("Some vertices are not finite; repair the mesh first.")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise InvalidValueError(
            f"faces points to vertices {faces.min()} to {faces.max()}; "
            f"expected 0 to {len(vertices) - 1}."
        )
    return vertices, faces


def outer_surface(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    tolerance: float = SEAM_TOLERANCE,
) -> Triangles:
    """Drops the pieces of surface that lie inside the union of a mesh's closed parts.

    A mesh whose parts keep clear of each other comes back as it is. Otherwise triangles near
    another part are halved until each is clear of it or smaller than the tolerance, and kept if
    there is outside in front of it and inside behind it. Every kept piece lies in the plane of
    its source, so the result differs from the exact union only within the tolerance of a seam.
    A single part that runs through itself is not cut.

    Args:
        vertices: Metres.
        faces: Closed parts, anticlockwise seen from outside.
        tolerance: Size of the pieces along a seam, metres.
    """
    vertices, faces = as_mesh_arrays(vertices, faces)
    whole = Triangles(vertices, faces, np.arange(len(faces)), is_cut=False)
    part = _parts(vertices, faces)
    near = _others_by_part(vertices, faces, part)
    if not near:
        return whole
    clear = ~np.isin(part, list(near))
    kept, source = [vertices[faces[clear]]], [np.flatnonzero(clear)]
    for index, others in near.items():
        mine = np.flatnonzero(part == index)
        pieces, origin = _cut(vertices[faces[mine]], mine, (vertices, others), tolerance)
        solid = _signed_volume(vertices[faces[mine]]) > 0.0
        on_outside = _is_boundary(pieces, (vertices, others), is_solid=solid)
        kept.append(pieces[on_outside])
        source.append(origin[on_outside])
    corners = np.concatenate(kept)
    if len(corners) == 0:
        raise MeshError(
            "The mesh has no outside: its parts enclose each other or are turned inside out. "
            "Repair it so that faces turn anticlockwise seen from outside."
        )
    indices = np.arange(3 * len(corners)).reshape(-1, 3)
    return Triangles(corners.reshape(-1, 3), indices, np.concatenate(source), is_cut=True)


def _parts(vertices: np.ndarray, faces: np.ndarray) -> Int[np.ndarray, "F"]:
    """Number of the connected part of each face."""
    if not _is_closed(faces):
        # Some files repeat a vertex in each face that uses it; then the place is what connects.
        # Not otherwise: two parts that touch have corners in the same place too.
        _, merged = np.unique(vertices, axis=0, return_inverse=True)
        faces = np.ascontiguousarray(merged.reshape(-1)[faces])
    _, part = igl.facet_components(faces)
    # igl returns a C integer type that numpy keeps apart from int64; the inverse does not.
    return np.unique(part, return_inverse=True)[1].reshape(-1)


def _is_closed(faces: np.ndarray) -> bool:
    """Whether every edge is run through once in each direction."""
    start, end = faces, np.roll(faces, -1, axis=1)
    size = int(faces.max()) + 1
    there, back = np.sort((start * size + end).ravel()), np.sort((end * size + start).ravel())
    return bool(np.array_equal(there, back) and (np.diff(there) > 0).all())


def _others_by_part(
    vertices: np.ndarray, faces: np.ndarray, part: np.ndarray
) -> dict[int, Int[np.ndarray, "K 3"]]:
    """For each part, the faces of the parts whose bounding boxes meet its own."""
    corners = vertices[faces]
    count = int(part.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, part, corners.min(axis=1))
    np.maximum.at(high, part, corners.max(axis=1))
    near = {}
    for index in range(count):
        meets = ((low <= high[index]) & (high >= low[index])).all(axis=1)
        meets[index] = False
        if meets.any():
            near[index] = np.ascontiguousarray(faces[meets[part]])
    return near


def _cut(
    corners: Float[np.ndarray, "N 3 3"],
    source: Int[np.ndarray, "N"],
    others: tuple[np.ndarray, np.ndarray],
    tolerance: float,
) -> tuple[Float[np.ndarray, "M 3 3"], Int[np.ndarray, "M"]]:
    """Halves triangles until each is clear of the other parts or small."""
    tree = igl.AABB()
    tree.init(*others)
    done, done_source, num_done = [], [], 0
    while len(corners):
        center = corners.mean(axis=1)
        radius = np.linalg.norm(corners - center[:, None], axis=2).max(axis=1)
        squared, _, _ = tree.squared_distance(*others, np.ascontiguousarray(center))
        finished = (squared > radius**2) | (radius <= tolerance)
        flush = np.flatnonzero(~finished & (radius <= _FLUSH_SIZE) & (squared <= _PROBE**2))
        if len(flush):
            at_corners, _, _ = tree.squared_distance(*others, corners[flush].reshape(-1, 3))
            finished[flush] = at_corners.reshape(-1, 3).max(axis=1) <= _PROBE**2
        if num_done + len(corners) > _MAX_PIECES:
            finished[:] = True
        done.append(corners[finished])
        done_source.append(source[finished])
        num_done += int(finished.sum())
        corners, source = corners[~finished], np.tile(source[~finished], 2)
        corners = _halved(corners)
    return np.concatenate(done), np.concatenate(done_source)


def _halved(corners: Float[np.ndarray, "N 3 3"]) -> Float[np.ndarray, "M 3 3"]:
    """Splits triangles in two at the middle of their longest edges; all first halves first."""
    lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    rows = np.arange(len(corners))
    start = lengths.argmax(axis=1)
    a, b = corners[rows, start], corners[rows, (start + 1) % 3]
    c = corners[rows, (start + 2) % 3]
    middle = 0.5 * (a + b)
    return np.concatenate([np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])


def _signed_volume(corners: Float[np.ndarray, "N 3 3"]) -> float:
    """Six times the volume inside triangles; negative for a cavity."""
    return float(np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])))


def _is_boundary(
    corners: Float[np.ndarray, "N 3 3"], others: tuple[np.ndarray, np.ndarray], *, is_solid: bool
) -> Bool[np.ndarray, "N"]:
    """Whether there is outside in front of each piece of a part and inside behind it."""
    tree = igl.FastWindingNumberBVH()
    tree.init(*others)
    center = corners.mean(axis=1)
    normal = face_normals(corners)
    # The part itself is wound 0 times around what is in front of it and once around what is
    # behind; a cavity -1 times and 0 times.
    own = 0.0 if is_solid else -1.0
    front = own + tree.winding_number(np.ascontiguousarray(center + _PROBE * normal))
    keep = np.asarray(front < 0.5)
    behind = center[keep] - _PROBE * normal[keep]
    if len(behind):
        keep[keep] = own + 1.0 + np.atleast_1d(tree.winding_number(behind)) > 0.5
    return keep
