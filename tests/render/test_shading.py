"""Hollows are dark, planes are not, and nothing throws copies of its outline."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.render.postprocess import BACKGROUND, Shot
from handwright.render.shading import hollow_shade

HEIGHT, WIDTH = 90, 120
ROW, COLUMN = np.mgrid[:HEIGHT, :WIDTH].astype(float)
PIXEL = 0.002
EXTENT = 0.15


def shade_of(depth: np.ndarray) -> np.ndarray:
    return hollow_shade(depth, pixel_size=PIXEL, extent=EXTENT)


@pytest.mark.parametrize(("down", "right"), [(0.0, 0.0), (2.0, 0.0), (-1.0, 3.0)])
def test_a_plane_is_not_shaded_however_steep(down, right):
    depth = 1.0 + PIXEL * (down * ROW + right * COLUMN)
    inner = (slice(20, -20), slice(20, -20))
    np.testing.assert_allclose(shade_of(depth)[inner], 1.0, atol=1e-4)


def test_a_groove_is_dark_and_a_ridge_is_not():
    valley = 1.0 - PIXEL * np.abs(COLUMN - 60.0)
    shade = shade_of(valley)
    assert shade[45, 60] < 0.7
    # The farther from the bottom, the lighter.
    assert (np.diff(shade[45, 60:80]) > -1e-3).all()
    assert shade[45, 85] > 0.97
    ridge = 1.0 + PIXEL * np.abs(COLUMN - 60.0)
    np.testing.assert_allclose(shade_of(ridge)[20:-20, 20:-20], 1.0, atol=1e-4)


def test_what_stands_in_front_throws_no_copies_of_its_outline():
    """On a plane behind a square, the shade changes little from pixel to pixel."""
    row, column = np.mgrid[:180, :240].astype(float)
    off = np.maximum(abs(row - 90), abs(column - 120))
    for gap in (0.01, 0.02):
        depth = np.where(off < 24, 1.0 - gap, 1.0)
        shade = hollow_shade(depth, pixel_size=0.001, extent=EXTENT)
        behind = np.where(off < 28, np.nan, shade)
        assert np.nanmin(behind) < 0.85
        for axis in (0, 1):
            assert np.nanmax(np.abs(np.diff(behind, axis=axis))) < 0.04


def test_nothing_is_not_shaded_and_shades_nothing():
    depth = np.full((HEIGHT, WIDTH), np.inf)
    assert (shade_of(depth) == 1.0).all()
    depth[30:60, 30:90] = 1.0
    np.testing.assert_allclose(shade_of(depth), 1.0)


def test_a_picture_is_the_mean_of_its_blocks():
    """Against plain numpy, with blocks that are wholly, partly and not covered."""
    rng = np.random.default_rng(0)
    for samples in (1, 2, 3):
        shape = (12 * samples, 16 * samples)
        pixels = rng.integers(0, 110, (*shape, 3), dtype=np.uint8)
        raw = np.where(rng.random(shape) < 0.6, 0.5, 1.0).astype(np.float32)
        raw[: shape[0] // 2] = 0.5
        shot = Shot(
            pixels=pixels,
            raw_depth=raw,
            samples=samples,
            near=0.5,
            far=2.0,
            pixel_size=1.0,  # Larger than any hollow: nothing is shaded.
            extent=1e-6,
        )
        # Up to the knee, brightness is what OpenGL drew, over the exposure.
        lit = pixels / 0.6
        blocks = [
            a.reshape(12, samples, 16, samples, -1).transpose(0, 2, 1, 3, 4).reshape(12, 16, -1, c)
            for a, c in ((lit, 3), (raw < 1.0, 1))
        ]
        values, is_item = blocks
        expected = np.where(is_item, values, 255.0 * np.array(BACKGROUND)).mean(axis=2)
        picture = shot.developed()[::-1]
        np.testing.assert_allclose(picture, expected, atol=0.6)
