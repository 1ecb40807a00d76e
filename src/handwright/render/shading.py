"""Soft darkness in hollows, which OpenGL's lights do not give."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import inlined, kernel

# Pixels of a tile look at different pairs of points, and the mean over a tile looks at all of
# them: few pairs for each pixel would otherwise show as copies of outlines on what lies behind.
_TILE = 4
_PAIRS_PER_PIXEL = 4
_SMALLEST_RADIUS = 0.02
_LARGEST_RADIUS = 0.18
_STRENGTH = 1.5
_DARKEST = 0.45
# Pixels of a tile whose depths differ by more than this, per size of the items, do not mix.
_DEPTH_STEP = 0.02
_ONE = np.float32(1.0)


def hollow_shade(
    depth: Float[np.ndarray, "H W"], *, pixel_size: float, extent: float
) -> Float[np.ndarray, "H W"]:
    """Brightness from ``_DARKEST`` to one for each pixel: low where the surface is hollow.

    Two points on opposite sides of a pixel that both lie nearer to the camera than the pixel
    itself take light away from it. On a plane, however steep, the two differences cancel.

    Args:
        depth: Distance from the camera's plane, m; infinite where there is nothing.
        pixel_size: Width of a pixel at the items, m.
        extent: Size of the items, m: sets how wide a hollow counts.
    """
    share, angle = _pattern()
    radius = share * extent
    steps = (radius / pixel_size)[..., None] * np.stack([np.sin(angle), np.cos(angle)], axis=-1)
    steps = np.rint(steps).astype(np.int64)
    # The border is continued outwards, so that no step leads off the picture.
    border = int(np.abs(steps).max())
    padded = np.pad(np.asarray(depth, dtype=np.float32), border, mode="edge")
    taken, mixed = (np.zeros(depth.shape, dtype=np.float32) for _ in range(2))
    jumps = steps @ np.array([padded.shape[1], 1])
    _take_light(padded.reshape(-1), border, jumps, (1.0 / radius).astype(np.float32), taken)
    depth, step = np.asarray(depth, dtype=np.float32), np.float32(_DEPTH_STEP * extent)
    # A tile has no middle pixel: the second round, shifted the other way, mends that.
    for first in (-_TILE // 2, 1 - _TILE // 2):
        _mix(depth, taken, step, first, False, mixed)
        _mix(depth, mixed, step, first, True, taken)
    return np.maximum(_ONE - taken, np.float32(_DARKEST))


@cache
def _pattern() -> tuple[
    Float[np.ndarray, "tile_pixels pairs"], Float[np.ndarray, "tile_pixels pairs"]
]:
    """Radius (share of the size of the items) and angle (rad) of each pair of each tile pixel."""
    count = _TILE * _TILE
    pixel = np.arange(count)[:, None]
    pair = np.arange(_PAIRS_PER_PIXEL)[None, :]
    # Every pixel takes one radius from each band; the golden ratio spreads the angles.
    place = (pair + ((pixel * 7) % count + 0.5) / count) / _PAIRS_PER_PIXEL
    share = _SMALLEST_RADIUS * (_LARGEST_RADIUS / _SMALLEST_RADIUS) ** place
    angle = math.pi * (((pixel + count * pair) * (math.sqrt(5.0) - 1.0) / 2.0) % 1.0)
    return share, angle


@inlined
def _rise(here: np.float32, there: np.float32, per_radius: np.float32) -> np.float32:
    """How much nearer the surface at another pixel is, per radius, from -1 to 1."""
    rise = (here - there) * per_radius
    # Something far in front hides the surface but does not shade it.
    if rise > 1.0:
        return max(np.float32(2.0) - rise, np.float32(0.0))
    return max(rise, -_ONE)


@kernel
def _take_light(
    depth: np.ndarray, border: int, jumps: np.ndarray, per_radius: np.ndarray, taken: np.ndarray
) -> None:
    """Writes how much light each pixel loses by its own pairs.

    ``depth`` is the picture, padded by ``border`` pixels, as one row, m. For each pixel of a tile
    and each pair, ``jumps`` leads to the pixel ahead in that row, and ``per_radius`` is in 1/m.
    """
    height, width = taken.shape
    stride = width + 2 * border
    scale = np.float32(_STRENGTH / (2.0 * jumps.shape[1]))
    for row in range(height):
        for column in range(width):
            at = np.uint64((row + border) * stride + column + border)
            here = depth[at]
            if here == math.inf:
                continue
            n = (row % _TILE) * _TILE + column % _TILE
            total = np.float32(0.0)
            for p in range(jumps.shape[1]):
                jump = np.uint64(jumps[n, p])
                # Unsigned numbers wrap round, so this also goes back; signed indices are slower.
                ahead = _rise(here, depth[at + jump], per_radius[n, p])
                behind = _rise(here, depth[at - jump], per_radius[n, p])
                total += max(ahead + behind, np.float32(0.0))
            taken[row, column] = scale * total


@kernel
def _mix(
    depth: np.ndarray, values: np.ndarray, step: float, first: int, is_down: bool, out: np.ndarray
) -> None:
    """Means over a side of a tile, of what lies about as deep as the pixel itself.

    Depths, m, that differ by more than ``step`` do not mix. The side starts ``first`` pixels from
    the pixel itself, and runs down or to the right.
    """
    height, width = depth.shape
    for row in range(height):
        for column in range(width):
            here = depth[row, column]
            if here == math.inf:
                out[row, column] = 0.0
                continue
            total, count = np.float32(0.0), np.float32(0.0)
            for k in range(first, first + _TILE):
                r = min(max(row + k, 0), height - 1) if is_down else row
                c = column if is_down else min(max(column + k, 0), width - 1)
                if abs(depth[r, c] - here) <= step:
                    total += values[r, c]
                    count += _ONE
            out[row, column] = total / count
