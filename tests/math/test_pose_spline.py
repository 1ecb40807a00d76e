from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math import CubicHermite, MinimumJerk, Pose, PoseSpline, rotation

quick = settings(deadline=None, max_examples=25)
# Absolute, because numpy's default relative tolerance would hide most faults.
close = partial(np.testing.assert_allclose, rtol=0)
seeds = st.integers(0, 2**32 - 1)
curves = st.sampled_from(["hermite", "clamped", "minimum_jerk"])


def random_knots(rng, count, step=1.0):
    """Knots whose neighbours are 0 to 2.8 rad apart, for ``step`` 1."""
    times = np.cumsum(rng.uniform(0.3, 1.2, count))
    q = [rotation.random(rng)]
    for _ in range(count - 1):
        axis = rng.standard_normal(3)
        turn = rotation.from_axis_angle(axis, step * rng.uniform(0, 2.8))
        q.append(rotation.multiply(q[-1], turn))
    return times, Pose.normalized(rng.standard_normal((count, 3)), np.stack(q))


def inside(rng, times, num=30):
    t = rng.uniform(times[0] + 1e-3, times[-1] - 1e-3, num)
    return t[np.abs(t[:, None] - times).min(axis=1) > 1e-3]


def assert_same(a, b, atol=1e-12):
    close(a.position, b.position, atol=atol)
    np.testing.assert_array_less(rotation.angle(a.wxyz, b.wxyz), atol)


@quick
@given(seeds, st.integers(2, 6), curves)
def test_knots_and_derivatives(seed, count, curve):
    rng = np.random.default_rng(seed)
    times, knots = random_knots(rng, count)
    spline = PoseSpline(times, knots, curve)
    assert_same(spline.pose(times), knots)
    t, e = inside(rng, times), 1e-5
    after, before = spline.pose(t + e), spline.pose(t - e)
    turn = rotation.log(rotation.multiply(after.wxyz, rotation.conjugate(before.wxyz)))
    difference = np.concatenate([after.position - before.position, turn], axis=-1) / (2 * e)
    velocity = spline.velocity(t)
    close(velocity, difference, atol=1e-7 * (1 + np.abs(velocity).max(initial=0) ** 3))
    difference = (spline.velocity(t + e) - spline.velocity(t - e)) / (2 * e)
    acceleration = spline.acceleration(t)
    close(acceleration, difference, atol=1e-7 * (1 + np.abs(velocity).max(initial=0) ** 4))


@quick
@given(seeds, st.integers(3, 6), curves)
def test_smoothness_at_the_knots(seed, count, curve):
    rng = np.random.default_rng(seed)
    times, knots = random_knots(rng, count)
    spline = PoseSpline(times, knots, curve)
    e = 1e-10
    inner = times[1:-1]
    jump = spline.velocity(inner + e) - spline.velocity(inner - e)
    scale = 1 + np.abs(spline.acceleration(np.linspace(times[0], times[-1], 200))).max()
    assert np.abs(jump).max() < 1e-8 * scale
    if curve == "minimum_jerk":
        jump = spline.acceleration(inner + e) - spline.acceleration(inner - e)
        assert np.abs(jump).max() < 1e-6 * scale**2
        close(spline.acceleration(times[[0, -1]]), 0, atol=1e-9 * scale)
    if curve != "hermite":
        close(spline.velocity(times[[0, -1]]), 0, atol=1e-10 * scale)


@quick
@given(seeds, curves)
def test_turning_about_one_axis_is_the_scalar_spline(seed, curve):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.3, 1.2, 6))
    # More than a full turn in all, which no single rotation vector could tell.
    turns = np.cumsum(rng.uniform(-1, 3, 6))
    axis = rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    start = rotation.random(rng)
    q = rotation.multiply(rotation.from_axis_angle(axis, turns), start)
    spline = PoseSpline(times, Pose(np.zeros(3), q), curve)
    scalar = {
        "hermite": CubicHermite.through(times, turns),
        "clamped": CubicHermite.through(times, turns, clamped=True),
        "minimum_jerk": MinimumJerk(times, turns),
    }[curve]
    t = np.linspace(times[0], times[-1], 41)
    expected = rotation.multiply(rotation.from_axis_angle(axis, scalar(t)), start)
    np.testing.assert_array_less(rotation.angle(spline.pose(t).wxyz, expected), 1e-11)
    angular = spline.velocity(t)[:, 3:]
    close(angular, scalar(t, 1)[:, None] * axis, atol=1e-9)
    angular = spline.acceleration(t)[:, 3:]
    close(angular, scalar(t, 2)[:, None] * axis, atol=1e-7)


@quick
@given(seeds, curves)
def test_equivariance(seed, curve):
    rng = np.random.default_rng(seed)
    times, knots = random_knots(rng, 5)
    world = Pose(rng.standard_normal(3), rotation.random(rng))
    spline, t = PoseSpline(times, knots, curve), inside(rng, times)
    moved = PoseSpline(times, world @ knots, curve)
    assert_same(moved.pose(t), world @ spline.pose(t), atol=1e-11)
    velocity, moved_velocity = spline.velocity(t), moved.velocity(t)
    scale = 1 + np.abs(velocity).max()
    for part in (slice(0, 3), slice(3, 6)):
        close(moved_velocity[:, part], world.rotate(velocity[:, part]), atol=1e-10 * scale)
    # Another choice of the body's axes is no other motion.
    turned = PoseSpline(times, knots @ Pose(np.zeros(3), world.wxyz), curve)
    close(turned.velocity(t), velocity, atol=1e-9 * scale)
    # Nor is the other sign of some quaternions.
    signs = rng.choice([-1.0, 1.0], (5, 1))
    flipped = PoseSpline(times, Pose(knots.position, signs * knots.wxyz), curve)
    assert_same(flipped.pose(t), spline.pose(t))
    # Mirrored in the plane x = 0: angular velocity is a pseudovector.
    polar, axial = np.array([-1.0, 1, 1]), np.array([1.0, -1, -1])
    q_mirror = np.concatenate([[1.0], axial])
    mirrored = PoseSpline(times, Pose(polar * knots.position, q_mirror * knots.wxyz), curve)
    expected = velocity * np.concatenate([polar, axial])
    close(mirrored.velocity(t), expected, atol=1e-10 * scale)


def smooth_motion(t):
    """An orientation with analytic world-frame angular velocity: two turns, one inside the other.

    q = exp(a(t) z) exp(b(t) x) turns with a' z + b' R_z(a) x.
    """
    t = np.asarray(t)
    a, b = np.sin(1.3 * t), 0.7 * t + 0.4 * np.cos(2 * t)
    first = rotation.from_axis_angle([0, 0, 1], a)
    q = rotation.multiply(first, rotation.from_axis_angle([1, 0, 0], b))
    rate_a, rate_b = 1.3 * np.cos(1.3 * t), 0.7 - 0.8 * np.sin(2 * t)
    z, x = np.array([0.0, 0, 1]), np.array([1.0, 0, 0])
    return q, rate_a[..., None] * z + rate_b[..., None] * rotation.rotate(first, x)


def test_convergence_to_a_smooth_tumble():
    t = np.linspace(0, 3, 1001)
    q, angular = smooth_motion(t)
    counts, errors, rate_errors = np.array([16, 32, 64, 128]), [], []
    for count in counts:
        times = np.linspace(0, 3, count + 1)
        spline = PoseSpline(times, Pose(np.zeros(3), smooth_motion(times)[0]))
        errors.append(rotation.angle(spline.pose(t).wxyz, q).max())
        rate_errors.append(np.abs(spline.velocity(t)[:, 3:] - angular).max())
    orders = [-np.polyfit(np.log(counts), np.log(e), 1)[0] for e in (errors, rate_errors)]
    assert abs(orders[0] - 3) < 0.25
    assert abs(orders[1] - 2) < 0.25
    assert errors[-1] < 1e-4


def test_minimum_jerk_is_accurate_away_from_its_resting_ends():
    times = np.linspace(0, 6, 61)
    t = np.linspace(2.5, 3.5, 101)
    q, angular = smooth_motion(t)
    spline = PoseSpline(times, Pose(np.zeros(3), smooth_motion(times)[0]), "minimum_jerk")
    assert rotation.angle(spline.pose(t).wxyz, q).max() < 1e-4
    close(spline.velocity(t)[:, 3:], angular, atol=1e-2)


def test_shapes_batches_and_hold():
    rng = np.random.default_rng(4)
    times, knots = random_knots(rng, 4)
    for curve in ("hermite", "clamped", "minimum_jerk"):
        spline = PoseSpline(times, knots, curve)
        t = rng.uniform(times[0], times[-1], (2, 3))
        assert spline.pose(t).shape == (2, 3)
        assert spline.velocity(t).shape == spline.acceleration(t).shape == (2, 3, 6)
        assert spline.pose(t[0, 0]).shape == ()
        for i in np.ndindex(2, 3):
            assert_same(spline.pose(t)[i], spline.pose(t[i]))
            close(spline.velocity(t)[i], spline.velocity(t[i]), atol=1e-12)
        held = PoseSpline(times, knots, curve, extrapolate="hold")
        outside = np.array([times[0] - 1, times[-1] + 1])
        assert_same(held.pose(outside), knots[[0, -1]])
        np.testing.assert_array_equal(held.velocity(outside), 0.0)
        np.testing.assert_array_equal(held.acceleration(outside), 0.0)
        for method in (spline.pose, spline.velocity, spline.acceleration):
            with pytest.raises(InvalidValueError, match=r"Time t\[0\] is .*Ask within the knots"):
                method(outside)


def test_error_texts(user_view):
    knots = Pose.identity(3)
    with pytest.raises(InvalidValueError, match=r"knots have batch shape \(3,\) and times \(2,\)"):
        PoseSpline([0.0, 1.0], knots)
    with pytest.raises(InvalidValueError, match=r"PoseSpline: times\[1\] = 0 s does not come"):
        PoseSpline([0.0, 0.0, 1.0], knots)
    with pytest.raises(UnknownNameError, match=r"curve 'minimum-jerk'\. Did you mean 'minimum_j"):
        PoseSpline([0.0, 1.0, 2.0], knots, "minimum-jerk")
    with pytest.raises(UnknownNameError, match="extrapolation 'clamp'"):
        PoseSpline([0.0, 1.0, 2.0], knots, extrapolate="clamp")
    half = Pose(np.zeros(3), [[1.0, 0, 0, 0], [0.6, 0.8, 0, 0], [-0.8, 0.6, 0, 0]])
    with pytest.raises(InvalidValueError, match=r"knots 1 and 2 are a half turn apart.*Insert"):
        PoseSpline([0.0, 1.0, 2.0], half)
