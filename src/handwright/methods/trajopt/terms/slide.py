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
from handwright.methods.trajopt.model import vectors as vec

# Speeds are smoothed to this near zero, m/s.
_ROUND = 1e-6


@kernel
def slide_residual(force: tuple, slip: tuple, n: tuple, mu: float) -> tuple:
    """Difference between a force on the body, in weights, and the friction of sliding.

    ``slip`` is the velocity of the body relative to the other surface, m/s, and ``n`` the unit
    normal into the body.
    """
    v, ft = vec.tangential(n, slip), vec.tangential(n, force)
    square = vec.dot(v, v)
    bottom = square + STATIC_SPEED * STATIC_SPEED
    share = square / bottom
    drag = mu * vec.dot(force, n) * math.sqrt(square + _ROUND * _ROUND) / bottom
    return vec.plus_times(vec.times(ft, share), v, drag)


@kernel
def slide_derivative(force: tuple, slip: tuple, n: tuple, mu: float, by: tuple) -> tuple:
    """Derivative of ``slide_residual``; ``by`` are those of force, slip and normal."""
    by_force, by_slip, by_n = by
    v, ft = vec.tangential(n, slip), vec.tangential(n, force)
    fn, vn = vec.dot(force, n), vec.dot(slip, n)
    dfn = vec.dot(by_force, n) + vec.dot(force, by_n)
    dvn = vec.dot(by_slip, n) + vec.dot(slip, by_n)
    dft = vec.plus_times(vec.plus_times(by_force, n, -dfn), by_n, -fn)
    dv = vec.plus_times(vec.plus_times(by_slip, n, -dvn), by_n, -vn)
    square, small = vec.dot(v, v), STATIC_SPEED * STATIC_SPEED
    bottom = square + small
    size = math.sqrt(square + _ROUND * _ROUND)
    half = vec.dot(v, dv)
    share, dshare = square / bottom, 2.0 * half * small / (bottom * bottom)
    drag = size / bottom
    ddrag = half / (size * bottom) - 2.0 * half * size / (bottom * bottom)
    a, b = mu * (dfn * drag + fn * ddrag), mu * fn * drag
    change = vec.plus_times(vec.times(ft, dshare), dft, share)
    return vec.plus_times(vec.plus_times(change, v, a), dv, b)
