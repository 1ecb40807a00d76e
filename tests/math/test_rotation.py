from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from scipy.stats import kstest

from handwright.errors import InvalidValueError
from handwright.math import rotation

quick = settings(deadline=None, max_examples=35)
# Absolute, because numpy's default relative tolerance would hide most faults.
close = partial(np.testing.assert_allclose, rtol=0)

EPS = np.finfo(np.float64).eps
seeds = st.integers(0, 2**32 - 1)
small = st.floats(-12, -4).map(lambda exponent: 10.0**exponent)
lengths = st.one_of(
    st.floats(0.0, np.pi - 1e-4), small, small.map(lambda gap: np.pi - gap), st.just(0.0)
)


@st.composite
def axes(draw):
    v = np.random.default_rng(draw(seeds)).standard_normal(3)
    # Coordinate axes and near-planar ones are where choices of branch go wrong.
    v = v * draw(st.sampled_from([(1, 1, 1), (1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 1e-9, -1)]))
    return v / np.linalg.norm(v)


@st.composite
def rotvecs(draw):
    return draw(axes()) * draw(lengths)


@st.composite
def quaternions(draw):
    q = np.random.default_rng(draw(seeds)).standard_normal(4)
    kind = draw(st.sampled_from(["uniform", "identity", "half turn"]))
    if kind != "uniform":
        half = 0.5 * draw(small)
        near, far = (np.cos(half), np.sin(half)) if kind == "identity" else (np.sin(half), 1.0)
        q = np.concatenate([[near], far * draw(axes())])
    return draw(st.sampled_from([1.0, -1.0])) * q / np.linalg.norm(q)


def scipy_rotation(q):
    return Rotation.from_quat(np.asarray(q), scalar_first=True)


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def same_rotation(a, b, atol=1e-14):
    return np.all(np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1)) <= atol)


@quick
@given(quaternions(), quaternions(), quaternions(), seeds)
def test_group_axioms_and_action(a, b, c, seed):
    v = np.random.default_rng(seed).standard_normal(3)
    one = np.array([1.0, 0, 0, 0])
    left = rotation.multiply(rotation.multiply(a, b), c)
    close(left, rotation.multiply(a, rotation.multiply(b, c)), atol=1e-15 * 4)
    np.testing.assert_array_equal(rotation.multiply(a, one), a)
    np.testing.assert_array_equal(rotation.multiply(one, a), a)
    close(rotation.multiply(a, rotation.conjugate(a)), one, atol=4 * EPS)
    close(np.linalg.norm(left), 1.0, atol=8 * EPS)
    two_steps = rotation.rotate(a, rotation.rotate(b, v))
    close(rotation.rotate(rotation.multiply(a, b), v), two_steps, atol=1e-14)
    close(rotation.rotate(-a, v), rotation.rotate(a, v), atol=1e-14)


@quick
@given(quaternions(), quaternions(), seeds)
def test_agrees_with_scipy(a, b, seed):
    v = np.random.default_rng(seed).standard_normal(3)
    peer = scipy_rotation(a) * scipy_rotation(b)
    q = rotation.multiply(a, b)
    close(rotation.rotate(q, v), peer.apply(v), atol=1e-14)
    close(rotation.to_matrix(q), peer.as_matrix(), atol=1e-14)


@quick
@given(rotvecs())
def test_exp_is_the_matrix_exponential(r):
    close(rotation.to_matrix(rotation.exp(r)), expm(skew(r)), atol=1e-13)


@quick
@given(rotvecs())
def test_log_undoes_exp(r):
    size = np.linalg.norm(r)
    error = np.linalg.norm(rotation.log(rotation.exp(r)) - r)
    # Relative, so that near the identity as many digits survive as elsewhere.
    assert error <= 4 * EPS * size


@quick
@given(quaternions())
def test_exp_undoes_log_for_both_signs(q):
    r = rotation.log(q)
    assert np.linalg.norm(r) <= np.pi * (1 + EPS)
    np.testing.assert_array_equal(r, rotation.log(-q))
    assert same_rotation(rotation.exp(r), q, atol=4 * EPS)


@quick
@given(axes(), small)
def test_log_near_half_turn_keeps_the_gap(axis, gap):
    q = np.concatenate([[np.sin(gap / 2)], np.cos(gap / 2) * axis])
    for sign, turn in ((1.0, np.pi - gap), (-1.0, np.pi - gap)):
        r = rotation.log(sign * q)
        close(np.linalg.norm(r), turn, rtol=3 * EPS)
        close(r, turn * axis, atol=1e-14)


def test_log_at_exact_special_places():
    np.testing.assert_array_equal(rotation.log(np.array([-1.0, 0, 0, 0])), np.zeros(3))
    for axis in np.eye(3):
        for sign in (1.0, -1.0):
            q = np.concatenate([[sign * 0.0], sign * axis])
            close(rotation.log(q), np.pi * axis, rtol=EPS, atol=0)
    tiny = np.array([3e-200, -4e-200, 0])
    np.testing.assert_array_equal(rotation.log(rotation.exp(tiny)), tiny)
    np.testing.assert_array_equal(rotation.exp(np.zeros(3)), [1, 0, 0, 0])


@quick
@given(quaternions())
def test_matrix_round_trip(q):
    back = rotation.from_matrix(rotation.to_matrix(q))
    assert back[0] >= 0
    assert same_rotation(back, q, atol=1e-15)


@quick
@given(quaternions(), quaternions(), st.floats(0, 1), small)
def test_slerp_moves_at_constant_speed(a, b, t, gap):
    for end in (b, rotation.multiply(a, rotation.exp(np.array([gap, 0, 0]))), -a):
        whole = rotation.angle(a, end)
        if whole > np.pi - 1e-13:
            continue  # No shortest path.
        middle = rotation.slerp(a, end, t)
        close(np.linalg.norm(middle), 1.0, atol=8 * EPS)
        close(rotation.angle(a, middle), t * whole, atol=1e-15 * 4)
        close(rotation.angle(middle, end), (1 - t) * whole, atol=1e-15 * 4)
        assert same_rotation(rotation.slerp(end, a, 1 - t), middle, atol=2e-15)
        close(rotation.slerp(a, -end, t), middle, atol=1e-15)


def test_slerp_of_nearly_equal_keeps_relative_accuracy():
    a, gap = rotation.exp(np.array([0.3, -1.2, 0.7])), 1e-9
    b = rotation.multiply(a, rotation.exp(np.array([0, gap, 0])))
    for t in (0.125, 0.5, 0.875):
        close(rotation.angle(a, rotation.slerp(a, b, t)), t * gap, rtol=1e-6)


@quick
@given(quaternions(), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.floats(-5, 5))
def test_6d_round_trip_and_gram_schmidt(q, first, second, lean):
    x = rotation.to_6d(q)
    R = scipy_rotation(q).as_matrix()
    close(x, np.concatenate([R[:, 0], R[:, 1]]), atol=1e-14)
    # Scale and lean towards the first column are what Gram-Schmidt removes.
    skewed = np.concatenate([first * x[:3], second * (x[3:] + lean * x[:3])])
    assert same_rotation(rotation.from_6d(skewed), q, atol=1e-14)


@quick
@given(seeds, small, small)
def test_6d_of_nearly_parallel_columns_is_still_a_rotation(seed, gap, size):
    a, b, normal = rotation.to_matrix(rotation.random(np.random.default_rng(seed))).T
    gap = max(gap, 1e-7)
    R = rotation.to_matrix(rotation.from_6d(size * np.concatenate([a, a + gap * b])))
    close(R.T @ R, np.eye(3), atol=1e-14)
    close(R[:, 0], a, atol=1e-14)
    assert abs(R[:, 1] @ normal) < 1e-15 / gap


@quick
@given(axes(), axes(), small, st.sampled_from(["any", "near", "opposite", "equal", "exact"]))
def test_between_is_the_smallest_rotation(u, other, gap, kind):
    step = gap * np.cross(u, other)
    v = {"any": other, "near": u + step, "opposite": step - u, "equal": u, "exact": -u}[kind]
    q = rotation.between(3.0 * u, 1e-4 * v)
    v = v / np.linalg.norm(v)
    close(rotation.rotate(q, u), v, atol=1e-15 * 3)
    assert abs(q[1:] @ u) < 4 * EPS  # An axis across u: nothing is turned in vain.
    assert q[0] >= 0
    separation = 2 * np.arctan2(np.linalg.norm(v - u), np.linalg.norm(v + u))
    close(rotation.angle(q, np.array([1.0, 0, 0, 0])), separation, atol=1e-14)
    if kind == "equal":
        close(q, [1, 0, 0, 0], atol=EPS)


@quick
@given(quaternions(), quaternions(), quaternions(), small)
def test_angle_is_a_bi_invariant_distance(a, b, g, gap):
    d = rotation.angle(a, b)
    assert 0 <= d <= np.pi * (1 + EPS)
    peer = (scipy_rotation(a).inv() * scipy_rotation(b)).magnitude()
    close(d, peer, atol=1e-15)
    for x, y in (
        (b, a),
        (a, -b),
        (rotation.multiply(g, a), rotation.multiply(g, b)),
        (rotation.multiply(a, g), rotation.multiply(b, g)),
    ):
        close(rotation.angle(x, y), d, atol=2e-15)
    assert d <= rotation.angle(a, g) + rotation.angle(g, b) + 1e-14
    one = np.array([1.0, 0, 0, 0])
    turn = rotation.angle(one, rotation.exp(np.array([0, 0, gap])))
    close(turn, gap, rtol=4 * EPS)


@quick
@given(axes(), st.floats(-20, 20), st.floats(1e-6, 1e6))
def test_from_axis_angle_ignores_the_length_of_the_axis(axis, turn, length):
    peer = Rotation.from_rotvec(axis * turn).as_matrix()
    R = rotation.to_matrix(rotation.from_axis_angle(length * axis, turn))
    close(R, peer, atol=1e-13)


def test_random_is_uniform_and_reproducible():
    q = rotation.random(np.random.default_rng(7), (4, 5000))
    assert q.shape == (4, 5000, 4)
    assert rotation.random(np.random.default_rng(7), 3).shape == (3, 4)
    assert rotation.random(np.random.default_rng(7)).shape == (4,)
    np.testing.assert_array_equal(q, rotation.random(np.random.default_rng(7), (4, 5000)))
    close(np.linalg.norm(q, axis=-1), 1.0, atol=4 * EPS)
    # Under the uniform measure the angle has distribution (t - sin t) / pi; so it has after any
    # fixed rotation.
    for fixed in (np.array([1.0, 0, 0, 0]), rotation.exp(np.array([1.0, 2.0, -0.5]))):
        turn = rotation.angle(fixed, q.reshape(-1, 4))
        assert kstest(turn, lambda t: (t - np.sin(t)) / np.pi).pvalue > 1e-3


@quick
@given(rotvecs(), st.floats(1.0, 1.9), seeds)
def test_left_jacobian_integrates_the_exponential(r, stretch, seed):
    r = stretch * r
    nodes, weights = np.polynomial.legendre.leggauss(24)
    turns = Rotation.from_rotvec(np.outer(0.5 * nodes + 0.5, r)).as_matrix()
    J = rotation.left_jacobian(r)
    close(J, np.einsum("n,nij->ij", 0.5 * weights, turns), atol=1e-14)
    close(J @ r, r, atol=1e-14)
    inverse = rotation.left_jacobian_inverse(r)
    close(inverse @ J, np.eye(3), atol=1e-13)
    d = np.random.default_rng(seed).standard_normal(3)
    e = 1e-6
    q_plus, q_minus = rotation.exp(r + e * d), rotation.exp(r - e * d)
    difference = rotation.log(rotation.multiply(q_plus, rotation.conjugate(q_minus))) / (2 * e)
    close(J @ d, difference, atol=1e-8)
    J_plus, J_minus = rotation.left_jacobian(r + e * d), rotation.left_jacobian(r - e * d)
    rate = rotation.left_jacobian_rate(r, d)
    close(rate, (J_plus - J_minus) / (2 * e), atol=1e-8)


@pytest.mark.parametrize("radius", [0.5, 1.0])
def test_series_and_closed_form_meet(radius):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    d = np.array([0.3, 0.9, -0.4])
    below, above = axis * (radius - 1e-12), axis * (radius + 1e-12)
    for f in (
        rotation.left_jacobian,
        rotation.left_jacobian_inverse,
        lambda r: rotation.left_jacobian_rate(r, d),
    ):
        close(f(below), f(above), atol=5e-12)


def test_left_jacobian_inverse_names_a_full_turn():
    r = np.array([[0.1, 0, 0], [0, 2 * np.pi, 0]])
    with pytest.raises(InvalidValueError, match=r"rotvec\[1\] has length 6\.28.*full turn.*2 pi"):
        rotation.left_jacobian_inverse(r)


@quick
@given(quaternions(), quaternions(), rotvecs(), st.floats(0, 1))
def test_mirror_equivariance(a, b, r, t):
    # Reflecting space in the plane x = 0 keeps w and x of a quaternion, and flips y and z.
    q_mirror, v_mirror = np.array([1.0, 1, -1, -1]), np.array([-1.0, 1, 1])
    np.testing.assert_array_equal(
        rotation.multiply(q_mirror * a, q_mirror * b), q_mirror * rotation.multiply(a, b)
    )
    np.testing.assert_array_equal(rotation.exp(-v_mirror * r), q_mirror * rotation.exp(r))
    close(rotation.rotate(q_mirror * a, v_mirror * r), v_mirror * rotation.rotate(a, r), atol=1e-15)
    mirrored = rotation.slerp(q_mirror * a, q_mirror * b, t)
    if rotation.angle(a, b) < np.pi - 1e-13:
        close(mirrored, q_mirror * rotation.slerp(a, b, t), atol=1e-15)


def test_batches_equal_loops_and_broadcast():
    rng = np.random.default_rng(3)
    a, b = rotation.random(rng, (2, 3)), rotation.random(rng, (3,))
    u, v, t = rng.standard_normal((2, 3, 3)), rng.standard_normal((3, 3)), rng.random((2, 3))
    # A batch that mixes the branches of every function.
    a[0, 0], a[0, 1] = [1, 0, 0, 0], [0, 0, 1, 0]
    u[0, 0], u[0, 1], u[0, 2] = 0.0, [0, 0, 1e-9], -v[2]
    unary = [rotation.normalize, rotation.conjugate, rotation.log, rotation.to_matrix]
    unary += [rotation.to_6d, lambda q: rotation.from_matrix(rotation.to_matrix(q))]
    unary += [lambda q: rotation.from_6d(rotation.to_6d(q))]
    for f in unary:
        whole = f(a)
        for i in np.ndindex(2, 3):
            close(whole[i], f(a[i]), atol=1e-16)
    for f in (rotation.exp, rotation.left_jacobian, rotation.left_jacobian_inverse):
        whole = f(u)
        for i in np.ndindex(2, 3):
            close(whole[i], f(u[i]), atol=1e-15)
    for f, x, y in (
        (rotation.multiply, a, b),
        (rotation.rotate, a, v),
        (rotation.angle, a, b),
        (rotation.between, u + 0.0 * t[..., None] + [0, 0, 1e-300], v),
        (rotation.from_axis_angle, v, t),
        (rotation.left_jacobian_rate, u, v),
        (lambda p, s: rotation.slerp(p, b[0], s), a, t),
    ):
        whole = f(x, y)
        for i in np.ndindex(2, 3):
            one = f(x[i] if len(x) == 2 else x[i[1]], y[i] if len(y) == 2 else y[i[1]])
            close(whole[i], one, atol=1e-15)


def test_normalize_survives_extreme_sizes():
    q = np.array([3.0, -4.0, 0.0, 12.0])
    for size in (1e-310, 1e-200, 1.0, 1e200, 1e307):
        close(rotation.normalize(size * q), q / 13.0, rtol=1e-14)


def test_error_texts(user_view):
    ok = np.array([1.0, 0, 0, 0])
    with pytest.raises(InvalidValueError, match=r"q\[1\] is \[0\. 0\. 0\. 0\.\].*not all zero"):
        rotation.normalize(np.array([ok, 0 * ok]))
    with pytest.raises(InvalidValueError, match=r"q is \[nan.*finite"):
        rotation.normalize(ok * np.nan)
    with pytest.raises(
        InvalidValueError, match=r"b has shape \(3,\); expected \(\.\.\., 4\).*w, x"
    ):
        rotation.multiply(ok, np.zeros(3))
    with pytest.raises(InvalidValueError, match=r"v has shape \(\); expected \(\.\.\., 3\)"):
        rotation.rotate(ok, 1.0)
    with pytest.raises(InvalidValueError, match=r"R has shape \(3,\); expected \(\.\.\., 3, 3\)"):
        rotation.from_matrix(np.zeros(3))
    mirror = np.stack([np.eye(3), np.diag([1.0, 1, -1])])
    with pytest.raises(InvalidValueError, match=r"R\[1\] is not a rotation.*determinant -1"):
        rotation.from_matrix(mirror)
    with pytest.raises(InvalidValueError, match=r"R is not a rotation.*= 3, .*scale"):
        rotation.from_matrix(2 * np.eye(3))
    with pytest.raises(InvalidValueError, match="R is not a rotation"):
        rotation.from_matrix(np.full((3, 3), np.nan))
    with pytest.raises(InvalidValueError, match=r"axis is \[0\. 0\. 0\.\].*not zero"):
        rotation.from_axis_angle([0, 0, 0], 1.0)
    with pytest.raises(InvalidValueError, match=r"first column.*is \[0\. 0\. 0\.\]"):
        rotation.from_6d([0, 0, 0, 1, 0, 0])
    with pytest.raises(InvalidValueError, match=r"x\[0\] is .*parallel.*independent"):
        rotation.from_6d([[1, 2, 3, -2, -4, -6]])
    with pytest.raises(InvalidValueError, match=r"Direction v is \[inf"):
        rotation.between([0, 0, 1], [np.inf, 0, 0])
