"""Normals of faces and vertices, and areas of faces."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import kernel


def face_normals(corners: Float[np.ndarray, "F 3 3"]) -> Float[np.ndarray, "F 3"]:
    """Unit normals of triangles, given by their corners; zero for those without area."""
    normal = _cross_products(corners)
    return normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)


def face_areas(corners: Float[np.ndarray, "F 3 3"]) -> Float[np.ndarray, " F"]:
    """Areas of triangles, given by their corners."""
    return 0.5 * np.linalg.norm(_cross_products(corners), axis=1)


def _cross_products(corners: Float[np.ndarray, "F 3 3"]) -> Float[np.ndarray, "F 3"]:
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


@kernel
def area_normals(vertices: np.ndarray, faces: np.ndarray, normals: np.ndarray) -> None:
    """Writes unit normals at vertices: those of the faces around, weighed by area.

    This is fast enough for every frame of a film. Where faces without area leave no direction, the
    normal points up.

    Args:
        vertices: (V, 3), m.
        faces: (F, 3).
        normals: (V, 3), overwritten.
    """
    normals[:] = 0.0
    for f in range(faces.shape[0]):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ux, vx = vertices[b, 0] - vertices[a, 0], vertices[c, 0] - vertices[a, 0]
        uy, vy = vertices[b, 1] - vertices[a, 1], vertices[c, 1] - vertices[a, 1]
        uz, vz = vertices[b, 2] - vertices[a, 2], vertices[c, 2] - vertices[a, 2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for k in range(3):
            corner = faces[f, k]
            normals[corner, 0] += x
            normals[corner, 1] += y
            normals[corner, 2] += z
    for v in range(normals.shape[0]):
        size = np.sqrt(normals[v, 0] ** 2 + normals[v, 1] ** 2 + normals[v, 2] ** 2)
        if size > 0.0:
            for k in range(3):
                normals[v, k] /= size
        else:
            normals[v, 2] = 1.0
