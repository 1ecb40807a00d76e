"""Edges of a triangle mesh, and which of them are sharp."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from handwright.geometry.mesh.normals import face_normals

SHARP_ANGLE = math.radians(30.0)
"""Default turn of the surface, radians, above which an edge counts as sharp."""


def unique_edges(
    faces: Int[np.ndarray, "F 3"],
) -> tuple[Int[np.ndarray, "E 2"], Int[np.ndarray, "H"], Int[np.ndarray, "H"]]:
    """The undirected edges of a mesh, and where each corner of a face meets them.

    Returns:
        Edges with the lower vertex first; for every half-edge (edge 0-1 of all faces, then 1-2,
        then 2-0) the row of its edge; and its direction, +1 from low to high vertex, else -1.
    """
    half_edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    direction = np.where(half_edges[:, 0] < half_edges[:, 1], 1, -1)
    low, high = half_edges.min(axis=1), half_edges.max(axis=1)
    # One number an edge: sorting pairs row by row takes ten times as long.
    base = int(high.max(initial=0)) + 1
    keys, rows = np.unique(low * base + high, return_inverse=True)
    return np.stack([keys // base, keys % base], axis=1), rows.reshape(-1), direction


def is_closed(faces: Int[np.ndarray, "F 3"]) -> bool:
    """Whether every edge is run through once in each direction."""
    start, end = faces, np.roll(faces, -1, axis=1)
    size = int(faces.max()) + 1
    there, back = np.sort((start * size + end).ravel()), np.sort((end * size + start).ravel())
    return bool(np.array_equal(there, back) and (np.diff(there) > 0).all())


def sharp_edges(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    angle: float = SHARP_ANGLE,
) -> Int[np.ndarray, "E 2"]:
    """Edges where the normals of the two faces differ by more than an angle.

    An edge that does not have exactly two faces is sharp whatever the angle: the surface has no
    single normal there.

    Args:
        vertices: Metres.
        faces: Consistently oriented triangles of non-zero area.
        angle: Threshold, radians.
    """
    edges, rows, _ = unique_edges(faces)
    normals = face_normals(vertices[faces])
    order = np.argsort(rows, kind="stable")
    face_of_half_edge = np.tile(np.arange(len(faces)), 3)[order]
    counts = np.bincount(rows, minlength=len(edges))
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    is_sharp = counts != 2
    paired = np.flatnonzero(~is_sharp)
    first = normals[face_of_half_edge[starts[paired]]]
    second = normals[face_of_half_edge[starts[paired] + 1]]
    # The arctangent keeps its precision near zero and near a half turn, the arccosine does not.
    sine = np.linalg.norm(np.cross(first, second), axis=1)
    turn = np.arctan2(sine, np.einsum("ij,ij->i", first, second))
    is_sharp[paired] = turn > angle
    return edges[is_sharp]
