"""Banded quadratic problems inside a box, against dense solvers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from handwright.kinematics.spacetime.band import bounded_step, make_band


def random_band(rng, size, width):
    """A positive definite problem of a given width."""
    root = np.triu(rng.normal(size=(size, size)))
    root[np.triu_indices(size, width + 1)] = 0.0
    A = root @ root.T + 0.05 * np.eye(size)
    # U U' of an upper band is a band of the same width.
    band = make_band(size, width)
    for k in range(min(width + 1, size)):
        band.matrix[: size - k, k] = np.diagonal(A, k)
    band.gradient[:] = rng.normal(size=size)
    band.low[:], band.high[:] = -np.inf, np.inf
    return band, A


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 14))
def test_a_step_without_bounds_solves_the_linear_system(seed, size, width):
    band, A = random_band(np.random.default_rng(seed), size, width)
    promise, is_exact, rounds = bounded_step(band, size, 0.0, 10)
    expected = np.linalg.solve(A, -band.gradient)
    np.testing.assert_allclose(band.step[:size], expected, rtol=1e-6, atol=1e-9)
    assert is_exact
    assert rounds == 1
    assert promise == pytest.approx(-band.gradient @ expected, rel=1e-6)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 14), st.floats(0.0, 1.0))
def test_a_bounded_step_is_the_optimum_of_another_solver(seed, size, width, damping):
    rng = np.random.default_rng(seed)
    band, A = random_band(rng, size, width)
    band.low[:], band.high[:] = -rng.exponential(0.3, size), rng.exponential(0.3, size)
    fixed = rng.random(size) < 0.1
    band.low[fixed] = band.high[fixed] = 0.0
    band.held[:] = rng.integers(-1, 2, size)
    promise, is_exact, _ = bounded_step(band, size, damping, 10000)
    step = band.step[:size]
    assert is_exact
    assert np.all((step >= band.low) & (step <= band.high))
    damped = A + damping * np.diag(np.diag(A))
    slope = band.gradient + damped @ step
    scale = np.abs(damped).max()
    free = (step > band.low) & (step < band.high)
    assert np.all(np.abs(slope[free]) < 1e-8 * scale)
    assert np.all(slope[~fixed & (step == band.low)] > -1e-8 * scale)
    assert np.all(slope[~fixed & (step == band.high)] < 1e-8 * scale)
    assert promise == pytest.approx(-2.0 * band.gradient @ step - step @ A @ step, abs=1e-9)
    # And by value against a solver that knows nothing of bands.
    L = np.linalg.cholesky(damped)
    low, high = np.where(fixed, -1e-12, band.low), np.where(fixed, 1e-12, band.high)
    other = lsq_linear(L.T, -np.linalg.solve(L, band.gradient), (low, high), tol=1e-14)
    value = step @ damped @ step + 2.0 * band.gradient @ step
    best = other.x @ damped @ other.x + 2.0 * band.gradient @ other.x
    assert value <= best + 1e-7 * (1.0 + abs(best))


def test_a_step_cut_short_stays_within_its_bounds():
    rng = np.random.default_rng(5)
    band, _ = random_band(rng, 60, 12)
    band.low[:], band.high[:] = -0.01, 0.02
    _, is_exact, rounds = bounded_step(band, 60, 0.0, 1)
    assert (is_exact, rounds) == (False, 1)
    assert np.all((band.step[:60] >= -0.01) & (band.step[:60] <= 0.02))
