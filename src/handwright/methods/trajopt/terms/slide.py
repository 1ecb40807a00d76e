"""Friction of a contact that slides.

With v the velocity of the body relative to what it slides on, along the surface, the residual is

    b f_t + mu f_n |v| v / (v^2 + e^2),   b = v^2 / (v^2 + e^2),

which is Coulomb's law of sliding for speeds well above e, and zero at rest, where any force in the
cone is possible. e is the speed below which the certificate counts a contact as static.
"""

from __future__ import annotations

import math

from handwright.core.tolerances import STATIC_SPEED
from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.vectors import dot, tangential

# Speeds are smoothed to this near zero, m/s.
_ROUND = 1e-6


@kernel
def slide_residual(force: tuple, slip: tuple, n: tuple, mu: float) -> tuple:
    """Difference between a force, in weights, and the friction of sliding.

    Args:
        force: Force on the body.
        slip: Velocity of the body relative to the other surface, m/s.
        n: Unit normal into the body.
        mu: Coefficient of friction.
    """
    v, ft = tangential(n, slip), tangential(n, force)
    square = dot(v, v)
    bottom = square + STATIC_SPEED * STATIC_SPEED
    share = square / bottom
    drag = mu * dot(force, n) * math.sqrt(square + _ROUND * _ROUND) / bottom
    return (
        share * ft[0] + drag * v[0],
        share * ft[1] + drag * v[1],
        share * ft[2] + drag * v[2],
    )


@kernel
def slide_derivative(
    force: tuple, slip: tuple, n: tuple, mu: float, by_force: tuple, by_slip: tuple, by_n: tuple
) -> tuple:
    """Derivative of ``slide_residual``, from those of force, slip and normal."""
    v, ft = tangential(n, slip), tangential(n, force)
    fn, vn = dot(force, n), dot(slip, n)
    dfn = dot(by_force, n) + dot(force, by_n)
    dvn = dot(by_slip, n) + dot(slip, by_n)
    square, small = dot(v, v), STATIC_SPEED * STATIC_SPEED
    bottom = square + small
    size = math.sqrt(square + _ROUND * _ROUND)
    dft = (
        by_force[0] - dfn * n[0] - fn * by_n[0],
        by_force[1] - dfn * n[1] - fn * by_n[1],
        by_force[2] - dfn * n[2] - fn * by_n[2],
    )
    dv = (
        by_slip[0] - dvn * n[0] - vn * by_n[0],
        by_slip[1] - dvn * n[1] - vn * by_n[1],
        by_slip[2] - dvn * n[2] - vn * by_n[2],
    )
    half = dot(v, dv)
    share, dshare = square / bottom, 2.0 * half * small / (bottom * bottom)
    drag = size / bottom
    ddrag = half / (size * bottom) - 2.0 * half * size / (bottom * bottom)
    a, b = mu * (dfn * drag + fn * ddrag), mu * fn * drag
    return (
        dshare * ft[0] + share * dft[0] + a * v[0] + b * dv[0],
        dshare * ft[1] + share * dft[1] + a * v[1] + b * dv[1],
        dshare * ft[2] + share * dft[2] + a * v[2] + b * dv[2],
    )
