"""Soft darkness in hollows, which OpenGL's lights do not give."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

_NUM_DIRECTIONS = 6
_RADII = (0.035, 0.08, 0.16)
_STRENGTH = 1.5
_DARKEST = 0.45


def hollow_shade(
    depth: Float[np.ndarray, "H W"],
    is_item: Bool[np.ndarray, "H W"],
    *,
    pixel_size: float,
    extent: float,
) -> Float[np.ndarray, "H W"]:
    """Brightness from ``_DARKEST`` to one for each pixel: low where the surface is hollow.

    Two points on opposite sides of a pixel that both lie nearer to the camera than the pixel
    itself take light away from it. On a plane, however steep, the two differences cancel.

    Args:
        depth: Distance from the camera's plane, m.
        is_item: Where there is a surface and no background.
        pixel_size: Width of a pixel at the items, m.
        extent: Size of the items, m: sets how wide a hollow counts.
    """
    taken = np.zeros(depth.shape)
    for share in _RADII:
        radius = share * extent
        pixels = radius / pixel_size
        if pixels < 1.0:
            continue
        for turn in range(_NUM_DIRECTIONS):
            angle = math.pi * (turn + share) / _NUM_DIRECTIONS
            step = (round(pixels * math.sin(angle)), round(pixels * math.cos(angle)))
            ahead, behind = (
                _rise(depth, is_item, (sign * step[0], sign * step[1]), radius) for sign in (1, -1)
            )
            taken += np.maximum(ahead + behind, 0.0)
    taken *= _STRENGTH / (2.0 * len(_RADII) * _NUM_DIRECTIONS)
    return np.where(is_item, np.maximum(1.0 - taken, _DARKEST), 1.0)


def _rise(
    depth: Float[np.ndarray, "H W"],
    is_item: Bool[np.ndarray, "H W"],
    step: tuple[int, int],
    radius: float,
) -> Float[np.ndarray, "H W"]:
    """How much nearer the surface a step away is, per radius, from -1 to 1."""
    height, width = depth.shape
    rows = np.clip(np.arange(height) + step[0], 0, height - 1)
    columns = np.clip(np.arange(width) + step[1], 0, width - 1)
    rise = (depth - depth[np.ix_(rows, columns)]) / radius
    # Something far in front hides the surface but does not shade it.
    rise = np.where(rise > 1.0, np.maximum(2.0 - rise, 0.0), np.maximum(rise, -1.0))
    return np.where(is_item[np.ix_(rows, columns)], rise, -1.0)
