"""Surfaces for .glb files: bodies with their creases, capsules, markers, and surroundings."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.geometry.mesh.creases import split_at_creases
from handwright.geometry.shapes.surfaces import Mesh, capsule_mesh, revolve
from handwright.io.axes import to_y_up
from handwright.io.gltf.buffers import GltfBuilder, Json
from handwright.kinematics.skin.skinning import vertex_normals

_UP = np.array([0.0, 0.0, 1.0])


def add_surface(builder: GltfBuilder, mesh: Mesh, material: int) -> Json:
    """A primitive of a surface in our axes, m: smooth but for edges that turn sharply."""
    copied, faces = split_at_creases(*mesh)
    vertices = mesh[0][copied]
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


def joined(meshes: list[Mesh]) -> Mesh:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([faces + start for (_, faces), start in zip(meshes, starts, strict=False)]),
    )


def coarse_capsule(
    start: Float[np.ndarray, "3"], end: Float[np.ndarray, "3"], radius: float
) -> Mesh:
    """A sphere swept along a segment, m, with few triangles, to keep files small."""
    return capsule_mesh(start, end, radius, num_around=20, num_rings=5)


def ball(radius: float) -> Mesh:
    """A sphere about the origin, m."""
    return coarse_capsule(np.zeros(3), np.zeros(3), radius)


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
