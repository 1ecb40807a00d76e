"""Which corners of a body carry it on what it lies on, compiled."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled

TOUCHING = 5e-4
"""Gap below which a contact begins, m."""
# How much higher than the lowest corner others may be that carry with it, m.
_PATCH = 5e-4
# Corners of a body on a surface that carry it; more add nothing but unknowns.
_NUM_CARRYING = 6


@compiled
def is_lowest(gap: Float[np.ndarray, " V"]) -> np.ndarray:
    """(V,) corners that touch, and are not much higher than the lowest: those that can carry."""
    least = np.inf
    for v in range(len(gap)):
        least = min(least, gap[v])
    found = np.zeros(len(gap), dtype=np.bool_)
    for v in range(len(gap)):
        found[v] = gap[v] < TOUCHING and gap[v] < least + _PATCH
    return found


@compiled
def carrying_corners(
    arms: Float[np.ndarray, "V 3"], normals: Float[np.ndarray, "V 3"], gap: Float[np.ndarray, " V"]
) -> np.ndarray:
    """Rows of corners that carry a body: the outermost in a few directions, and the deepest."""
    if len(arms) <= _NUM_CARRYING:
        return np.arange(len(arms))
    x, y, z = normals[0, 0], normals[0, 1], normals[0, 2]
    axis = np.zeros(3)
    axis[np.argmin(np.abs(normals[0]))] = 1.0
    fx, fy, fz = y * axis[2] - z * axis[1], z * axis[0] - x * axis[2], x * axis[1] - y * axis[0]
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    fx, fy, fz = fx / size, fy / size, fz / size
    sx, sy, sz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
    is_chosen = np.zeros(len(arms), dtype=np.bool_)
    is_chosen[np.argmin(gap)] = True
    for way in range(_NUM_CARRYING):
        angle = 2.0 * np.pi * way / _NUM_CARRYING
        c, s = np.cos(angle), np.sin(angle)
        wx, wy, wz = c * fx + s * sx, c * fy + s * sy, c * fz + s * sz
        best, farthest = 0, -np.inf
        for v in range(len(arms)):
            reach = arms[v, 0] * wx + arms[v, 1] * wy + arms[v, 2] * wz
            if reach > farthest:
                best, farthest = v, reach
        is_chosen[best] = True
    return np.flatnonzero(is_chosen)
