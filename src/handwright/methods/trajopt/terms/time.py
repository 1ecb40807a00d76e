"""Times of keys as variables: how costs change with the length of a phase, and its own cost.

A key has a shift of its time, so that phase k takes h = h0 + shift[k + 1] - shift[k]. Every
residual is r = sqrt(h) e(z) with z the state at a moment, which depends on h at given key states
through the splines. With u = dz/dh, and g and H the gradient and Gauss-Newton matrix by z,

    dC/dh = g u + C / h,
    matrix with other variables: H u + g / (2 h);  with h: u H u + g u / h + C / (2 h^2).

A derivative by h counts for the shift of the later key, and its negative for that of the earlier
one. Shifts are variables once contact variables are rounded, not before.
"""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import acceleration_index
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.model.workspace import NormalEquations, SampleWorkspace

LEAST_STRETCH, MOST_STRETCH = 0.5, 2.0
"""Bounds of the relative length of a phase: its length over that with unshifted keys."""
# Tolerance of the logarithm of the relative length; the relative length, or one over it, from which
# on a steep cost keeps off the bounds; and the tolerance of that cost.
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
def add_time_gradient(
    m: Model, out: NormalEquations, k: int, other: int, by_length: float, square: float
) -> None:
    """Adds a derivative by the length of phase k, and its entry of the matrix with itself."""
    t = m.layout.shift
    out.gradient[k, t] -= by_length
    out.gradient[other, t] += by_length
    out.diagonal[k, t, t] += square
    out.diagonal[other, t, t] += square
    out.below[k, t, t] -= square


@kernel
def add_time_product(m: Model, out: NormalEquations, key: tuple, i: int, product: float) -> None:
    """Adds the entry of the matrix for the length of a phase and variable i of one of its keys.

    ``key`` has the numbers of the two keys, and whether the variable is of the later one.
    """
    k, other, is_later = key
    t = m.layout.shift
    row, column = max(t, i), min(t, i)
    if is_later:
        out.diagonal[other, row, column] += product
        out.below[k, i, t] -= product
    else:
        out.diagonal[k, row, column] -= product
        out.below[k, t, i] += product


@kernel
def timing_cost(
    m: Model, out: NormalEquations, k: int, other: int, h: float, with_gradient: bool
) -> float:
    """Cost of a phase that is longer or shorter than with unshifted keys."""
    root, off = math.sqrt(m.phase_time), math.log(h / m.phase_time)
    pull, wall = root / _PULL, root / _STEEP
    beyond = max(abs(off) - math.log(_WALL), 0.0)
    if with_gradient:
        sign = 1.0 if off > 0.0 else -1.0
        stiff = pull * pull + (wall * wall if beyond > 0.0 else 0.0)
        by_length = (pull * pull * off + wall * wall * sign * beyond) / h
        add_time_gradient(m, out, k, other, by_length, stiff / (h * h))
    return 0.5 * ((pull * off) ** 2 + (wall * beyond) ** 2)


@kernel
def _state_by_length(
    m: Model, work: SampleWorkspace, at: tuple, first: np.ndarray, second: np.ndarray
) -> None:
    """Writes the derivative of the state at a moment by the length of its phase."""
    layout, rates, change = m.layout, m.layout.first_rate, work.by_length[0]
    s, h = at
    for i in range(change.shape[0]):
        change[i] = 0.0
    s2, s3 = s * s, s * s * s
    slant, bend = (6.0 * s2 - 6.0 * s) / (h * h), (12.0 * s - 6.0) / (h * h * h)
    for i in range(layout.num_coordinates):
        difference, v0, v1 = first[i] - second[i], first[rates + i], second[rates + i]
        change[i] = (s3 - 2.0 * s2 + s) * v0 + (s3 - s2) * v1
        change[rates + i] = -slant * difference
        if i >= layout.first_body:
            by_rates = ((6.0 * s - 4.0) * v0 + (6.0 * s - 2.0) * v1) / (h * h)
            change[acceleration_index(layout, i)] = -2.0 * bend * difference - by_rates


@kernel
def distribute_time(
    m: Model,
    work: SampleWorkspace,
    at: tuple,
    pair: tuple,
    cost: float,
    basis: tuple,
    out: NormalEquations,
) -> None:
    """Adds what depends on the length of a phase to the normal equations of its keys.

    Gradient and matrix of a sample of this cost are in ``work``; ``at`` is the fraction of the
    phase and its length, s, ``pair`` the numbers of the two keys and their states, and ``basis``
    the values of ``hermite``.
    """
    s, h = at
    k, other, first, second = pair
    change, product = work.by_length[0], work.by_length[1]
    _state_by_length(m, work, at, first, second)
    H, g = work.hessian, work.gradient
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
    add_time_gradient(m, out, k, other, along + cost / h, square)
    value, rate, acceleration = basis
    for i in range(layout.num_coordinates):
        by_bend = product[acceleration_index(layout, i)] if i >= layout.first_body else 0.0
        for a in range(4):
            total = value[a] * product[i] + rate[a] * product[rates + i] + acceleration[a] * by_bend
            add_time_product(m, out, (k, other, a >= 2), (a % 2) * rates + i, total)
    for i in range(layout.first_force, layout.size):
        if product[i] != 0.0:
            if i < layout.first_contact:
                add_time_product(m, out, (k, other, False), i, (1.0 - s) * product[i])
                add_time_product(m, out, (k, other, True), i, s * product[i])
            else:
                add_time_product(m, out, (k, other, False), i, product[i])
