"""The offset of a wrist: slopes against central differences, bounds, and what it wins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.conditioning.wrist_offset import Fit, OffsetSpline, basis, squash
from handwright.conditioning.wrist_parts import (
    Slopes,
    WristParts,
    deepest,
    depth_slopes,
    half_open,
    sight_of,
    wrist_parts,
)
from handwright.geometry.distance.sdf import make_field
from handwright.hands import human
from handwright.math import rotation
from handwright.math.pose import Pose

SHIFT, TURN = 0.01, 0.1


@pytest.fixture(scope="module")
def slope_field():
    """A slope in all directions, and hence exact between its nodes: the distance to a plane."""
    normal = np.array([0.36, 0.48, 0.8])
    axis = np.linspace(-0.3, 0.3, 41)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    return make_field(grid @ normal, np.full(3, -0.3), axis[1] - axis[0])


def some_sight(field, count, seed=0):
    rng = np.random.default_rng(seed)
    body = Pose(0.02 * rng.normal(size=(count, 3)), rotation.random(rng, count))
    wrist = Pose(0.02 * rng.normal(size=(count, 3)), rotation.random(rng, count))
    return sight_of(field, body, wrist)


def few_parts():
    rng = np.random.default_rng(3)
    return WristParts(0.08 * rng.normal(size=(9, 3)), rng.uniform(0.008, 0.02, 9))


def test_slopes_of_depth_are_those_of_central_differences(slope_field):
    sight, parts = some_sight(slope_field, 5), few_parts()
    offset = 0.05 * np.random.default_rng(1).normal(size=(5, 6))
    found = depth_slopes(parts, sight, offset, 1e-3)
    assert found.value.min() > 0.0
    step = 1e-6
    for i in range(6):
        ends = [
            depth_slopes(parts, sight, offset + sign * step * np.eye(6)[i], 1e-3).value
            for sign in (1.0, -1.0)
        ]
        np.testing.assert_allclose(
            found.gradient[:, i], (ends[0] - ends[1]) / (2.0 * step), rtol=1e-5, atol=1e-9
        )


def some_fit(field, count=4):
    times = np.linspace(0.3, 1.3, 16)
    sight, parts = some_sight(field, len(times)), few_parts()
    return Fit(
        times,
        1.0 / (count - 3),
        count,
        SHIFT,
        TURN,
        lambda offset: depth_slopes(parts, sight, offset, 1e-3),
    )


def test_gradient_of_a_fit_is_that_of_central_differences(slope_field):
    fit = some_fit(slope_field, count=6)
    free = np.random.default_rng(2).normal(size=(6, 6))
    _, gradient, _ = fit.expand(free)
    step = 1e-5
    for k, i in np.ndindex(6, 6):
        move = np.zeros((6, 6))
        move[k, i] = step
        slope = (fit.expand(free + move)[0] - fit.expand(free - move)[0]) / (2.0 * step)
        assert gradient[k, i] == pytest.approx(slope, rel=1e-5, abs=1e-12)


def test_blocks_of_a_fit_are_its_curvature_where_that_is_exact():
    # Costs that are quadratic in the offset, and no bend of the bounds at zero.
    rng = np.random.default_rng(4)
    half = rng.normal(size=(16, 6, 6))
    curved = np.einsum("tij,tkj->tik", half, half)

    def slopes(offset):
        gradient = np.einsum("tij,tj->ti", curved, offset)
        return Slopes(0.5 * np.einsum("ti,ti->t", offset, gradient), gradient, curved)

    fit = Fit(np.linspace(0.0, 1.0, 16), 0.25, 7, SHIFT, TURN, slopes)
    free = np.zeros((7, 6))
    blocks = fit.expand(free)[2]
    step = 1e-4
    for k, i in np.ndindex(7, 6):
        move = np.zeros((7, 6))
        move[k, i] = step
        row = (fit.expand(move)[1] - fit.expand(-move)[1]) / (2.0 * step)
        for b in range(min(4, 7 - k)):
            np.testing.assert_allclose(
                blocks[k, b, i], row[k + b], rtol=1e-5, atol=1e-7 * np.abs(row).max()
            )


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.floats(0.01, 1e6))
def test_no_offset_leaves_its_bounds(seed, size):
    rng = np.random.default_rng(seed)
    control, _ = squash(size * rng.normal(size=(7, 6)), SHIFT, TURN)
    values = OffsetSpline(0.5, 0.4, control).at(rng.uniform(0.0, 3.0, 50))
    assert np.linalg.norm(values[:, :3], axis=1).max() <= SHIFT * (1.0 + 1e-12)
    assert np.linalg.norm(values[:, 3:], axis=1).max() <= TURN * (1.0 + 1e-12)


def test_shares_of_control_points_add_up_to_one_and_none_is_negative():
    first, share = basis(np.linspace(-1.0, 4.0, 101), 0.0, 0.5, 9)
    assert first.min() == 0
    assert first.max() == 5
    assert share.min() >= 0.0
    np.testing.assert_allclose(share.sum(axis=1), 1.0, atol=1e-12)


def test_a_solved_offset_takes_parts_out_and_one_that_is_not_needed_is_none(slope_field):
    parts = few_parts()
    times = np.linspace(0.0, 1.0, 31)
    wrist = Pose(np.tile(-0.2 * np.array([0.36, 0.48, 0.8]), (31, 1)), np.eye(4)[[0] * 31])
    body = Pose.identity(31)
    deep = deepest(parts, sight_of(slope_field, body, wrist), np.zeros((31, 6))).max()
    # Along the normal, until the deepest part is 6 mm in the plane.
    out = wrist.position + (deep - 6e-3) * np.array([0.36, 0.48, 0.8])
    sight = sight_of(slope_field, body, Pose(out, wrist.wxyz))

    def fit_of(allowed):
        return Fit(
            times, 0.5, 5, SHIFT, TURN, lambda offset: depth_slopes(parts, sight, offset, allowed)
        )

    offset = fit_of(1e-3).solve().at(times)
    assert deepest(parts, sight, np.zeros((31, 6))).max() == pytest.approx(6e-3, abs=1e-7)
    assert deepest(parts, sight, offset).max() < 1.5e-3
    assert fit_of(7e-3).solve() is None


def test_parts_are_those_that_fingers_do_not_move_far():
    model = human("right")
    parts = wrist_parts(model)
    palm = int((model.capsules.digit < 0).sum())
    assert len(parts.radius) == len(parts.center) > palm + 5
    assert np.linalg.norm(parts.center, axis=1).max() < 0.16
    q = half_open(model)
    assert (q >= model.joints.lower - 1e-9).all()
    assert (q <= model.joints.upper + 1e-9).all()
