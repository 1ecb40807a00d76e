"""Rotations as unit quaternions ``wxyz``, batched over leading axes.

Functions trust that quaternions are unit (``Pose`` validates at the edge; ``normalize`` makes
them so) and broadcast leading axes as numpy does. A rotation vector is axis times angle, in
radians. Products read right to left: ``rotate(multiply(a, b), v) == rotate(a, rotate(b, v))``.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from handwright.errors import InvalidValueError

Array = np.ndarray

# Largest |R^T R - I| that still counts as a rotation matrix: room for float32 files.
MATRIX_TOLERANCE = 1e-5
# Below this ratio two directions span no plane; above it float64 leaves half its digits.
DEGENERATE_RATIO = 1e-8


def normalize(q: Float[Array, "*batch 4"]) -> Float[Array, "*batch 4"]:
    """Scales quaternions to unit norm; zero or non-finite ones are an error."""
    q = _components(q, 4, "q")
    size = np.max(np.abs(q), axis=-1, keepdims=True)
    bad = ~(np.isfinite(size[..., 0]) & (size[..., 0] > 0))
    if bad.any():
        raise InvalidValueError(
            f"Quaternion q{first_index(bad)} is {q[bad][0]}; expected four finite numbers, "
            "not all zero. Replace that sample, for example by its neighbour or (1, 0, 0, 0)."
        )
    # The largest component first, so that squares neither overflow nor vanish.
    q = q / size
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def multiply(a: Float[Array, "... 4"], b: Float[Array, "... 4"]) -> Float[Array, "... 4"]:
    """Composes rotations: first ``b``, then ``a``."""
    aw, ax, ay, az = _split(_components(a, 4, "a"))
    bw, bx, by, bz = _split(_components(b, 4, "b"))
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugate(q: Float[Array, "*batch 4"]) -> Float[Array, "*batch 4"]:
    """Inverts unit quaternions."""
    return _components(q, 4, "q") * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q: Float[Array, "... 4"], v: ArrayLike) -> Float[Array, "... 3"]:
    """Turns vectors ``v`` (..., 3) by rotations ``q`` (..., 4)."""
    q, v = _components(q, 4, "q"), _components(v, 3, "v")
    twice = 2.0 * _cross(q[..., 1:], v)
    return v + q[..., :1] * twice + _cross(q[..., 1:], twice)


def exp(rotvec: ArrayLike) -> Float[Array, "... 4"]:
    """Quaternion of a rotation vector (..., 3) in radians, of any length."""
    rotvec = _components(rotvec, 3, "rotvec")
    theta = np.linalg.norm(rotvec, axis=-1, keepdims=True)
    # sin(x)/x holds all its digits for every x > 0, so only zero itself is special.
    positive = np.where(theta > 0, theta, 1.0)
    scale = np.where(theta > 0, np.sin(0.5 * theta) / positive, 0.5)
    return np.concatenate([np.cos(0.5 * theta), scale * rotvec], axis=-1)


def log(q: Float[Array, "*batch 4"]) -> Float[Array, "*batch 3"]:
    """Shortest rotation vector of ``q``, at most pi long; ``q`` and ``-q`` give the same one.

    At exactly a half turn both directions are shortest; the one whose first nonzero component
    is positive is returned.
    """
    q = _canonical(_components(q, 4, "q"))
    w, v = q[..., :1], q[..., 1:]
    sine = np.linalg.norm(v, axis=-1, keepdims=True)
    # atan2 keeps its digits both where the sine vanishes (identity) and where the cosine does
    # (half turn); acos and asin each lose half of them at one end.
    positive = np.where(sine > 0, sine, 1.0)
    scale = np.where(sine > 0, 2.0 * np.arctan2(sine, w) / positive, 2.0)
    return v * scale


def slerp(
    a: Float[Array, "... 4"], b: Float[Array, "... 4"], t: float | ArrayLike
) -> Float[Array, "... 4"]:
    """Turns from ``a`` (t = 0) to ``b`` (t = 1) at constant speed along the shortest path.

    ``t`` broadcasts against the leading axes. At t = 1 the result may be ``-b``, the same rotation.
    """
    t = np.asarray(t, dtype=np.float64)[..., None]
    return multiply(a, exp(t * log(multiply(conjugate(a), b))))


def to_matrix(q: Float[Array, "*batch 4"]) -> Float[Array, "*batch 3 3"]:
    """Rotation matrices, acting on column vectors."""
    w, x, y, z = _split(_components(q, 4, "q"))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(R: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 4"]:
    """Quaternions of rotation matrices, with w >= 0.

    Raises:
        InvalidValueError: A matrix is not orthonormal within 1e-5, or mirrors.
    """
    R = np.asarray(R, dtype=np.float64)
    if R.ndim < 2 or R.shape[-2:] != (3, 3):
        raise InvalidValueError(
            f"R has shape {R.shape}; expected (..., 3, 3). Put the matrices on the last two axes."
        )
    with np.errstate(invalid="ignore", over="ignore"):
        defect = np.max(np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)), axis=(-2, -1))
        determinant = np.linalg.det(R)
    bad = ~((defect <= MATRIX_TOLERANCE) & (determinant > 0))
    if bad.any():
        raise InvalidValueError(
            f"R{first_index(bad)} is not a rotation: |R^T R - I| = {defect[bad][0]:.3g}, "
            f"determinant {determinant[bad][0]:.3g}; expected at most {MATRIX_TOLERANCE:g} "
            "and 1. Remove scale, shear or mirroring first."
        )
    # Row i of 4 q q^T is 4 q_i q; the row with the largest diagonal divides by the largest
    # component, so that no component is found by a difference of nearly equal numbers.
    m = np.moveaxis(R, (-2, -1), (0, 1))
    xw, yw, zw = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    xy, xz, yz = m[1, 0] + m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2]
    rows = [
        [1 + m[0, 0] + m[1, 1] + m[2, 2], xw, yw, zw],
        [xw, 1 + m[0, 0] - m[1, 1] - m[2, 2], xy, xz],
        [yw, xy, 1 - m[0, 0] + m[1, 1] - m[2, 2], yz],
        [zw, xz, yz, 1 - m[0, 0] - m[1, 1] + m[2, 2]],
    ]
    outer = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    best = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :]
    return _canonical(normalize(q))


def from_axis_angle(axis: ArrayLike, angle: float | ArrayLike) -> Float[Array, "... 4"]:
    """Rotation by ``angle`` (...,) in radians about ``axis`` (..., 3) of any nonzero length."""
    unit = _directions(axis, "axis")
    return exp(unit * np.asarray(angle, dtype=np.float64)[..., None])


def to_6d(q: Float[Array, "*batch 4"]) -> Float[Array, "*batch 6"]:
    """First column of the matrix, then the second: the continuous form of Zhou et al. 2019."""
    columns = np.swapaxes(to_matrix(q)[..., :2], -1, -2)
    return columns.reshape(*columns.shape[:-2], 6)


def from_6d(x: ArrayLike) -> Float[Array, "... 4"]:
    """Rotation of two column vectors (..., 6), made orthonormal by Gram-Schmidt.

    Raises:
        InvalidValueError: A vector is zero, or the two are parallel.
    """
    x = _components(x, 6, "x")
    first = _directions(x[..., :3], "first column x[..., :3]")
    second = _directions(x[..., 3:], "second column x[..., 3:]")
    second = second - np.sum(first * second, axis=-1, keepdims=True) * first
    size = np.linalg.norm(second, axis=-1)
    bad = size < DEGENERATE_RATIO
    if bad.any():
        raise InvalidValueError(
            f"6D rotation x{first_index(bad)} is {x[bad][0]}; its two columns are parallel, "
            "expected independent ones. Replace that sample, for example by its neighbour."
        )
    second = second / size[..., None]
    # Once more, because the first subtraction cancels when the columns are nearly parallel.
    second = second - np.sum(first * second, axis=-1, keepdims=True) * first
    second = second / np.linalg.norm(second, axis=-1, keepdims=True)
    return from_matrix(np.stack([first, second, _cross(first, second)], axis=-1))


def between(u: ArrayLike, v: ArrayLike) -> Float[Array, "... 4"]:
    """Smallest rotation that takes direction ``u`` (..., 3) to direction ``v`` (..., 3).

    For opposite directions the axis is any perpendicular one, the same at every call.
    """
    u, v = np.broadcast_arrays(_directions(u, "u"), _directions(v, "v"))
    obtuse = np.sum(u * v, axis=-1, keepdims=True) < 0
    # u x v = u x (v - u) = u x (v + u); the shorter second factor is free of cancellation.
    cross = _cross(u, np.where(obtuse, v + u, v - u))
    sine = np.linalg.norm(cross, axis=-1, keepdims=True)
    opposite = obtuse & (sine < 1e-17)
    least = np.eye(3)[np.argmin(np.abs(u), axis=-1)]
    perpendicular = _cross(u, least)
    axis = np.where(opposite, perpendicular, cross)
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    axis = axis / np.where(length > 0, length, 1.0)
    chord, double_cosine = np.linalg.norm(v - u, axis=-1), np.linalg.norm(v + u, axis=-1)
    sine, obtuse = sine[..., 0], obtuse[..., 0]
    # sin(theta) = 2 sin(theta/2) cos(theta/2), divided by whichever factor is not small.
    half_cosine = np.where(obtuse, sine / np.where(obtuse, chord, 1.0), 0.5 * double_cosine)
    half_sine = np.where(obtuse, 0.5 * chord, sine / np.where(obtuse, 1.0, double_cosine))
    return normalize(np.concatenate([half_cosine[..., None], half_sine[..., None] * axis], -1))


def angle(a: Float[Array, "... 4"], b: Float[Array, "... 4"]) -> Float[Array, " ..."]:
    """Angle in radians, 0 to pi, of the shortest rotation from ``a`` to ``b``."""
    q = multiply(conjugate(a), b)
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(q[..., 1:], axis=-1), np.abs(q[..., 0])))


def random(rng: np.random.Generator, shape: int | tuple[int, ...] = ()) -> Float[Array, "... 4"]:
    """Uniformly distributed rotations, with leading axes ``shape``."""
    leading = (shape,) if isinstance(shape, int) else shape
    return normalize(rng.standard_normal((*leading, 4)))


def left_jacobian(rotvec: ArrayLike) -> Float[Array, "... 3 3"]:
    """Matrix J with ``exp(r + d) = exp(J d) exp(r)`` to first order in ``d``.

    J = I + (1 - cos t)/t^2 [r] + (t - sin t)/t^3 [r]^2 with t = |r|. A moving rotation vector has
    angular velocity J(r) r' in the fixed frame. The right Jacobian is its transpose.
    """
    rotvec = _components(rotvec, 3, "rotvec")
    K = _skew(rotvec)
    first, second, _, _ = _jacobian_terms(rotvec)
    return np.eye(3) + first * K + second * (K @ K)


def left_jacobian_rate(rotvec: ArrayLike, rate: ArrayLike) -> Float[Array, "... 3 3"]:
    """Derivative of ``left_jacobian`` along ``rate`` (..., 3), the change of ``rotvec``.

    A moving rotation vector has angular acceleration J r'' + J' r' in the fixed frame.
    """
    rotvec, rate = _components(rotvec, 3, "rotvec"), _components(rate, 3, "rate")
    K, L = _skew(rotvec), _skew(rate)
    first, second, first_slope, second_slope = _jacobian_terms(rotvec)
    along = np.sum(rotvec * rate, axis=-1)[..., None, None]
    return first * L + second * (K @ L + L @ K) + along * (first_slope * K + second_slope * K @ K)


def left_jacobian_inverse(rotvec: ArrayLike) -> Float[Array, "... 3 3"]:
    """Inverse of ``left_jacobian``: I - [r]/2 + (1 - (t/2) cot(t/2))/t^2 [r]^2 with t = |r|.

    Raises:
        InvalidValueError: A length is a nonzero multiple of 2 pi, where J has no inverse.
    """
    rotvec = _components(rotvec, 3, "rotvec")
    theta = np.linalg.norm(rotvec, axis=-1)
    near = theta < _INVERSE_RADIUS
    safe = np.where(near, 1.0, theta)
    bad = np.abs(np.sin(0.5 * safe)) < DEGENERATE_RATIO
    if bad.any():
        raise InvalidValueError(
            f"rotvec{first_index(bad)} has length {theta[bad][0]:.9g}, a full turn, where the left "
            "Jacobian has no inverse; expected less than 2 pi. Use the shortest rotation vector."
        )
    closed = (1.0 - 0.5 * safe * np.cos(0.5 * safe) / np.sin(0.5 * safe)) / safe**2
    factor = np.where(near, np.polyval(_INVERSE_SERIES, np.where(near, theta, 0.0) ** 2), closed)
    K = _skew(rotvec)
    return np.eye(3) - 0.5 * K + factor[..., None, None] * (K @ K)


def first_index(bad: Bool[Array, " ..."] | np.bool_) -> str:
    """Text such as ``[17]`` or ``[3, 0]`` of the first true entry; empty for a single value."""
    index = [int(i) for i in np.argwhere(bad)[0]]
    return str(index) if index else ""


def _components(x: ArrayLike, size: int, name: str) -> Float[Array, " ..."]:
    x = np.asarray(x, dtype=np.float64)
    if x.ndim == 0 or x.shape[-1] != size:
        order = " in the order w, x, y, z" if size == 4 else ""
        raise InvalidValueError(
            f"{name} has shape {x.shape}; expected (..., {size}). "
            f"Put the {size} components{order} on the last axis."
        )
    return x


def _directions(x: ArrayLike, name: str) -> Float[Array, "... 3"]:
    x = _components(x, 3, name)
    size = np.max(np.abs(x), axis=-1)
    bad = ~(np.isfinite(size) & (size > 0))
    if bad.any():
        raise InvalidValueError(
            f"Direction {name}{first_index(bad)} is {x[bad][0]}; expected a finite vector that is "
            "not zero. Give a direction, of any length."
        )
    x = x / size[..., None]
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _canonical(q: Float[Array, "*batch 4"]) -> Float[Array, "*batch 4"]:
    """The one of ``q`` and ``-q`` whose first nonzero component is positive."""
    lead = np.take_along_axis(q, np.argmax(q != 0, axis=-1)[..., None], axis=-1)
    return np.where(lead < 0, -q, q)


def _split(x: Float[Array, "*batch size"]) -> tuple[Float[Array, "*batch"], ...]:
    return tuple(x[..., i] for i in range(x.shape[-1]))


def _cross(a: Float[Array, "... 3"], b: Float[Array, "... 3"]) -> Float[Array, "... 3"]:
    # For single vectors numpy's own spends most of its time on sorting out axes.
    ax, ay, az = _split(a)
    bx, by, bz = _split(b)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _skew(v: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    x, y, z = _split(v)
    o = np.zeros_like(x)
    rows = [[o, -z, y], [z, o, -x], [-y, x, o]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _alternating(offset: int) -> Float[Array, " terms"]:
    """Coefficients of sum (-1)^k x^k / (2k + offset)!, highest power first."""
    return np.array([(-1) ** k / math.factorial(2 * k + offset) for k in range(10)])[::-1]


# Taylor series in the squared angle, used where the closed forms cancel.
_SERIES_RADIUS = 1.0
_FIRST_SERIES, _SECOND_SERIES = _alternating(2), _alternating(3)
_INVERSE_RADIUS = 0.5
_BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510)
_INVERSE_SERIES = np.array([b / math.factorial(2 * k + 2) for k, b in enumerate(_BERNOULLI)])[::-1]


def _jacobian_terms(rotvec: Float[Array, "*batch 3"]) -> tuple[Float[Array, "*batch 1 1"], ...]:
    """Terms a = (1 - cos t)/t^2, b = (t - sin t)/t^3, and a'/t, b'/t, to scale matrices."""
    theta = np.linalg.norm(rotvec, axis=-1)[..., None, None]
    near = theta < _SERIES_RADIUS
    t = np.where(near, 1.0, theta)
    x = np.where(near, theta, 0.0) ** 2
    sin, versine = np.sin(t), 2.0 * np.sin(0.5 * t) ** 2
    closed = (
        versine / t**2,
        (t - sin) / t**3,
        (t * sin - 2 * versine) / t**4,
        (3 * sin - 3 * t + t * versine) / t**5,
    )
    # With x = t^2, f'(t)/t = 2 df/dx.
    series = (
        np.polyval(_FIRST_SERIES, x),
        np.polyval(_SECOND_SERIES, x),
        2.0 * np.polyval(np.polyder(_FIRST_SERIES), x),
        2.0 * np.polyval(np.polyder(_SECOND_SERIES), x),
    )
    return tuple(np.where(near, s, c) for s, c in zip(series, closed, strict=True))
