from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from handwright.errors import InvalidValueError
from handwright.hands.capsules import distances_to_axes
from handwright.physics.mjcf.fit_capsule import fit_box, fit_capsule, fit_hull


def capsule_surface(rng, start, end, radius, count=400):
    axis = (end - start) / np.linalg.norm(end - start)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    ring = way - np.outer(way @ axis, axis)
    ring /= np.linalg.norm(ring, axis=1, keepdims=True)
    tube = start + rng.random((count, 1)) * (end - start) + radius * ring
    caps = np.where((way @ axis)[:, None] > 0, end, start) + radius * way
    return np.concatenate([tube, caps])


def gaps(points, fits):
    start, end = (np.array([getattr(fit, side) for fit in fits]) for side in ("start", "end"))
    return (distances_to_axes(points, start, end) - [fit.radius for fit in fits]).min(axis=1)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**31),
    radius=st.floats(0.004, 0.03),
    slenderness=st.floats(1.5, 8.0),
)
def test_true_capsules_are_found_again(seed, radius, slenderness):
    rng = np.random.default_rng(seed)
    start = rng.uniform(-0.5, 0.5, 3)
    way = rng.normal(size=3)
    end = start + slenderness * radius * way / np.linalg.norm(way)
    for fit in (
        fit_capsule(capsule_surface(rng, start, end, radius)),
        *fit_hull(capsule_surface(rng, start, end, radius)),
    ):
        assert fit.radius == pytest.approx(radius, rel=0.02)
        ends = np.array([fit.start, fit.end])
        flipped = (
            ends
            if np.linalg.norm(ends[0] - start) < np.linalg.norm(ends[1] - start)
            else (ends[::-1])
        )
        np.testing.assert_allclose(flipped, [start, end], atol=0.05 * radius)


@pytest.mark.parametrize("flatness", [0.25, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("length", [1.0, 2.0, 4.0])
def test_hulls_are_hugged(flatness, length):
    """Rounded bricks of all shapes: little sticks out, and little room is wasted."""
    rng = np.random.default_rng(2)
    half = 0.01 * np.array([length, 1.0, flatness])
    ball = rng.normal(size=(600, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    rounding = 0.5 * half.min()
    points = (np.sign(ball) * (half - rounding) + rounding * ball) @ Rotation.random(
        random_state=3
    ).as_matrix().T + rng.normal(size=3)
    gap = gaps(points, fit_hull(points))
    assert gap.max() < 0.5 * half[2]
    assert np.abs(gap).mean() < 0.25 * half[2]


@settings(deadline=None, max_examples=50)
@given(half=st.tuples(*[st.floats(0.004, 0.06)] * 3))
def test_boxes_get_capsules_flush_with_their_faces(half):
    half = np.array(half)
    fits = fit_box(half)
    long, wide, thin = np.sort(half)[::-1]
    for fit in fits:
        low = np.minimum(fit.start, fit.end) - fit.radius
        high = np.maximum(fit.start, fit.end) + fit.radius
        if 1.6 < wide / thin < 6.0:
            assert np.all(low >= -half - 1e-9)
            assert np.all(high <= half + 1e-9)
            assert high[np.argmin(half)] == pytest.approx(thin)
        else:
            assert fit.radius <= wide * (1 + 1e-9)
    covered = max(np.maximum(fit.start, fit.end)[np.argmax(half)] + fit.radius for fit in fits)
    assert covered == pytest.approx(long, rel=0.35)
    # The middle of the box is covered all the way across.
    across = np.zeros((101, 3))
    order = np.argsort(-half, kind="stable")
    across[:, order[1]] = np.linspace(-1, 1, 101) * 0.95 * wide
    uncovered = gaps(across, fits).max()
    assert uncovered < (1e-9 if 1.6 < wide / thin < 6.0 else 0.2 * wide)


def test_fit_is_repeatable_to_the_bit():
    points = np.random.default_rng(0).normal(size=(50, 3)) * [0.04, 0.02, 0.01]
    for one, two in zip(fit_hull(points), fit_hull(points), strict=True):
        np.testing.assert_array_equal(np.hstack(one), np.hstack(two))


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (np.zeros((3, 3)), r"shape \(3, 3\)"),
        (np.zeros((5, 2)), r"shape \(5, 2\)"),
        (np.full((5, 3), np.nan), "NaN"),
        (np.zeros((5, 3)), "coincide"),
    ],
)
def test_useless_points_are_refused(points, text):
    with pytest.raises(InvalidValueError, match=text):
        fit_capsule(points)


def test_flat_sheet_has_no_hull():
    sheet = np.random.default_rng(0).random((20, 3)) * [1.0, 1.0, 0.0]
    with pytest.raises(InvalidValueError, match="span no volume"):
        fit_hull(sheet)
