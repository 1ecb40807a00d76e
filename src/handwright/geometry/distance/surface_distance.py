"""Distances of many points from one fixed surface, in numpy; ``environment`` has the kernels."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.surface import HalfSpace, Surface


def surface_distance(
    surface: Surface, points: Float[np.ndarray, "N 3"]
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, "N 3"]]:
    """Signed distances of points from a surface, m, and unit normals out of it."""
    if isinstance(surface, HalfSpace):
        return points @ surface.normal - surface.offset, np.tile(surface.normal, (len(points), 1))
    local = surface.pose.inverse().apply(points)
    over = np.abs(local) - surface.half_extents
    beyond = np.maximum(over, 0.0)
    outside = np.linalg.norm(beyond, axis=1)
    nearest = over.argmax(axis=1)
    inner = np.zeros_like(over)
    inner[np.arange(len(points)), nearest] = 1.0
    is_out = (outside > 0.0)[:, None]
    normal = np.where(is_out, beyond / np.where(is_out, outside[:, None], 1.0), inner)
    normal = surface.pose.rotate(normal * np.where(local < 0.0, -1.0, 1.0))
    return np.where(outside > 0.0, outside, over.max(axis=1)), normal
