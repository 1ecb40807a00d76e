"""Surfaces for .glb files: bodies with their creases, capsules, markers, and surroundings."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from handwright.geometry.shapes.surfaces import revolve
from handwright.io.axes import to_y_up
from handwright.io.gltf_buffers import GltfBuilder, Json
from handwright.kinematics.skinning import vertex_normals
from handwright.math import rotation

Mesh = tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]

_CREASE = np.radians(35.0)
_UP = np.array([0.0, 0.0, 1.0])


def add_surface(builder: GltfBuilder, mesh: Mesh, material: int, *, is_flat: bool = False) -> Json:
    """A primitive of a surface in our axes, m: smooth but for edges that turn sharply."""
    vertices, faces = _split_at_creases(*mesh, _CREASE)
    attributes = builder.add_vertices(
        POSITION=to_y_up(vertices), NORMAL=to_y_up(safe_normals(vertices, faces))
    )
    return {"attributes": attributes, "indices": builder.add_indices(faces), "material": material}


def safe_normals(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Float[np.ndarray, "V 3"]:
    """Unit normals at vertices; up where triangles without area leave none."""
    normals = vertex_normals(vertices, faces)
    has_none = np.linalg.norm(normals, axis=-1, keepdims=True) < 0.5
    return np.where(has_none, _UP, normals)


def _split_at_creases(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], crease: float
) -> Mesh:
    """The same surface with one vertex for each group of faces that meet smoothly there."""
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
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
    split = np.zeros((count, 3))
    split[group] = vertices[faces.reshape(-1)]
    return split, group.reshape(faces.shape).astype(np.int64)


def capsule(start: Float[np.ndarray, "3"], end: Float[np.ndarray, "3"], radius: float) -> Mesh:
    """A sphere swept along a segment, m."""
    along = end - start
    length = float(np.linalg.norm(along))
    angles = np.linspace(0.0, np.pi / 2.0, 6)
    top = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    top[-1, 0] = 0.0
    below = top[::-1] * [1.0, -1.0]
    above = top + np.array([0.0, length])
    vertices, faces = revolve(
        np.concatenate([below if length > 0.0 else below[:-1], above]), num_segments=20
    )
    turn = rotation.between(_UP, along if length > 0.0 else _UP)
    return rotation.rotate(turn, vertices) + start, faces


def joined(meshes: list[Mesh]) -> Mesh:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([faces + start for (_, faces), start in zip(meshes, starts, strict=False)]),
    )


def ball(radius: float) -> Mesh:
    """A sphere about the origin, m."""
    return capsule(np.zeros(3), np.zeros(3), radius)


def arrow(radius: float) -> Mesh:
    """An arrow of length 1 along z whose tip is at the origin; shaft radius in m."""
    profile = [[0.0, -1.0], [radius, -1.0], [radius, -0.3], [2.5 * radius, -0.3], [0.0, 0.0]]
    return revolve(np.array(profile), num_segments=12)


def box(half: Float[np.ndarray, "3"]) -> Mesh:
    """A box about the origin, m."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    faces = [[a, b, c] for a, b, c, _ in quads] + [[a, c, d] for a, _, c, d in quads]
    return corners, np.array(faces)


def square(half: float) -> Mesh:
    """A square about the origin that faces z, m."""
    corners = half * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return corners, np.array([[0, 1, 2], [0, 2, 3]])
