"""Costs of overlaps and of joint limits: one residual for each pair that overlaps.

Derivatives are taken with the deepest pair of points held fixed on their shapes, which is exact
since the depth does not change to first order as these points shift.
"""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.capsules import segment_segment
from handwright.geometry.distance.environment import surface_value_gradient
from handwright.geometry.distance.sdf import field_value, field_value_gradient
from handwright.kernels.decorators import inlined, kernel
from handwright.math.golden_section import golden_bracket, narrowed_bracket
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.model import ROD, Model, ResidualWeights
from handwright.methods.trajopt.model.posing import add_body_gradient, add_link_gradient
from handwright.methods.trajopt.model.workspace import SampleWorkspace, add_dense, add_single

_STEPS = 14
# No clearance is larger than this, m.
_FAR = 0.01


@inlined
def _on_axis(a: np.ndarray, b: np.ndarray, s: float) -> tuple:
    """Point of the segment from ``a`` to ``b`` at a fraction of it."""
    return vec.plus_times(a, vec.minus(b, a), s)


@inlined
def _to_body(m: Model, work: SampleWorkspace, p: tuple) -> tuple:
    """Transforms a world point into the body's frame."""
    return vec.rotated_back(
        work.body_rotation, vec.minus(p, vec.triple(work.z, m.layout.first_body))
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
    a, b, radius = work.ends[k, 0], work.ends[k, 1], m.skeleton.radius[k]
    middle, half = vec.times(vec.plus(a, b), 0.5), 0.5 * vec.norm(vec.minus(b, a))
    off = vec.norm(vec.minus(middle, vec.triple(work.z, m.layout.first_body)))
    far = off - half - radius - m.body.reach
    if far > _FAR:
        return far, vec.ZERO, vec.ZERO
    if m.body.kind == ROD:
        distance, s, t = segment_segment(a, b, work.rod_ends[0], work.rod_ends[1])
        p, q = _on_axis(a, b, s), _on_axis(work.rod_ends[0], work.rod_ends[1], t)
        n = vec.over(vec.minus(p, q), distance + 1e-12)
        return distance - radius - m.body.rod_radius, p, n
    least = _field_at(m, work, _on_axis(a, b, 0.5)) - half - radius
    if least > _FAR:
        # No point of the axis is nearer by more than its distance from the middle.
        return least, vec.ZERO, vec.ZERO
    distance, s = _least_on_axis(m, work, a, b)
    p = _on_axis(a, b, s)
    q = _to_body(m, work, p)
    _, gx, gy, gz = field_value_gradient(m.body.field, q[0], q[1], q[2])
    return distance - radius, p, vec.rotated(work.body_rotation, (gx, gy, gz))


@inlined
def _to_surface(m: Model, surface: int, p: tuple) -> tuple:
    """Distance of a point from a surface of the environment, m, and its gradient."""
    d, x, y, z = surface_value_gradient(m.env, surface, p[0], p[1], p[2])
    return d, (x, y, z)


@kernel
def capsule_to_surface(m: Model, work: SampleWorkspace, k: int, surface: int) -> tuple:
    """Gap between a capsule and a surface, nearest point of its axis, and normal of the surface."""
    a, b, radius = work.ends[k, 0], work.ends[k, 1], m.skeleton.radius[k]
    (best, n), (d1, n1) = _to_surface(m, surface, a), _to_surface(m, surface, b)
    at = 0.0
    if d1 < best:
        best, at, n = d1, 1.0, n1
    if surface >= m.env.offsets.shape[0] and best < radius + 0.5 * vec.norm(vec.minus(b, a)):
        low, high = 0.0, 1.0
        for _ in range(24):
            s1, s2 = low + (high - low) / 3.0, high - (high - low) / 3.0
            g1 = _to_surface(m, surface, _on_axis(a, b, s1))[0]
            if g1 < _to_surface(m, surface, _on_axis(a, b, s2))[0]:
                high = s2
            else:
                low = s1
        middle = 0.5 * (low + high)
        d1, n1 = _to_surface(m, surface, _on_axis(a, b, middle))
        if d1 < best:
            best, at, n = d1, middle, n1
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
    a, b, c, d = work.ends[k, 0], work.ends[k, 1], work.ends[other, 0], work.ends[other, 1]
    sides = s.bare_radius[k] + s.bare_radius[other]
    for i in range(3):
        # The boxes around the axes may be further apart than the radii.
        if min(a[i], b[i]) - max(c[i], d[i]) > sides or min(c[i], d[i]) - max(a[i], b[i]) > sides:
            return 1.0, vec.ZERO, vec.ZERO, vec.ZERO
    distance, at, on = segment_segment(a, b, c, d)
    p, q = _on_axis(a, b, at), _on_axis(c, d, on)
    return distance - sides, p, q, vec.over(vec.minus(p, q), distance + 1e-12)


@kernel
def _add_overlap(work: SampleWorkspace, num_coordinates: int, residual: float) -> None:
    """Adds the residual of an overlap, whose derivatives are in the first dense row."""
    work.residual[0] = residual
    add_dense(work, 1, num_coordinates)


@kernel
def collision_terms(
    m: Model, w: ResidualWeights, work: SampleWorkspace, k: int, scale: float, with_gradient: bool
) -> float:
    """Cost of everything that overlaps at a sample of phase ``k``."""
    nq, cost, wp = m.layout.num_coordinates, 0.0, scale * w.penetration
    s, body, num_surfaces = m.skeleton, m.body, m.env.frictions.shape[0]
    for c in range(s.joint.shape[0]):
        gap, p, n = capsule_to_body(m, work, c)
        gap -= m.schedule.clearance[k, c]
        if gap < 0.0:
            cost += 0.5 * (wp * gap) ** 2
            if with_gradient:
                add_link_gradient(m, work, s.joint[c], p, n, (0, wp))
                add_body_gradient(m, work, p, n, (0, -wp))
                _add_overlap(work, nq, wp * gap)
        for surface in range(num_surfaces):
            gap, p, n = capsule_to_surface(m, work, c, surface)
            if gap < 0.0:
                cost += 0.5 * (wp * gap) ** 2
                if with_gradient:
                    add_link_gradient(m, work, s.joint[c], p, n, (0, wp))
                    _add_overlap(work, nq, wp * gap)
    for pair in range(s.pairs.shape[0]):
        c, other = s.pairs[pair, 0], s.pairs[pair, 1]
        gap, p, q, n = capsule_to_capsule(m, work, c, other)
        if gap < 0.0:
            cost += 0.5 * (wp * gap) ** 2
            if with_gradient:
                add_link_gradient(m, work, s.joint[c], p, n, (0, wp))
                add_link_gradient(m, work, s.joint[other], q, n, (0, -wp))
                _add_overlap(work, nq, wp * gap)
    center = vec.triple(work.z, m.layout.first_body)
    for c in range(body.corners.shape[0]):
        p = vec.placed(work.body_rotation, center, vec.row(body.corners, c))
        for surface in range(num_surfaces):
            d, n = _to_surface(m, surface, p)
            gap = d - body.corner_radius
            if gap < 0.0:
                cost += 0.5 * (wp * gap) ** 2
                if with_gradient:
                    add_body_gradient(m, work, p, n, (0, wp))
                    _add_overlap(work, nq, wp * gap)
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
