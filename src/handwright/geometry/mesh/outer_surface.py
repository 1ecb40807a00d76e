"""The surface that is left when the closed parts of a mesh are seen as one solid.

Parts that run into each other leave pieces of surface inside the solid. The winding number tells
inside from outside there, but the distance to the nearest triangle does not: it would call the
middle of a hammer's head a surface, because the handle ends in it. So these pieces are cut out
before distances are measured: exactly by ``part_union``, or, where that cannot be, by ``seams``.
"""

from __future__ import annotations

from typing import NamedTuple

import igl
import numpy as np
from jaxtyping import Float, Int

from handwright.errors import InvalidValueError, MeshError
from handwright.geometry.mesh.edges import is_closed
from handwright.geometry.mesh.inertia import signed_volume
from handwright.geometry.mesh.part_union import has_gaps, union_of_parts
from handwright.geometry.mesh.seams import PROBE, cut_near, is_boundary

SEAM_TOLERANCE = 5e-5
"""Metres: how far the surface may be off where two parts meet."""


class Triangles(NamedTuple):
    """Triangles that need not share vertices.

    Attributes:
        vertices: Metres; some may belong to no face.
        faces: Vertex indices, anticlockwise seen from outside.
        source: For each face, the face of the original mesh that it is, or is a piece of.
        is_cut: Whether the parts overlapped, so that the triangles are not those of the mesh.
        is_exact: Whether the triangles are the surface itself, closed if that of the mesh is, and
            not pieces of it that are off by up to the tolerance along seams.
    """

    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    source: Int[np.ndarray, "F"]
    is_cut: bool
    is_exact: bool


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

    A mesh whose parts keep clear of each other comes back as it is. Otherwise the result is the
    closed surface of the union. Where that cannot be computed, because a part is open or because
    parts almost touch, it consists of pieces, and differs from the union within the tolerance of
    a seam. Every piece lies in the plane of its source. A single part that runs through itself is
    not cut.

    Args:
        vertices: Metres.
        faces: Closed parts, anticlockwise seen from outside.
        tolerance: Size of the pieces along a seam, metres.
    """
    vertices, faces = as_mesh_arrays(vertices, faces)
    joined = _joined(vertices, faces)
    part = _parts(joined)
    near = _others_by_part(vertices, faces, part)
    if not near:
        return Triangles(vertices, faces, np.arange(len(faces)), is_cut=False, is_exact=True)
    return _united(vertices, joined, part, list(near)) or _pieced(
        vertices, faces, part, near, tolerance
    )


def _united(
    vertices: np.ndarray, faces: np.ndarray, part: np.ndarray, near: list[int]
) -> Triangles | None:
    """The surface of the union of those parts that are near others, beside all other parts."""
    rows = [np.flatnonzero(part == index) for index in near]
    found = union_of_parts(vertices, [faces[mine] for mine in rows])
    if found is None:
        return None
    points, pieces, source = found
    if has_gaps(vertices, faces, points[pieces], PROBE):
        return None
    clear = np.flatnonzero(~np.isin(part, near))
    return Triangles(
        np.concatenate([vertices, points]),
        np.concatenate([faces[clear], pieces + len(vertices)]),
        np.concatenate([clear, np.concatenate(rows)[source]]),
        is_cut=True,
        is_exact=True,
    )


def _pieced(
    vertices: np.ndarray,
    faces: np.ndarray,
    part: np.ndarray,
    near: dict[int, np.ndarray],
    tolerance: float,
) -> Triangles:
    """Pieces of the parts that are near others, beside all other parts."""
    clear = ~np.isin(part, list(near))
    kept, source = [vertices[faces[clear]]], [np.flatnonzero(clear)]
    for index, others in near.items():
        mine = np.flatnonzero(part == index)
        pieces, origin = cut_near(vertices[faces[mine]], mine, (vertices, others), tolerance)
        is_solid = signed_volume(vertices, faces[mine]) > 0.0
        on_outside = is_boundary(pieces, (vertices, others), is_solid=is_solid)
        kept.append(pieces[on_outside])
        source.append(origin[on_outside])
    corners = np.concatenate(kept)
    if len(corners) == 0:
        raise MeshError(
            "The mesh has no outside: its parts enclose each other or are turned inside out. "
            "Repair it so that faces turn anticlockwise seen from outside."
        )
    indices = np.arange(3 * len(corners)).reshape(-1, 3)
    return Triangles(
        corners.reshape(-1, 3), indices, np.concatenate(source), is_cut=True, is_exact=False
    )


def _joined(vertices: np.ndarray, faces: np.ndarray) -> Int[np.ndarray, "F 3"]:
    """Faces that share vertices where they meet.

    Some files repeat a vertex in each face that uses it; then the position is what connects. Not
    otherwise: two parts that touch have corners in the same position too.
    """
    if is_closed(faces):
        return faces
    _, first, merged = np.unique(vertices, axis=0, return_index=True, return_inverse=True)
    return np.ascontiguousarray(first[merged.reshape(-1)][faces])


def _parts(faces: np.ndarray) -> Int[np.ndarray, "F"]:
    """Number of the connected part of each face."""
    _, part = igl.facet_components(faces)
    # igl returns a C integer type that numpy keeps apart from int64; the inverse does not.
    return np.unique(part, return_inverse=True)[1].reshape(-1)


def _others_by_part(
    vertices: np.ndarray, faces: np.ndarray, part: np.ndarray
) -> dict[int, Int[np.ndarray, "K 3"]]:
    """For each part, the faces of the parts whose bounding boxes meet its own, or almost."""
    corners = vertices[faces]
    count = int(part.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, part, corners.min(axis=1))
    np.maximum.at(high, part, corners.max(axis=1))
    high += PROBE
    near = {}
    for index in range(count):
        meets = ((low <= high[index]) & (high >= low[index])).all(axis=1)
        meets[index] = False
        if meets.any():
            near[index] = np.ascontiguousarray(faces[meets[part]])
    return near
