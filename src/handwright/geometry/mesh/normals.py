"""Normals for shading, fast enough for every frame of a film."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import kernel


@kernel
def area_normals(vertices: np.ndarray, faces: np.ndarray, normals: np.ndarray) -> None:
    """Writes unit normals at vertices: those of the faces around, weighed by area.

    Where faces without area leave no direction, the normal points up.

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
