"""Times of keys as variables: how costs change as a phase takes longer, and what that itself costs.

A key has a shift of its time from where it is without one, so that phase k takes
h = h0 + shift[k + 1] - shift[k]. Every residual is r = sqrt(h) e(z) with z the state at a moment,
which depends on h at given key states through the splines. With u = dz/dh, slopes g and products of
slopes H by z,

    dC/dh = g u + C / h,
    products with other variables: H u + g / (2 h);  with h: u H u + g u / h + C / (2 h^2).

A slope by h counts for the shift of the later key, and its negative for that of the earlier one.
Shifts are variables once contact variables are rounded, not before.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import acceleration_index
from handwright.methods.trajopt.model.model import Model, Room

if TYPE_CHECKING:
    from handwright.methods.trajopt.terms.regularization import Sums

LEAST_STRETCH, MOST_STRETCH = 0.5, 2.0
"""Bounds of a phase, in lengths that it has without shifts."""
# Tolerance of the logarithm of that share; shares from which on steep costs keep off the bounds.
_PULL, _WALL, _STEEP = 0.5, 1.8, 0.02


@kernel
def has_free_time(m: Model, k: int, other: int) -> bool:
    """Whether the length of the phase between two keys is a variable."""
    return not (m.is_pinned[k] and m.is_pinned[other])


@kernel
def phase_length(m: Model, first: np.ndarray, second: np.ndarray) -> float:
    """Time between two key states, s."""
    return m.phase_time + second[m.layout.shift] - first[m.layout.shift]


@kernel
def add_time_slope(m: Model, out: Sums, k: int, other: int, slope: float, square: float) -> None:
    """Adds a slope by the length of phase k, and its product with itself."""
    t = m.layout.shift
    out.slope[k, t] -= slope
    out.slope[other, t] += slope
    out.diagonal[k, t, t] += square
    out.diagonal[other, t, t] += square
    out.below[k, t, t] -= square


@kernel
def add_time_product(
    m: Model, out: Sums, k: int, other: int, is_later: bool, i: int, product: float
) -> None:
    """Adds the product of slopes by the length of phase k and by variable i of one of its keys."""
    t = m.layout.shift
    row, column = max(t, i), min(t, i)
    if is_later:
        out.diagonal[other, row, column] += product
        out.below[k, i, t] -= product
    else:
        out.diagonal[k, row, column] -= product
        out.below[k, t, i] += product


@kernel
def timing_cost(m: Model, out: Sums, k: int, other: int, h: float, want: bool) -> float:
    """Cost of a phase that is longer or shorter than it would be."""
    root, off = math.sqrt(m.phase_time), math.log(h / m.phase_time)
    pull, wall = root / _PULL, root / _STEEP
    beyond = max(abs(off) - math.log(_WALL), 0.0)
    if want:
        side = 1.0 if off > 0.0 else -1.0
        stiff = pull * pull + (wall * wall if beyond > 0.0 else 0.0)
        slope = (pull * pull * off + wall * wall * side * beyond) / h
        add_time_slope(m, out, k, other, slope, stiff / (h * h))
    return 0.5 * ((pull * off) ** 2 + (wall * beyond) ** 2)


@kernel
def _stretch(m: Model, room: Room, at: tuple, first: np.ndarray, second: np.ndarray) -> None:
    """Writes how the state at a moment changes with the length of its phase."""
    layout, rates, change = m.layout, m.layout.first_rate, room.stretch[0]
    s, h = at
    for i in range(change.shape[0]):
        change[i] = 0.0
    s2, s3 = s * s, s * s * s
    slant, bend = (6.0 * s2 - 6.0 * s) / (h * h), (12.0 * s - 6.0) / (h * h * h)
    for i in range(layout.num_coordinates):
        way, v0, v1 = first[i] - second[i], first[rates + i], second[rates + i]
        change[i] = (s3 - 2.0 * s2 + s) * v0 + (s3 - s2) * v1
        change[rates + i] = -slant * way
        if i >= layout.first_body:
            turn = ((6.0 * s - 4.0) * v0 + (6.0 * s - 2.0) * v1) / (h * h)
            change[acceleration_index(layout, i)] = -2.0 * bend * way - turn


@kernel
def spread_time(
    m: Model,
    room: Room,
    at: tuple,
    pair: tuple,
    cost: float,
    takes: tuple,
    out: Sums,
) -> None:
    """Carries what depends on the length of a phase over to its keys.

    Args:
        m: The model.
        room: With slopes of a sample of this cost, in ``slope`` and ``square``.
        at: Fraction of the phase, and its length, s.
        pair: Numbers of the two keys, and their states.
        cost: Of the sample.
        takes: Of ``hermite``.
        out: Normal equations.
    """
    s, h = at
    k, other, first, second = pair
    change, product = room.stretch[0], room.stretch[1]
    _stretch(m, room, at, first, second)
    H, g = room.square, room.slope
    size, layout, rates = g.shape[0], m.layout, m.layout.first_rate
    along = 0.0
    for i in range(size):
        product[i] = 0.5 * g[i] / h
        along += g[i] * change[i]
    for i in range(size):
        for j in range(i + 1):
            if H[i, j] != 0.0:
                product[i] += H[i, j] * change[j]
                if j != i:
                    product[j] += H[i, j] * change[i]
    square = 0.5 * along / h + 0.5 * cost / (h * h)
    for i in range(size):
        square += product[i] * change[i]
    add_time_slope(m, out, k, other, along + cost / h, square)
    value, rate, acceleration = takes
    for i in range(layout.num_coordinates):
        bent = product[acceleration_index(layout, i)] if i >= layout.first_body else 0.0
        for a in range(4):
            total = value[a] * product[i] + rate[a] * product[rates + i] + acceleration[a] * bent
            add_time_product(m, out, k, other, a >= 2, (a % 2) * rates + i, total)
    for i in range(layout.first_force, layout.size):
        if product[i] != 0.0:
            if i < layout.first_contact:
                add_time_product(m, out, k, other, False, i, (1.0 - s) * product[i])
                add_time_product(m, out, k, other, True, i, s * product[i])
            else:
                add_time_product(m, out, k, other, False, i, product[i])
