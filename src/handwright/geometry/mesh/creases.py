"""Which edges of a surface are shaded as sharp."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from handwright.geometry.mesh.normals import face_normals

CREASE = float(np.radians(35.0))
"""Faces that turn more than this against each other, rad, meet in a sharp edge."""


def split_at_creases(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], crease: float = CREASE
) -> tuple[Int[np.ndarray, " S"], Int[np.ndarray, "F 3"]]:
    """One vertex for each group of faces that meet smoothly there.

    Args:
        vertices: m.
        faces: Counter-clockwise seen from outside.
        crease: Angle between faces above which an edge is sharp, rad; zero keeps every face flat.

    Returns:
        For every new vertex the old one that it copies, and the faces in terms of the new ones.
        When the surface moves, ``vertices[copied]`` are its new vertices.
    """
    normal = face_normals(vertices[faces])
    corner = np.arange(faces.size).reshape(faces.shape)
    # Every side of every face as (low vertex, high vertex, their corners, face).
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    start_corner, end_corner = corner.reshape(-1), np.roll(corner, -1, axis=1).reshape(-1)
    is_up = start < end
    low, high = np.minimum(start, end), np.maximum(start, end)
    low_corner = np.where(is_up, start_corner, end_corner)
    high_corner = np.where(is_up, end_corner, start_corner)
    order = np.lexsort((high, low))
    one, two = order[:-1], order[1:]
    is_pair = (low[one] == low[two]) & (high[one] == high[two])
    one, two = one[is_pair], two[is_pair]
    is_smooth = np.einsum("ei,ei->e", normal[one // 3], normal[two // 3]) > np.cos(crease)
    one, two = one[is_smooth], two[is_smooth]
    rows = np.concatenate([low_corner[one], high_corner[one]])
    columns = np.concatenate([low_corner[two], high_corner[two]])
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(faces.size, faces.size))
    count, group = connected_components(graph, directed=False)
    copied = np.zeros(count, dtype=np.int64)
    copied[group] = faces.reshape(-1)
    return copied, group.reshape(faces.shape).astype(np.int64)
