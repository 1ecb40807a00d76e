"""Chains of spheres and tapered capsules against a signed distance grid.

A tapered capsule is the union of the spheres with centres ``p(s) = p0 + s (p1 - p0)`` and radii
``r(s) = r0 + s (r1 - r0)``, ``s`` from 0 to 1. Its gap to a body with distance ``f`` is the
smallest ``f(p(s)) - r(s)``: the true distance where it is positive, and the depth of the deepest
of its spheres where it is negative.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.sdf import Field, field_value, field_value_gradient
from handwright.kernels.decorators import inlined, kernel
from handwright.math.golden_section import golden_bracket, narrowed_bracket

_GOLDEN_STEPS = 10


@inlined
def _gap_at(
    field: Field,
    s: float,
    p: tuple[float, float, float],
    u: tuple[float, float, float],
    r0: float,
    dr: float,
) -> float:
    return field_value(field, p[0] + s * u[0], p[1] + s * u[1], p[2] + s * u[2]) - (r0 + s * dr)


@kernel
def _golden(
    field: Field,
    bracket: tuple[float, float],
    p: tuple[float, float, float],
    u: tuple[float, float, float],
    r0: float,
    dr: float,
) -> tuple[float, float]:
    """Smallest gap within a bracket of the axis, by golden-section search."""
    at = golden_bracket(bracket[0], bracket[1])
    g1 = _gap_at(field, at.left, p, u, r0, dr)
    g2 = _gap_at(field, at.right, p, u, r0, dr)
    for _ in range(_GOLDEN_STEPS):
        is_left_less = g1 < g2
        at = narrowed_bracket(at, is_left_less)
        if is_left_less:
            g1, g2 = _gap_at(field, at.left, p, u, r0, dr), g1
        else:
            g1, g2 = g2, _gap_at(field, at.right, p, u, r0, dr)
    if g1 < g2:
        return g1, at.left
    return g2, at.right


@kernel
def capsule_depth(
    field: Field,
    x0: float,
    y0: float,
    z0: float,
    x1: float,
    y1: float,
    z1: float,
    r0: float,
    r1: float,
    num_samples: int,
) -> tuple[float, float, float, float, float]:
    """Gap between a tapered capsule and a body.

    The axis is sampled evenly, ends included. Every sampled local minimum that could still hold
    the answer, since the gap cannot change faster than ``|p1 - p0| + |r1 - r0|`` per unit of
    ``s``, is refined by golden-section search. Dents narrower than one sample step can be missed,
    by at most half a step.

    Args:
        field: The grid of the body.
        x0: Centre of the first end in the frame of the grid, metres, with ``y0`` and ``z0``.
        y0: See ``x0``.
        z0: See ``x0``.
        x1: Centre of the second end, metres, with ``y1`` and ``z1``.
        y1: See ``x1``.
        z1: See ``x1``.
        r0: Radius at the first end, metres; 0 for a bare segment.
        r1: Radius at the second end, metres.
        num_samples: Samples along the axis, 2 or more; fewer count as 2.

    Returns:
        Signed gap in metres (negative in penetration), the parameter ``s`` where it is reached,
        and the gradient of the field there: the direction that opens the gap.
    """
    p = (x0, y0, z0)
    u = (x1 - x0, y1 - y0, z1 - z0)
    dr = r1 - r0
    count = max(num_samples, 2)
    step = 1.0 / (count - 1)
    # The golden search gains at most this much over a sampled local minimum.
    gain = (np.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) + abs(dr)) * step
    best = np.inf
    best_s = 0.0
    before = np.inf
    here = _gap_at(field, 0.0, p, u, r0, dr)
    for n in range(count):
        after = _gap_at(field, (n + 1) * step, p, u, r0, dr) if n + 1 < count else np.inf
        if here < best:
            best = here
            best_s = n * step
        if here <= before and here <= after and here - gain < best:
            bracket = (max(n - 1, 0) * step, min(n + 1, count - 1) * step)
            gap, s = _golden(field, bracket, p, u, r0, dr)
            if gap < best:
                best = gap
                best_s = s
        before = here
        here = after
    d, gx, gy, gz = field_value_gradient(
        field, p[0] + best_s * u[0], p[1] + best_s * u[1], p[2] + best_s * u[2]
    )
    return d - (r0 + best_s * dr), best_s, gx, gy, gz


@kernel
def _into_body(R: np.ndarray, t: np.ndarray, p: np.ndarray) -> tuple[float, float, float]:
    x, y, z = p[0] - t[0], p[1] - t[1], p[2] - t[2]
    return (
        R[0, 0] * x + R[1, 0] * y + R[2, 0] * z,
        R[0, 1] * x + R[1, 1] * y + R[2, 1] * z,
        R[0, 2] * x + R[1, 2] * y + R[2, 2] * z,
    )


@kernel
def _store_turned(R: np.ndarray, g: tuple[float, float, float], out: np.ndarray, row: int) -> None:
    for axis in range(3):
        out[row, axis] = R[axis, 0] * g[0] + R[axis, 1] * g[1] + R[axis, 2] * g[2]


@kernel
def spheres_to_field(
    field: Field,
    R: Float[np.ndarray, "3 3"],
    t: Float[np.ndarray, "3"],
    centers: Float[np.ndarray, "N 3"],
    radii: Float[np.ndarray, "N"],
    gaps: Float[np.ndarray, "N"],
    normals: Float[np.ndarray, "N 3"],
) -> None:
    """Gaps between spheres and a posed body, written into ``gaps`` and ``normals``.

    Args:
        field: The grid of the body.
        R: Turns body coordinates into world ones.
        t: Origin of the body in the world, metres.
        centers: Of the spheres in the world, metres.
        radii: Metres.
        gaps: Written: signed gaps, metres.
        normals: Written: gradients in the world, away from the body.
    """
    for n in range(len(centers)):
        x, y, z = _into_body(R, t, centers[n])
        d, gx, gy, gz = field_value_gradient(field, x, y, z)
        gaps[n] = d - radii[n]
        _store_turned(R, (gx, gy, gz), normals, n)


@kernel
def capsules_to_field(
    field: Field,
    R: Float[np.ndarray, "3 3"],
    t: Float[np.ndarray, "3"],
    starts: Float[np.ndarray, "N 3"],
    ends: Float[np.ndarray, "N 3"],
    radii: Float[np.ndarray, "N 2"],
    num_samples: int,
    gaps: Float[np.ndarray, "N"],
    parameters: Float[np.ndarray, "N"],
    normals: Float[np.ndarray, "N 3"],
) -> None:
    """Gaps between tapered capsules and a posed body, written into the last three arrays.

    Args:
        field: The grid of the body.
        R: Turns body coordinates into world ones.
        t: Origin of the body in the world, metres.
        starts: First ends of the capsule axes in the world, metres.
        ends: Second ends.
        radii: At the first and second ends, metres.
        num_samples: Samples along each axis, 2 or more.
        gaps: Written: signed gaps, metres.
        parameters: Written: where on the axis, 0 to 1.
        normals: Written: gradients in the world, away from the body.
    """
    for n in range(len(starts)):
        x0, y0, z0 = _into_body(R, t, starts[n])
        x1, y1, z1 = _into_body(R, t, ends[n])
        gap, s, gx, gy, gz = capsule_depth(
            field, x0, y0, z0, x1, y1, z1, radii[n, 0], radii[n, 1], num_samples
        )
        gaps[n] = gap
        parameters[n] = s
        _store_turned(R, (gx, gy, gz), normals, n)
