"""Distances, normals and rays against the two grids of a body: the kernels that sensors call."""

from __future__ import annotations

import math

from handwright.geometry.distance.sdf import Field, field_value, field_value_gradient
from handwright.kernels.decorators import inlined, kernel
from handwright.math.vec3 import Vec3
from handwright.methods.neural.sensing.body import SensedBody

# Where the gradient of the grid is shorter than this, the nearest surface is on several sides.
_RIDGE = 0.5
# Least step of a ray, in spacings of the near grid: what is thinner along the ray can be missed.
_LEAST_STEP = 0.4
# A wall thinner than the spacing can be lost between nodes; what is left of it is a dip of the
# distance along the ray below this many spacings, with opposite normals this many spacings before
# and behind it: the product of the two is below the last number.
_THIN = 0.5
_BESIDE = 4.0
_OPPOSITE = -0.5
# How far the interpolated distance can be above the true one, in spacings: distances change by at
# most the way, and the mean squared way to the corners of a cell, weighted as the interpolant
# weights them, is at most three quarters of the squared spacing. Nodes themselves err by a quarter
# (``sdf_build``).
FAR_SLACK = math.sqrt(0.75) + 0.25


@inlined
def _is_near(field: Field, x: float, y: float, z: float) -> bool:
    """Whether a point is inside the box of a grid."""
    low, h, shape = field.origin, field.spacing, field.values.shape
    return (
        low[0] <= x <= low[0] + h * (shape[0] - 1)
        and low[1] <= y <= low[1] + h * (shape[1] - 1)
        and low[2] <= z <= low[2] + h * (shape[2] - 1)
    )


@kernel
def body_distance(body: SensedBody, x: float, y: float, z: float) -> float:
    """Signed distance at a point of the body's frame, m."""
    if _is_near(body.near, x, y, z):
        return field_value(body.near, x, y, z)
    return field_value(body.far, x, y, z)


@kernel
def _value_normal(field: Field, x: float, y: float, z: float) -> tuple:
    h = field.spacing
    gx = 0.5 * (field_value(field, x + h, y, z) - field_value(field, x - h, y, z)) / h
    gy = 0.5 * (field_value(field, x, y + h, z) - field_value(field, x, y - h, z)) / h
    gz = 0.5 * (field_value(field, x, y, z + h) - field_value(field, x, y, z - h)) / h
    scale = 1.0 / max(math.sqrt(gx * gx + gy * gy + gz * gz), _RIDGE)
    return field_value(field, x, y, z), scale * gx, scale * gy, scale * gz


@kernel
def body_distance_normal(body: SensedBody, x: float, y: float, z: float) -> tuple:
    """Signed distance at a point, m, and the direction out of the body at its nearest point.

    The direction is the gradient of the distance, by central differences over one spacing: unlike
    the slope of the cell, they do not leap from cell to cell. It has length 1 but for ridges, where
    several parts of the surface are equally near: there it fades to nothing and comes back on the
    other side.
    """
    if _is_near(body.near, x, y, z):
        return _value_normal(body.near, x, y, z)
    return _value_normal(body.far, x, y, z)


@inlined
def _slab(p: float, u: float, low: float, high: float) -> tuple[float, float]:
    """Where a coordinate that starts at p and changes by u is within an interval, from and to."""
    if u == 0.0:
        return (-math.inf, math.inf) if low <= p <= high else (math.inf, -math.inf)
    a, b = (low - p) / u, (high - p) / u
    return (a, b) if a <= b else (b, a)


@inlined
def _span(body: SensedBody, p: Vec3, u: Vec3, reach: float) -> tuple[float, float]:
    """Part of a ray that lies in the box around the body, from and to, m; empty if from > to."""
    low, high = body.low, body.high
    a0, b0 = _slab(p[0], u[0], low[0], high[0])
    a1, b1 = _slab(p[1], u[1], low[1], high[1])
    a2, b2 = _slab(p[2], u[2], low[2], high[2])
    return max(0.0, a0, a1, a2), min(reach, b0, b1, b2)


@inlined
def _along(field: Field, p: Vec3, u: Vec3, t: float) -> float:
    return field_value(field, p[0] + t * u[0], p[1] + t * u[1], p[2] + t * u[2])


@kernel
def proximity(body: SensedBody, p: Vec3, normal: Vec3, reach: float) -> float:
    """Reading of a proximity sensor (section 5.2), m.

    Outside the body the distance along the normal to the first hit; inside it the negative
    distance against the normal to where the ray leaves the body; ``reach`` with that sign if the
    surface is farther away. A ray is followed through the box around the body: it goes on by the
    distance of the surface, at least by the least step, until the sign of the distance changes;
    the place of the change is interpolated. The coarse grid is asked as long as the surface is far.

    Args:
        body: In whose frame the sensor is given.
        p: Place of the sensor, m.
        normal: Outward normal of the hand there, unit length.
        reach: Length of rays, m.
    """
    near, far = body.near, body.far
    least, slack = _LEAST_STEP * near.spacing, FAR_SLACK * far.spacing
    side = 1.0 if _is_outside(body, p, slack) else -1.0
    u = side * normal[0], side * normal[1], side * normal[2]
    t, end = _span(body, p, u, reach)
    last_t, last_d = t, 0.0
    is_coarse, is_falling = True, False
    # Not "until it is beyond", so that NaN ends the ray too.
    while t <= end:
        if is_coarse:
            d = side * _along(far, p, u, t) - slack
            if d > slack:
                t += d
                continue
            last_t, last_d, is_falling = t, 0.0, False
        d = side * _along(near, p, u, t)
        if d < 0.0:
            return side * min(last_t + (t - last_t) * last_d / (last_d - d), reach)
        is_dip = is_falling and d > last_d and last_d < _THIN * near.spacing
        if is_dip and _is_wall(near, p, u, last_t):
            return side * last_t
        is_falling = d < last_d
        last_t, last_d = t, d
        t += max(d, least)
        is_coarse = d > 3.0 * slack
    return side * reach


@kernel
def _is_wall(field: Field, p: Vec3, u: Vec3, t: float) -> bool:
    """Whether the ways out of the body are opposite ones a little before and behind a place."""
    a, b = max(t - _BESIDE * field.spacing, 0.0), t + _BESIDE * field.spacing
    _, ax, ay, az = field_value_gradient(field, p[0] + a * u[0], p[1] + a * u[1], p[2] + a * u[2])
    _, bx, by, bz = field_value_gradient(field, p[0] + b * u[0], p[1] + b * u[1], p[2] + b * u[2])
    return ax * bx + ay * by + az * bz < _OPPOSITE


@inlined
def _is_outside(body: SensedBody, p: Vec3, slack: float) -> bool:
    """Whether a point is outside the body; asks the fine grid only where the coarse is unsure."""
    low, high = body.low, body.high
    if not (low[0] <= p[0] <= high[0] and low[1] <= p[1] <= high[1] and low[2] <= p[2] <= high[2]):
        return True
    d = field_value(body.far, p[0], p[1], p[2])
    if abs(d) <= slack:
        d = field_value(body.near, p[0], p[1], p[2])
    return d >= 0.0
