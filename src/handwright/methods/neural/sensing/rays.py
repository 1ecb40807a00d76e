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
# By how much a ray stops short of what the far grid promises, in its spacings.
_FAR_SLACK = 0.25
_NUM_REFINEMENTS = 3


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
def body_distance_normal(body: SensedBody, x: float, y: float, z: float) -> tuple:
    """Signed distance at a point, m, and the direction out of the body at its nearest point.

    The direction is the gradient, of length 1 but for ridges, where several parts of the surface
    are equally near: there it fades to nothing instead of leaping from one part to the other.
    """
    if _is_near(body.near, x, y, z):
        d, gx, gy, gz = field_value_gradient(body.near, x, y, z)
    else:
        d, gx, gy, gz = field_value_gradient(body.far, x, y, z)
    scale = 1.0 / max(math.sqrt(gx * gx + gy * gy + gz * gz), _RIDGE)
    return d, scale * gx, scale * gy, scale * gz


@inlined
def _along(body: SensedBody, p: Vec3, u: Vec3, t: float) -> float:
    return body_distance(body, p[0] + t * u[0], p[1] + t * u[1], p[2] + t * u[2])


@kernel
def proximity(body: SensedBody, p: Vec3, normal: Vec3, reach: float) -> float:
    """Reading of a proximity sensor (section 5.2), m.

    Outside the body the distance along the normal to the first hit; inside it the negative
    distance against the normal to where the ray leaves the body; ``reach`` with that sign if the
    surface is farther away. A ray goes on by the distance of the surface, at least by the least
    step, until the sign of the distance changes; the place of the change is then interpolated.

    Args:
        body: In whose frame the sensor is given.
        p: Place of the sensor, m.
        normal: Outward normal of the hand there, unit length.
        reach: Length of rays, m.
    """
    d = body_distance(body, p[0], p[1], p[2])
    side = 1.0 if d >= 0.0 else -1.0
    u = side * normal[0], side * normal[1], side * normal[2]
    least = _LEAST_STEP * body.near.spacing
    slack = _FAR_SLACK * body.far.spacing
    d *= side
    t = 0.0
    while True:
        x, y, z = p[0] + t * u[0], p[1] + t * u[1], p[2] + t * u[2]
        step = d if _is_near(body.near, x, y, z) else d - slack
        after = t + max(step, least)
        # Not "beyond", so that NaN ends the ray too.
        if not after < reach:
            return side * reach
        ahead = side * _along(body, p, u, after)
        if ahead < 0.0:
            return side * _crossing(body, p, u, side, (t, d, after, ahead))
        t, d = after, ahead


@kernel
def _crossing(body: SensedBody, p: Vec3, u: Vec3, side: float, bracket: tuple) -> float:
    """Where the distance along a ray is zero between two places on both sides, m."""
    low, before, high, behind = bracket
    t = low
    for _ in range(_NUM_REFINEMENTS):
        t = low + (high - low) * before / (before - behind)
        d = side * _along(body, p, u, t)
        if d < 0.0:
            high, behind = t, d
        else:
            low, before = t, d
    return t
