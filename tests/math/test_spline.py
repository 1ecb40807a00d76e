from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline, make_interp_spline

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math import CubicHermite, MinimumJerk

quick = settings(deadline=None, max_examples=25)
# Absolute, because numpy's default relative tolerance would hide most faults.
close = partial(np.testing.assert_allclose, rtol=0)
seeds = st.integers(0, 2**32 - 1)


def random_knots(rng, count, dims=()):
    times = np.cumsum(rng.uniform(0.2, 1.5, count)) - 3.0
    return times, rng.standard_normal((count, *dims))


def inside(rng, times, num=50):
    """Times at least 1e-3 s away from every knot, so that differences stay in one piece."""
    t = rng.uniform(times[0] + 1e-3, times[-1] - 1e-3, num)
    return t[np.abs(t[:, None] - times).min(axis=1) > 1e-3]


def assert_derivatives(curve, t, highest):
    e = 1e-5
    for order in range(1, highest + 1):
        difference = (curve(t + e, order - 1) - curve(t - e, order - 1)) / (2 * e)
        scale = 1 + np.abs(difference).max()
        close(curve(t, order), difference, atol=1e-6 * scale)


def jerk_cost(curve, times):
    """Exact integral of squared jerk: the square is of degree four in each piece."""
    nodes, weights = np.polynomial.legendre.leggauss(3)
    h = np.diff(times)[:, None]
    t = times[:-1, None] + h * (0.5 * nodes + 0.5)
    return np.einsum("sn,sn...->...", 0.5 * weights * h, curve(t, 3) ** 2)


@quick
@given(seeds, st.integers(2, 8), st.sampled_from([(), (3,), (2, 3)]))
def test_hermite_agrees_with_scipy_and_its_knots(seed, count, dims):
    rng = np.random.default_rng(seed)
    times, values = random_knots(rng, count, dims)
    slopes = rng.standard_normal(values.shape)
    curve, peer = CubicHermite(times, values, slopes), CubicHermiteSpline(times, values, slopes)
    t = inside(rng, times)
    for order in range(4):
        close(curve(t, order), peer(t, order), atol=1e-9)
    close(curve(times), values, atol=1e-14)
    close(curve(times, 1), slopes, atol=1e-13)
    assert_derivatives(curve, t, 3)


@quick
@given(seeds, st.integers(3, 8))
def test_through_reproduces_parabolas_on_uneven_knots(seed, count):
    rng = np.random.default_rng(seed)
    times, _ = random_knots(rng, count)
    polynomial = np.polynomial.Polynomial(rng.standard_normal(3))
    curve = CubicHermite.through(times, polynomial(times))
    t = np.linspace(times[0], times[-1], 31)
    close(curve(t), polynomial(t), atol=1e-12)
    close(curve(t, 1), polynomial.deriv()(t), atol=1e-11)


def test_through_gives_catmull_rom_slopes_and_clamps():
    times, values = np.arange(5.0), np.array([0.0, 1.0, -1.0, 4.0, 2.0])
    curve = CubicHermite.through(times, values)
    close(curve.slopes[1:-1], (values[2:] - values[:-2]) / 2, atol=1e-15)
    clamped = CubicHermite.through(times, values, clamped=True)
    np.testing.assert_array_equal(clamped.slopes[[0, -1]], 0.0)
    np.testing.assert_array_equal(clamped.slopes[1:-1], curve.slopes[1:-1])
    line = CubicHermite.through([1.0, 3.0], [[2.0], [6.0]])
    close(line([1.5, 2.0]), [[3.0], [4.0]], atol=1e-15)


@pytest.mark.parametrize(("exact", "order"), [(True, 4.0), (False, 3.0)])
def test_hermite_converges_at_its_order(exact, order):
    t = np.linspace(0, 2, 4001)
    counts = np.array([16, 32, 64, 128])
    errors = []
    for count in counts:
        times = np.linspace(0, 2, count + 1)
        if exact:
            curve = CubicHermite(times, np.sin(3 * times), 3 * np.cos(3 * times))
        else:
            curve = CubicHermite.through(times, np.sin(3 * times))
        errors.append(np.abs(curve(t) - np.sin(3 * t)).max())
    slope = -np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.15


def test_minimum_jerk_of_one_segment_is_the_classic_polynomial():
    curve = MinimumJerk(np.array([2.0, 5.0]), np.array([[1.0, 0.0], [3.0, -4.0]]))
    s = np.linspace(0, 1, 21)[:, None]
    bell = 10 * s**3 - 15 * s**4 + 6 * s**5
    close(curve(2 + 3 * s[:, 0]), np.array([1.0, 0.0]) + bell * np.array([2.0, -4.0]), atol=1e-14)
    fifth = curve(3.0, 5)
    close(fifth, 720 / 3**5 * np.array([2.0, -4.0]), rtol=1e-13)


@quick
@given(seeds, st.integers(2, 9), st.sampled_from([(), (3,), (2, 2)]))
def test_minimum_jerk_is_the_clamped_quintic_spline(seed, count, dims):
    rng = np.random.default_rng(seed)
    times, values = random_knots(rng, count, dims)
    ends = rng.standard_normal((4, *dims))
    curve = MinimumJerk(
        times,
        values,
        start_velocity=ends[0],
        start_acceleration=ends[1],
        end_velocity=ends[2],
        end_acceleration=ends[3],
    )
    conditions = ([(1, ends[0]), (2, ends[1])], [(1, ends[2]), (2, ends[3])])
    peer = make_interp_spline(times, values, k=5, bc_type=conditions)
    t = inside(rng, times)
    for order in range(6):
        expected = peer(t, nu=order)
        atol = 1e-8 * (1 + np.abs(expected).max(initial=0))
        close(curve(t, order), expected, atol=atol)
    close(curve(times), values, atol=1e-11)
    close(curve(times, 1), curve.velocities, atol=1e-9)
    close(curve(times, 2), curve.accelerations, atol=1e-8)
    close(curve(times[[0, -1]], 1), ends[[0, 2]], atol=1e-10)
    close(curve(times[[0, -1]], 2), ends[[1, 3]], atol=1e-9)
    assert_derivatives(curve, t, 5)


@quick
@given(seeds, st.integers(3, 7))
def test_minimum_jerk_has_four_continuous_derivatives(seed, count):
    rng = np.random.default_rng(seed)
    times, values = random_knots(rng, count, (2,))
    curve = MinimumJerk(times, values)
    e = 1e-9
    for order in range(5):
        jump = curve(times[1:-1] + e, order) - curve(times[1:-1] - e, order)
        slope = np.abs(curve(times, order + 1)).max()
        assert np.abs(jump).max() <= 2.1 * e * slope + 1e-9 * (1 + slope)


def brute_force(times, values, degree=7):
    """Least jerk over all twice differentiable pieces of ``degree``: a dense quadratic program."""
    segments, terms = len(times) - 1, degree + 1
    h = np.diff(times)
    powers = np.arange(terms)

    def row(segment, s, order):
        factor = np.array([np.prod(np.arange(p, p - order, -1.0)) for p in powers])
        out = np.zeros((segments, terms))
        out[segment] = factor * s ** np.maximum(powers - order, 0) / h[segment] ** order
        out[segment][powers < order] = 0.0
        return out.ravel()

    nodes, weights = np.polynomial.legendre.leggauss(degree)
    cost = np.zeros((segments * terms, segments * terms))
    for k in range(segments):
        for node, weight in zip(0.5 * nodes + 0.5, 0.5 * weights * h[k], strict=True):
            jerk = row(k, node, 3)
            cost += weight * np.outer(jerk, jerk)
    rows, targets = [], []
    for k in range(segments):
        rows += [row(k, 0.0, 0), row(k, 1.0, 0)]
        targets += [values[k], values[k + 1]]
        if k:
            rows += [row(k - 1, 1.0, d) - row(k, 0.0, d) for d in (1, 2)]
            targets += [0.0, 0.0]
    rows += [row(0, 0.0, d) for d in (1, 2)] + [row(segments - 1, 1.0, d) for d in (1, 2)]
    targets += [0.0] * 4
    A, zeros = np.array(rows), np.zeros((len(rows), len(rows)))
    system = np.block([[cost, A.T], [A, zeros]])
    solution = np.linalg.lstsq(system, np.concatenate([np.zeros(len(cost)), targets]), rcond=1e-15)[
        0
    ]
    coefficients = solution[: len(cost)]
    assert np.abs(A @ coefficients - targets).max() < 1e-8
    return coefficients.reshape(segments, terms), coefficients @ cost @ coefficients


@pytest.mark.parametrize("seed", range(4))
def test_minimum_jerk_is_what_a_quadratic_program_finds(seed):
    rng = np.random.default_rng(seed)
    times, values = random_knots(rng, 3 + seed)
    curve = MinimumJerk(times, values)
    pieces, least = brute_force(times, values)
    close(jerk_cost(curve, times), least, rtol=1e-7)
    s = np.linspace(0, 1, 9)
    for k, piece in enumerate(pieces):
        t = times[k] + s * (times[k + 1] - times[k])
        close(curve(t), np.polyval(piece[::-1], s), atol=1e-6)


@quick
@given(seeds, st.integers(4, 7), st.floats(0.01, 10))
def test_minimum_jerk_beats_detours_and_scales(seed, count, unit):
    rng = np.random.default_rng(seed)
    times, values = random_knots(rng, count)
    curve = MinimumJerk(times, values)
    # Dropping the demand to pass a knot can only lower the cost; passing elsewhere raises it.
    freed = MinimumJerk(np.delete(times, 1), np.delete(values, 1))
    best = freed(times[1])
    assert jerk_cost(freed, freed.times) <= jerk_cost(curve, times) * (1 + 1e-9)
    through = values.copy()
    through[1] = best
    same = MinimumJerk(times, through)
    t = np.linspace(times[0], times[-1], 40)
    close(same(t), freed(t), atol=1e-9)
    slower = MinimumJerk(unit * times, 2 * values + 1)
    close(slower(unit * t), 2 * curve(t) + 1, atol=1e-9)
    mirrored = MinimumJerk(-times[::-1], values[::-1])
    close(mirrored(-t), curve(t), atol=1e-9)


def test_minimum_jerk_on_wildly_uneven_knots():
    times = np.array([0.0, 1e-3, 1.0, 1.002, 50.0])
    polynomial = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.1, -0.02, 1e-3])
    first, second = polynomial.deriv(1), polynomial.deriv(2)
    curve = MinimumJerk(
        times,
        polynomial(times),
        start_velocity=first(0.0),
        start_acceleration=second(0.0),
        end_velocity=first(50.0),
        end_acceleration=second(50.0),
    )
    # A quintic is its own clamped quintic spline.
    t = np.linspace(0, 50, 101)
    close(curve(t), polynomial(t), rtol=1e-8, atol=1e-5)


def test_rotating_the_values_rotates_the_curves():
    rng = np.random.default_rng(5)
    times, values = random_knots(rng, 6, (3,))
    R = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    t = inside(rng, times)
    for make in (CubicHermite.through, MinimumJerk):
        moved = make(times, values @ R.T + [1.0, 2.0, 3.0])
        expected = make(times, values)(t) @ R.T + [1.0, 2.0, 3.0]
        close(moved(t), expected, atol=1e-12)


@pytest.mark.parametrize("make", [CubicHermite.through, MinimumJerk])
def test_batches_equal_loops_and_shapes(make):
    rng = np.random.default_rng(6)
    times, values = random_knots(rng, 5, (2, 3))
    curve = make(times, values)
    t = inside(rng, times, 12)[:6].reshape(2, 3)
    whole = curve(t, 1)
    assert whole.shape == (2, 3, 2, 3)
    for i in np.ndindex(2, 3):
        close(whole[i], curve(t[i], 1), atol=1e-14)
    for i in np.ndindex(2, 3):
        alone = make(times, values[:, i[0], i[1]])
        assert alone(t[0, 0]).shape == ()
        close(alone(t), curve(t)[..., i[0], i[1]], atol=1e-12)
    assert curve([]).shape == (0, 2, 3)


@pytest.mark.parametrize("make", [CubicHermite.through, MinimumJerk])
def test_outside_raises_or_holds(make):
    times, values = np.array([0.0, 0.5, 2.0]), np.array([[1.0], [2.0], [5.0]])
    with pytest.raises(InvalidValueError, match=r't\[1\] is 2\.5 s; expected 0 to 2 s.*"hold"'):
        make(times, values)([1.0, 2.5])
    with pytest.raises(InvalidValueError, match=r"t is -0\.001 s"):
        make(times, values)(-1e-3)
    # A grid made by adding steps misses the end by rounding.
    close(make(times, values)(2.0 + 1e-12), 5.0, atol=1e-14)
    held = make(times, values, extrapolate="hold")
    t = np.array([-1e6, -1.0, 0.0, 2.0, 3.0, np.inf])
    close(held(t)[:, 0], [1, 1, 1, 5, 5, 5], atol=1e-14)
    for order in (1, 2, 3):
        np.testing.assert_array_equal(held(t, order)[[0, 1, 4, 5]], 0.0)
    np.testing.assert_array_equal(held(0.7, 2), make(times, values)(0.7, 2))
    with pytest.raises(InvalidValueError, match=r"t is nan s; expected 0 to 2 s"):
        held(np.nan)


@pytest.mark.parametrize("make", [CubicHermite.through, MinimumJerk])
def test_knot_error_texts(make, user_view):
    with pytest.raises(InvalidValueError, match=r"times\[2\] = 1 s does not come after times\[1\]"):
        make([0.0, 2.0, 1.0], np.zeros(3))
    with pytest.raises(InvalidValueError, match=r"expected increasing times.*drop repeated"):
        make([0.0, 1.0, 1.0], np.zeros(3))
    with pytest.raises(InvalidValueError, match=r"times\[1\] is nan; expected finite seconds"):
        make([0.0, np.nan, 1.0], np.zeros(3))
    with pytest.raises(InvalidValueError, match=r"values\[2, 1\] is nan; expected finite"):
        make([0.0, 1.0, 2.0], [[0, 0], [0, 0], [0, np.nan]])
    with pytest.raises(InvalidValueError, match=r"values have shape \(2,\) for 3 times"):
        make([0.0, 1.0, 2.0], np.zeros(2))
    with pytest.raises(InvalidValueError, match=r"times have shape \(1,\).*at least two knots"):
        make([0.0], np.zeros(1))
    with pytest.raises(UnknownNameError, match=r"extrapolation 'holds'\. Did you mean 'hold'"):
        make([0.0, 1.0], np.zeros(2), extrapolate="holds")
    with pytest.raises(InvalidValueError, match=r"derivative is 6; expected 0 to [35]"):
        make([0.0, 1.0], np.zeros(2))(0.5, 6)
    with pytest.raises(InvalidValueError, match=r"derivative is -1"):
        make([0.0, 1.0], np.zeros(2))(0.5, -1)


def test_other_error_texts_and_read_only_arrays(user_view):
    with pytest.raises(InvalidValueError, match=r"slopes have shape \(2, 2\) and values \(2, 3\)"):
        CubicHermite([0.0, 1.0], np.zeros((2, 3)), np.zeros((2, 2)))
    with pytest.raises(InvalidValueError, match=r"end_velocity has shape \(2,\); expected \(3,\)"):
        MinimumJerk([0.0, 1.0], np.zeros((2, 3)), end_velocity=[0.0, 1.0])
    with pytest.raises(InvalidValueError, match=r"start_acceleration is .*nan"):
        MinimumJerk([0.0, 1.0], np.zeros((2, 3)), start_acceleration=np.nan)
    values = np.zeros((3, 2))
    curve = MinimumJerk([0.0, 1.0, 2.0], values)
    values[1] = 7.0
    np.testing.assert_array_equal(curve.values, 0.0)
    for array in (curve.times, curve.values, curve.velocities, curve.accelerations):
        assert not array.flags.writeable
    hermite = CubicHermite.through([0.0, 1.0], [1.0, 2.0])
    assert not hermite.slopes.flags.writeable
