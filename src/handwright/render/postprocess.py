"""From what OpenGL has drawn to the finished picture: shading, exposure, smooth edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float, UInt8

from handwright.kernels.decorators import inlined, kernel
from handwright.render.shading import hollow_shade

BACKGROUND = (0.945, 0.95, 0.957)
# OpenGL cuts colours off at one, channel by channel, which tints highlights; so the lights are
# dimmed by this factor, and what is brighter than the knee is bent down afterwards.
EXPOSURE = 0.6
_KNEE = 0.75
_NUM_LEVELS = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """What OpenGL drew, with a whole number of its pixels for each pixel of the picture."""

    pixels: UInt8[np.ndarray, "H2 W2 3"]
    """From the bottom up."""
    raw_depth: Float[np.ndarray, "H2 W2"]
    """OpenGL's depth; one where nothing is drawn, which is shown as the background."""
    samples: int
    """OpenGL's pixels along each side of one of the picture."""
    near: float
    """Depth that OpenGL calls zero, m."""
    far: float
    """Depth that OpenGL calls one, m."""
    pixel_size: float
    """Width of one of OpenGL's pixels at the items, m."""
    extent: float
    """Size of the items, m."""

    def developed(self) -> UInt8[np.ndarray, "H W 3"]:
        """The picture: hollows shaded, and edges smoothed by means over blocks of pixels."""
        k = self.samples
        middle = self.raw_depth[k // 2 :: k, k // 2 :: k]
        near, far = np.float32(self.near), np.float32(self.far)
        depth = np.where(middle < 1.0, near * far / (far - middle * (far - near)), np.inf)
        shade = hollow_shade(depth, pixel_size=k * self.pixel_size, extent=self.extent)
        out = np.zeros((*shade.shape, 3), dtype=np.uint8)
        background = 255.0 * np.array(BACKGROUND, dtype=np.float32)
        _develop(self.pixels, self.raw_depth, shade, _curve(), background, out)
        return out[::-1]


@cache
def _curve() -> Float[np.ndarray, "levels"]:
    """Finished brightness, 0 to 255, for values from 0 to all that OpenGL can draw."""
    lit = np.linspace(0.0, 1.0 / EXPOSURE, _NUM_LEVELS)
    bent = _KNEE + (1.0 - _KNEE) * np.tanh((lit - _KNEE) / (1.0 - _KNEE))
    return np.asarray(255.0 * np.where(lit > _KNEE, bent, lit), dtype=np.float32)


@kernel
def _develop(
    pixels: np.ndarray,
    raw_depth: np.ndarray,
    shade: np.ndarray,
    curve: np.ndarray,
    background: np.ndarray,
    out: np.ndarray,
) -> None:
    # With the width of a block written out, the compiler unrolls the loops over it.
    block = pixels.shape[0] // shade.shape[0]
    if block == 1:
        _develop_blocks(pixels, raw_depth, shade, curve, background, out, 1)
    elif block == 2:
        _develop_blocks(pixels, raw_depth, shade, curve, background, out, 2)
    elif block == 3:
        _develop_blocks(pixels, raw_depth, shade, curve, background, out, 3)
    else:
        _develop_blocks(pixels, raw_depth, shade, curve, background, out, block)


@inlined
def _develop_blocks(
    pixels: np.ndarray,
    raw_depth: np.ndarray,
    shade: np.ndarray,
    curve: np.ndarray,
    background: np.ndarray,
    out: np.ndarray,
    block: int,
) -> None:
    scale = np.float32((curve.shape[0] - 1) / 255.0)
    one, half = np.float32(1.0), np.float32(0.5)
    for row in range(shade.shape[0]):
        for column in range(shade.shape[1]):
            count = 0
            for i in range(block):
                for j in range(block):
                    count += raw_depth[block * row + i, block * column + j] < one
            if count == 0:
                for k in range(3):
                    out[row, column, k] = np.uint8(background[k] + half)
                continue
            share = np.float32(count) / np.float32(block * block)
            gain = shade[row, column] * scale / np.float32(count)
            for k in range(3):
                total = np.int32(0)
                for i in range(block):
                    for j in range(block):
                        if raw_depth[block * row + i, block * column + j] < one:
                            total += np.int32(pixels[block * row + i, block * column + j, k])
                value = share * curve[int(total * gain + half)] + (one - share) * background[k]
                out[row, column, k] = np.uint8(value + half)
