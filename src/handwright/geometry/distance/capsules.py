"""Distances between points, segments and capsules.

A tapered capsule is the union of the spheres with centres ``p0 + s (p1 - p0)`` and radii
``r0 + s (r1 - r0)``, ``s`` from 0 to 1: two balls and the cone that touches both. The gap between
two of them is the least ``|p(s) - q(t)| - r_p(s) - r_q(t)``, a convex function on a square, found
here in closed form. Where it is positive it is the exact distance. Where it is negative it is
the overlap of the deepest pair of spheres: exactly the shift that would part the capsules, except
that it is less than that where the axes themselves cross.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from handwright.kernels.decorators import kernel

# Squared sine between two axes below which they count as parallel; the minimum is then looked for
# at the ends, where it also is for parallel axes.
_PARALLEL = 1e-12


@kernel
def _dot(a: tuple, b: tuple) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _to_axis(w: tuple, u: tuple, dr: float) -> tuple[float, float]:
    """Least |w - s u| - s dr over s from 0 to 1, and that s."""
    uu = _dot(u, u)
    if uu <= 0.0:
        s = 1.0 if dr > 0.0 else 0.0
        return math.sqrt(_dot(w, w)) - s * dr, s
    s = _dot(w, u) / uu
    rest = (w[0] - s * u[0], w[1] - s * u[1], w[2] - s * u[2])
    if dr != 0.0:
        cosine = uu - dr * dr
        if cosine <= 0.0:
            # The larger ball holds the smaller one.
            s = 1.0 if dr > 0.0 else 0.0
        else:
            s += dr * math.sqrt(_dot(rest, rest) / (uu * cosine))
    s = min(max(s, 0.0), 1.0)
    rest = (w[0] - s * u[0], w[1] - s * u[1], w[2] - s * u[2])
    return math.sqrt(_dot(rest, rest)) - s * dr, s


@kernel
def _between_ends(w: tuple, u: tuple, v: tuple, a: float, b: float) -> tuple[bool, float, float]:
    """Stationary point of |w + s u - t v| - s a - t b: whether it exists in the square, s, t.

    There the unit vector ``n`` between the axes satisfies n.u = a and n.v = -b, which fixes its
    part ``alpha u + beta v`` in the plane of the axes; the part across follows from |n| = 1.
    """
    uu, uv, vv = _dot(u, u), _dot(u, v), _dot(v, v)
    determinant = uu * vv - uv * uv
    if not determinant > _PARALLEL * uu * vv:
        return False, 0.0, 0.0
    alpha = (a * vv + b * uv) / determinant
    beta = -(b * uu + a * uv) / determinant
    across = 1.0 - (alpha * a - beta * b)
    if not across > _PARALLEL:
        return False, 0.0, 0.0
    cross = (
        u[1] * v[2] - u[2] * v[1],
        u[2] * v[0] - u[0] * v[2],
        u[0] * v[1] - u[1] * v[0],
    )
    # Distance between the lines over the part of n across them: the length of w + s u - t v.
    length = abs(_dot(w, cross)) / math.sqrt(determinant * across)
    wu, wv = _dot(w, u), _dot(w, v)
    s = length * alpha - (wu * vv - wv * uv) / determinant
    t = -length * beta + (wv * uu - wu * uv) / determinant
    return 0.0 < s < 1.0 and 0.0 < t < 1.0, s, t


@kernel
def _axes(w: tuple, u: tuple, v: tuple, a: float, b: float) -> tuple[float, float, float]:
    """Least |w + s u - t v| - s a - t b over the unit square, with s and t."""
    exists, s, t = _between_ends(w, u, v, a, b)
    if exists:
        rest = (
            w[0] + s * u[0] - t * v[0],
            w[1] + s * u[1] - t * v[1],
            w[2] + s * u[2] - t * v[2],
        )
        return math.sqrt(_dot(rest, rest)) - s * a - t * b, s, t
    # The function is convex, so without an inner minimum it is least on the rim of the square.
    best, t = _to_axis(w, v, b)
    s = 0.0
    gap, other = _to_axis((w[0] + u[0], w[1] + u[1], w[2] + u[2]), v, b)
    if gap - a < best:
        best, s, t = gap - a, 1.0, other
    gap, other = _to_axis((-w[0], -w[1], -w[2]), u, a)
    if gap < best:
        best, s, t = gap, other, 0.0
    gap, other = _to_axis((v[0] - w[0], v[1] - w[1], v[2] - w[2]), u, a)
    if gap - b < best:
        best, s, t = gap - b, other, 1.0
    return best, s, t


@kernel
def _minus(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def point_segment(
    x: Float[np.ndarray, "3"], p0: Float[np.ndarray, "3"], p1: Float[np.ndarray, "3"]
) -> tuple[float, float]:
    """Distance from a point to a segment.

    Args:
        x: The point, metres.
        p0: First end, metres.
        p1: Second end, metres; may equal the first.

    Returns:
        Distance in metres, and the parameter from 0 to 1 of the nearest point.
    """
    return _to_axis(_minus(x, p0), _minus(p1, p0), 0.0)


@kernel
def segment_segment(
    p0: Float[np.ndarray, "3"],
    p1: Float[np.ndarray, "3"],
    q0: Float[np.ndarray, "3"],
    q1: Float[np.ndarray, "3"],
) -> tuple[float, float, float]:
    """Distance between two segments, which may be parallel, crossing or points.

    Args:
        p0: First end of the first segment, metres.
        p1: Its second end.
        q0: First end of the second segment, metres.
        q1: Its second end.

    Returns:
        Distance in metres, and the parameters from 0 to 1 of the nearest points on the two.
    """
    return _axes(_minus(p0, q0), _minus(p1, p0), _minus(q1, q0), 0.0, 0.0)


@kernel
def capsule_capsule(
    p0: Float[np.ndarray, "3"],
    p1: Float[np.ndarray, "3"],
    p_radius: float,
    q0: Float[np.ndarray, "3"],
    q1: Float[np.ndarray, "3"],
    q_radius: float,
) -> tuple[float, float, float]:
    """Gap between two capsules of constant radius.

    Args:
        p0: First end of the first axis, metres.
        p1: Its second end.
        p_radius: Metres.
        q0: First end of the second axis, metres.
        q1: Its second end.
        q_radius: Metres.

    Returns:
        Gap in metres, negative if they overlap, and the parameters from 0 to 1 on the two axes.
    """
    distance, s, t = segment_segment(p0, p1, q0, q1)
    return distance - p_radius - q_radius, s, t


@kernel
def tapered_capsule_capsule(
    p0: Float[np.ndarray, "3"],
    p1: Float[np.ndarray, "3"],
    p_radius0: float,
    p_radius1: float,
    q0: Float[np.ndarray, "3"],
    q1: Float[np.ndarray, "3"],
    q_radius0: float,
    q_radius1: float,
) -> tuple[float, float, float]:
    """Gap between two capsules whose radii change linearly along their axes.

    Args:
        p0: First end of the first axis, metres.
        p1: Its second end.
        p_radius0: Radius at ``p0``, metres.
        p_radius1: Radius at ``p1``, metres.
        q0: First end of the second axis, metres.
        q1: Its second end.
        q_radius0: Radius at ``q0``, metres.
        q_radius1: Radius at ``q1``, metres.

    Returns:
        Gap in metres, negative if they overlap, and the parameters from 0 to 1 on the two axes
        of the spheres between which it is.
    """
    gap, s, t = _axes(
        _minus(p0, q0),
        _minus(p1, p0),
        _minus(q1, q0),
        p_radius1 - p_radius0,
        q_radius1 - q_radius0,
    )
    return gap - p_radius0 - q_radius0, s, t


@kernel
def capsule_pairs(
    starts: Float[np.ndarray, "N 3"],
    ends: Float[np.ndarray, "N 3"],
    radii: Float[np.ndarray, "N 2"],
    pairs: Int[np.ndarray, "M 2"],
    gaps: Float[np.ndarray, "M"],
    parameters: Float[np.ndarray, "M 2"],
) -> None:
    """Gaps between listed pairs of tapered capsules, written into the last two arrays.

    Args:
        starts: First ends of the axes, metres.
        ends: Second ends.
        radii: At the first and second ends, metres.
        pairs: Which capsule against which.
        gaps: Written: signed gaps, metres.
        parameters: Written: parameters from 0 to 1 on the two axes.
    """
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        gap, s, t = tapered_capsule_capsule(
            starts[i], ends[i], radii[i, 0], radii[i, 1],
            starts[j], ends[j], radii[j, 0], radii[j, 1],
        )  # fmt: skip
        gaps[m] = gap
        parameters[m, 0] = s
        parameters[m, 1] = t
