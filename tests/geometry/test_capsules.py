"""Points, segments and capsules against brute force and a general minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from handwright.geometry import (
    capsule_capsule,
    capsule_pairs,
    point_segment,
    segment_segment,
    tapered_capsule_capsule,
)

coordinate = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 0.5]), st.floats(-2.0, 2.0))
point = st.tuples(coordinate, coordinate, coordinate).map(np.array)
radius = st.floats(0.0, 1.5)


def gap_at(s, t, p0, p1, rp, q0, q1, rq):
    apart = (p0 + s * (p1 - p0)) - (q0 + t * (q1 - q0))
    radii = rp[0] + s * (rp[1] - rp[0]) + rq[0] + t * (rq[1] - rq[0])
    return np.linalg.norm(apart, axis=-1) - np.squeeze(radii)


def brute_force(*args):
    """Least gap on ever finer squares of parameters around the best; the gap is convex."""
    low, high = np.zeros(2), np.ones(2)
    for _ in range(12):
        s, t = np.meshgrid(*np.linspace(low, high, 17).T, indexing="ij")
        gaps = gap_at(s[..., None], t[..., None], *args)
        i, j = np.unravel_index(gaps.argmin(), gaps.shape)
        best = np.array([s[i, j], t[i, j]])
        reach = (high - low) / 4
        low, high = np.maximum(best - reach, 0), np.minimum(best + reach, 1)
    return gaps.min()


@given(point, point, point)
@settings(max_examples=150, deadline=None)
def test_point_segment(x, p0, p1):
    distance, s = point_segment(x, p0, p1)
    assert 0.0 <= s <= 1.0
    assert distance == pytest.approx(np.linalg.norm(x - p0 - s * (p1 - p0)), abs=1e-12)
    dense = np.linspace(0, 1, 1001)[:, None]
    sampled = np.linalg.norm(x - p0 - dense * (p1 - p0), axis=1).min()
    assert sampled - np.linalg.norm(p1 - p0) / 1000 <= distance <= sampled + 1e-12


def check(args, gap, s, t):
    assert 0.0 <= s <= 1.0
    assert 0.0 <= t <= 1.0
    assert gap == pytest.approx(float(gap_at(s, t, *args)), abs=1e-12)
    assert gap <= brute_force(*args) + 1e-9


@given(point, point, point, point)
@settings(max_examples=150, deadline=None)
def test_segment_segment(p0, p1, q0, q1):
    distance, s, t = segment_segment(p0, p1, q0, q1)
    check((p0, p1, (0, 0), q0, q1, (0, 0)), distance, s, t)
    # The order of the segments, and of their ends, does not matter.
    assert segment_segment(q1, q0, p1, p0)[0] == pytest.approx(distance, abs=1e-9)


@given(point, point, st.floats(-2, 2), st.floats(-2, 2), point, st.sampled_from([0, 1e-13, 1e-7]))
@settings(max_examples=100, deadline=None)
def test_parallel_and_nearly_parallel_segments(p0, p1, start, length, offset, skew):
    q0 = p0 + start * (p1 - p0) + offset
    q1 = q0 + length * (p1 - p0) + skew * np.array([0.3, -0.7, 0.5])
    distance, s, t = segment_segment(p0, p1, q0, q1)
    check((p0, p1, (0, 0), q0, q1, (0, 0)), distance, s, t)


@given(point, point, radius, point, point, radius)
@settings(max_examples=100, deadline=None)
def test_capsule_capsule(p0, p1, rp, q0, q1, rq):
    gap, s, t = capsule_capsule(p0, p1, rp, q0, q1, rq)
    distance, s_bare, t_bare = segment_segment(p0, p1, q0, q1)
    assert (s, t) == (s_bare, t_bare)
    assert gap == pytest.approx(distance - rp - rq, abs=1e-12)
    assert tapered_capsule_capsule(p0, p1, rp, rp, q0, q1, rq, rq)[0] == pytest.approx(gap)


@given(point, point, radius, radius, point, point, radius, radius)
@settings(max_examples=200, deadline=None)
def test_tapered_capsules(p0, p1, rp0, rp1, q0, q1, rq0, rq1):
    gap, s, t = tapered_capsule_capsule(p0, p1, rp0, rp1, q0, q1, rq0, rq1)
    check((p0, p1, (rp0, rp1), q0, q1, (rq0, rq1)), gap, s, t)


def test_tapered_capsules_against_a_minimiser():
    rng = np.random.default_rng(5)
    for _ in range(60):
        p0, p1, q0, q1 = rng.normal(size=(4, 3))
        rp, rq = rng.uniform(0.1, 0.6, size=(2, 2))
        gap, *_ = tapered_capsule_capsule(p0, p1, *rp, q0, q1, *rq)
        args = (p0, p1, rp, q0, q1, rq)
        found = min(
            minimize(
                lambda x, args=args: float(gap_at(x[0], x[1], *args)),
                start,
                bounds=[(0, 1), (0, 1)],
                method="L-BFGS-B",
                options={"ftol": 1e-15, "gtol": 1e-10},
            ).fun
            for start in ([0.5, 0.5], [0.1, 0.9], [0.9, 0.1])
        )
        assert gap == pytest.approx(found, abs=1e-6)
        assert gap <= found + 1e-10


def test_negative_gap_is_the_shift_that_parts_capsules():
    p0, p1, q0, q1 = np.array([[-1.0, 0, 0], [1, 0, 0], [0, -1, 0.3], [0, 1, 0.3]])
    gap, *_ = tapered_capsule_capsule(p0, p1, 0.2, 0.3, q0, q1, 0.4, 0.4)
    assert gap < 0
    rest = p0 + np.array([0, 0, gap]), p1 + np.array([0, 0, gap])
    assert tapered_capsule_capsule(*rest, 0.2, 0.3, q0, q1, 0.4, 0.4)[0] >= -0.02
    less = p0 + np.array([0, 0, 0.9 * gap]), p1 + np.array([0, 0, 0.9 * gap])
    assert tapered_capsule_capsule(*less, 0.2, 0.3, q0, q1, 0.4, 0.4)[0] < 0


def test_pairs_agree_with_single_calls():
    rng = np.random.default_rng(6)
    starts, ends = rng.normal(size=(2, 12, 3))
    radii = rng.uniform(0.05, 0.4, size=(12, 2))
    pairs = np.array([(i, j) for i in range(12) for j in range(i + 1, 12)])
    gaps, parameters = np.zeros(len(pairs)), np.zeros((len(pairs), 2))
    capsule_pairs(starts, ends, radii, pairs, gaps, parameters)
    for (i, j), gap, (s, t) in zip(pairs, gaps, parameters, strict=True):
        single = tapered_capsule_capsule(
            starts[i], ends[i], *radii[i], starts[j], ends[j], *radii[j]
        )
        assert single == (gap, s, t)
