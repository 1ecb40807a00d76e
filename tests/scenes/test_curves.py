"""Building blocks of the tracks."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.math import rotation
from tools.scenes.curves import Phase, aimed, phases, ramp, turn_about, variation, window

spans = st.tuples(st.integers(0, 20), st.integers(8, 40), st.floats(-0.6, 0.6))


@settings(deadline=None)
@given(spans)
def test_a_ramp_rises_from_rest_to_rest(span):
    start, length, skew = span
    value = ramp(80, start, start + length, skew)
    assert np.all(value[: start + 1] == 0.0)
    assert np.all(value[start + length :] == 1.0)
    assert np.all(np.diff(value) >= 0.0)
    # Minimum jerk: value, velocity and acceleration vanish at the ends, so the first steps are
    # of third order in time, whatever the skew.
    fine = ramp(80_001, 1000.0 * start, 1000.0 * (start + length), skew)
    step = fine[1000 * start + 10] - fine[1000 * start]
    assert step < 10.0 * (1.6 * 10.0 / (1000.0 * length)) ** 3 + 1e-15


def test_an_even_ramp_is_the_minimum_jerk_polynomial():
    s = np.linspace(0.0, 1.0, 31)
    assert np.allclose(ramp(31, 0, 30), 10 * s**3 - 15 * s**4 + 6 * s**5, atol=1e-15)


def test_skew_moves_the_fastest_moment():
    fastest = [np.diff(ramp(200, 0, 199, skew)).argmax() for skew in (0.5, 0.0, -0.5)]
    assert fastest[0] < fastest[1] < fastest[2]


def test_phases_add_up_and_windows_close():
    value = phases(60, Phase(5, 20, 2.0), Phase(15, 40, -0.5), start=1.0)
    assert value[0] == 1.0
    assert abs(value[-1] - 2.5) < 1e-12
    opened = window(60, 10, 50, 8)
    assert np.all(opened[:11] == 0.0)
    assert np.all(opened[50:] == 0.0)
    assert np.all(opened[18:43] == 1.0)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_variation_is_slow_and_bounded(seed):
    value = variation(np.random.default_rng(seed), 600, 0.01)
    assert np.abs(value).max() <= 0.01
    power = np.abs(np.fft.rfft(value * np.hanning(600))) ** 2
    hertz = np.fft.rfftfreq(600, 1.0 / 30.0)
    assert power[hertz > 3.0].sum() < 1e-3 * power.sum()


def test_turns_about_a_point_leave_it_where_it_is():
    rng = np.random.default_rng(3)
    pivot = rng.standard_normal(3)
    turned = turn_about(pivot, rng.uniform(-90.0, 90.0, (7, 3)))
    assert np.abs(turned.apply(pivot) - pivot).max() < 1e-12


def test_aim_has_the_angles_it_was_given():
    wxyz = aimed(np.array([30.0]), np.array([20.0]), np.array([50.0]))
    x = rotation.rotate(wxyz, np.array([1.0, 0.0, 0.0]))[0]
    assert np.isclose(np.degrees(np.arctan2(x[1], x[0])), 30.0)
    assert np.isclose(np.degrees(np.arcsin(-x[2])), 20.0)
    level = aimed(np.array([30.0]), np.array([20.0]), np.array([0.0]))
    assert np.isclose(np.degrees(rotation.angle(wxyz, level)[0]), 50.0)
