"""Costs of overlaps and of joint limits: one residual for each pair that overlaps.

Derivatives are taken with the deepest pair of points held fixed on their shapes, which is exact
since the depth does not change to first order as these points shift.
"""

from __future__ import annotations

import math

import numpy as np

from handwright.geometry.distance.capsules import segment_segment
from handwright.geometry.distance.environment import surface_value_gradient
from handwright.geometry.distance.sdf import field_value, field_value_gradient
from handwright.kernels.decorators import kernel
from handwright.math.golden_section import golden_bracket, narrowed_bracket
from handwright.methods.trajopt.model.model import ROD, Model, ResidualWeights
from handwright.methods.trajopt.model.posing import add_body_gradient, add_link_gradient
from handwright.methods.trajopt.model.rows import add_dense, add_single
from handwright.methods.trajopt.model.workspace import SampleWorkspace

_STEPS = 14
# No clearance is larger than this, m.
_FAR = 0.01


@kernel
def _on_axis(a: np.ndarray, b: np.ndarray, s: float) -> tuple:
    """Point of the segment from ``a`` to ``b`` at a fraction of it."""
    return a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])


@kernel
def _to_body(m: Model, work: SampleWorkspace, p: tuple) -> tuple:
    """Transforms a world point into the body's frame."""
    t, i = work.body_rotation, m.layout.first_body
    x, y, z = p[0] - work.z[i], p[1] - work.z[i + 1], p[2] - work.z[i + 2]
    return (
        t[0, 0] * x + t[1, 0] * y + t[2, 0] * z,
        t[0, 1] * x + t[1, 1] * y + t[2, 1] * z,
        t[0, 2] * x + t[1, 2] * y + t[2, 2] * z,
    )


@kernel
def _field_at(m: Model, work: SampleWorkspace, p: tuple) -> float:
    """Signed distance of a world point from the body, m."""
    q = _to_body(m, work, p)
    return field_value(m.body.field, q[0], q[1], q[2])


@kernel
def _least_on_axis(
    m: Model, work: SampleWorkspace, a: np.ndarray, b: np.ndarray
) -> tuple[float, float]:
    """Least distance to the body's field along a segment, and its fraction of the segment.

    The best of five points is refined by golden-section search.
    """
    best, at = 1e30, 0.0
    for n in range(5):
        value = _field_at(m, work, _on_axis(a, b, 0.25 * n))
        if value < best:
            best, at = value, 0.25 * n
    low, high = max(at - 0.25, 0.0), min(at + 0.25, 1.0)
    bracket = golden_bracket(low, high)
    g1 = _field_at(m, work, _on_axis(a, b, bracket.left))
    g2 = _field_at(m, work, _on_axis(a, b, bracket.right))
    for _ in range(_STEPS):
        is_left_less = g1 < g2
        bracket = narrowed_bracket(bracket, is_left_less)
        if is_left_less:
            g1, g2 = _field_at(m, work, _on_axis(a, b, bracket.left)), g1
        else:
            g1, g2 = g2, _field_at(m, work, _on_axis(a, b, bracket.right))
    middle = 0.5 * (bracket.low + bracket.high)
    value = _field_at(m, work, _on_axis(a, b, middle))
    return (value, middle) if value < best else (best, at)


@kernel
def capsule_to_body(m: Model, work: SampleWorkspace, k: int) -> tuple:
    """Gap between a capsule and the body, nearest point of its axis, and normal out of the body."""
    a, b = work.ends[k, 0], work.ends[k, 1]
    radius = m.skeleton.radius[k]
    i = m.layout.first_body
    x = 0.5 * (a[0] + b[0]) - work.z[i]
    y = 0.5 * (a[1] + b[1]) - work.z[i + 1]
    z = 0.5 * (a[2] + b[2]) - work.z[i + 2]
    half = 0.5 * math.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)
    far = math.sqrt(x * x + y * y + z * z) - half - radius - m.body.reach
    none = (0.0, 0.0, 0.0)
    if far > _FAR:
        return far, none, none
    if m.body.kind == ROD:
        distance, s, t = segment_segment(a, b, work.rod_ends[0], work.rod_ends[1])
        p, q = _on_axis(a, b, s), _on_axis(work.rod_ends[0], work.rod_ends[1], t)
        length = distance + 1e-12
        n = ((p[0] - q[0]) / length, (p[1] - q[1]) / length, (p[2] - q[2]) / length)
        return distance - radius - m.body.rod_radius, p, n
    middle = _field_at(m, work, _on_axis(a, b, 0.5)) - half - radius
    if middle > _FAR:
        # No point of the axis is nearer by more than its distance from the middle.
        return middle, none, none
    distance, s = _least_on_axis(m, work, a, b)
    p = _on_axis(a, b, s)
    q = _to_body(m, work, p)
    _, gx, gy, gz = field_value_gradient(m.body.field, q[0], q[1], q[2])
    t = work.body_rotation
    n = (
        t[0, 0] * gx + t[0, 1] * gy + t[0, 2] * gz,
        t[1, 0] * gx + t[1, 1] * gy + t[1, 2] * gz,
        t[2, 0] * gx + t[2, 1] * gy + t[2, 2] * gz,
    )
    return distance - radius, p, n


@kernel
def capsule_to_surface(m: Model, work: SampleWorkspace, k: int, surface: int) -> tuple:
    """Gap between a capsule and a surface, nearest point of its axis, and normal of the surface."""
    a, b = work.ends[k, 0], work.ends[k, 1]
    radius = m.skeleton.radius[k]
    d0, x0, y0, z0 = surface_value_gradient(m.env, surface, a[0], a[1], a[2])
    d1, x1, y1, z1 = surface_value_gradient(m.env, surface, b[0], b[1], b[2])
    best, at, n = d0, 0.0, (x0, y0, z0)
    if d1 < d0:
        best, at, n = d1, 1.0, (x1, y1, z1)
    length = math.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)
    if surface >= m.env.offsets.shape[0] and best < radius + 0.5 * length:
        low, high = 0.0, 1.0
        for _ in range(24):
            s1, s2 = low + (high - low) / 3.0, high - (high - low) / 3.0
            p1, p2 = _on_axis(a, b, s1), _on_axis(a, b, s2)
            g1 = surface_value_gradient(m.env, surface, p1[0], p1[1], p1[2])[0]
            g2 = surface_value_gradient(m.env, surface, p2[0], p2[1], p2[2])[0]
            if g1 < g2:
                high = s2
            else:
                low = s1
        p1 = _on_axis(a, b, 0.5 * (low + high))
        d1, x1, y1, z1 = surface_value_gradient(m.env, surface, p1[0], p1[1], p1[2])
        if d1 < best:
            best, at, n = d1, 0.5 * (low + high), (x1, y1, z1)
    return best - radius, _on_axis(a, b, at), n


@kernel
def depth_in_environment(m: Model, work: SampleWorkspace) -> float:
    """How deep the deepest capsule is in any surface, m; 0 if none is."""
    deepest = 0.0
    for k in range(m.skeleton.joint.shape[0]):
        for surface in range(m.env.frictions.shape[0]):
            deepest = max(deepest, -capsule_to_surface(m, work, k, surface)[0])
    return deepest


@kernel
def capsule_to_capsule(m: Model, work: SampleWorkspace, k: int, other: int) -> tuple:
    """Gap between two capsules, nearest points of their axes, and direction from other to this."""
    s = m.skeleton
    none = (0.0, 0.0, 0.0)
    a, b, c, d = work.ends[k, 0], work.ends[k, 1], work.ends[other, 0], work.ends[other, 1]
    sides = s.bare_radius[k] + s.bare_radius[other]
    for i in range(3):
        # The boxes around the axes may be further apart than the radii.
        if min(a[i], b[i]) - max(c[i], d[i]) > sides or min(c[i], d[i]) - max(a[i], b[i]) > sides:
            return 1.0, none, none, none
    distance, at, on = segment_segment(a, b, c, d)
    p, q = _on_axis(a, b, at), _on_axis(c, d, on)
    length = distance + 1e-12
    n = ((p[0] - q[0]) / length, (p[1] - q[1]) / length, (p[2] - q[2]) / length)
    return distance - sides, p, q, n


@kernel
def corner_position(m: Model, work: SampleWorkspace, k: int) -> tuple:
    """Position of a corner of the body in the world, m."""
    t, q, i = work.body_rotation, m.body.corners, m.layout.first_body
    return (
        work.z[i] + t[0, 0] * q[k, 0] + t[0, 1] * q[k, 1] + t[0, 2] * q[k, 2],
        work.z[i + 1] + t[1, 0] * q[k, 0] + t[1, 1] * q[k, 1] + t[1, 2] * q[k, 2],
        work.z[i + 2] + t[2, 0] * q[k, 0] + t[2, 1] * q[k, 1] + t[2, 2] * q[k, 2],
    )


@kernel
def collision_terms(
    m: Model,
    w: ResidualWeights,
    work: SampleWorkspace,
    phase: int,
    scale: float,
    with_gradient: bool,
) -> float:
    """Cost of everything that overlaps."""
    nq, cost, wp = m.layout.num_coordinates, 0.0, scale * w.penetration
    s = m.skeleton
    for k in range(s.joint.shape[0]):
        gap, p, n = capsule_to_body(m, work, k)
        gap -= m.schedule.clearance[phase, k]
        if gap < 0.0:
            cost += 0.5 * (wp * gap) ** 2
            if with_gradient:
                work.residual[0] = wp * gap
                add_link_gradient(m, work, s.joint[k], p, n, 0, wp)
                add_body_gradient(m, work, p, n, 0, -wp)
                add_dense(work, 1, nq)
        for surface in range(m.env.frictions.shape[0]):
            gap, p, n = capsule_to_surface(m, work, k, surface)
            if gap < 0.0:
                cost += 0.5 * (wp * gap) ** 2
                if with_gradient:
                    work.residual[0] = wp * gap
                    add_link_gradient(m, work, s.joint[k], p, n, 0, wp)
                    add_dense(work, 1, nq)
    for pair in range(s.pairs.shape[0]):
        k, other = s.pairs[pair, 0], s.pairs[pair, 1]
        gap, p, q, n = capsule_to_capsule(m, work, k, other)
        if gap < 0.0:
            cost += 0.5 * (wp * gap) ** 2
            if with_gradient:
                work.residual[0] = wp * gap
                add_link_gradient(m, work, s.joint[k], p, n, 0, wp)
                add_link_gradient(m, work, s.joint[other], q, n, 0, -wp)
                add_dense(work, 1, nq)
    for k in range(m.body.corners.shape[0]):
        p = corner_position(m, work, k)
        for surface in range(m.env.frictions.shape[0]):
            d, gx, gy, gz = surface_value_gradient(m.env, surface, p[0], p[1], p[2])
            gap = d - m.body.corner_radius
            if gap < 0.0:
                cost += 0.5 * (wp * gap) ** 2
                if with_gradient:
                    work.residual[0] = wp * gap
                    add_body_gradient(m, work, p, (gx, gy, gz), 0, wp)
                    add_dense(work, 1, nq)
    return cost


@kernel
def limit_terms(
    m: Model, w: ResidualWeights, work: SampleWorkspace, scale: float, with_gradient: bool
) -> float:
    """Cost of coordinates beyond their limits."""
    cost, wl = 0.0, scale * w.limit
    for i in range(m.layout.first_body):
        q = work.z[i]
        over = q - m.upper[i] if q > m.upper[i] else (q - m.lower[i] if q < m.lower[i] else 0.0)
        if over != 0.0:
            cost += 0.5 * (wl * over) ** 2
            if with_gradient:
                add_single(work, i, wl, wl * over)
    return cost
