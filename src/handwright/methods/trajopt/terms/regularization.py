"""Regularization: small accelerations and forces, grips that stay, a relaxed hand.

All terms are quadratic in the key states with constant matrices, so they are added to the normal
equations directly. They are the terms with lambda in equations 7 and 12 of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.model.workspace import NormalEquations
from handwright.methods.trajopt.terms.time import (
    add_time_gradient,
    add_time_product,
    has_free_time,
    phase_length,
    timing_cost,
)


class RegularizationWeights(NamedTuple):
    """Weights of the quadratic terms; each is one over a squared tolerance."""

    acceleration: Float[np.ndarray, " Q"]
    """Weight of every coordinate's acceleration, (s^2/m)^2 or (s^2/rad)^2."""
    rest: Float[np.ndarray, " Q"]
    """Weight of every coordinate's distance from ``rest_value``, 1/m^2 or 1/rad^2."""
    rest_value: Float[np.ndarray, " Q"]
    """Value of every coordinate in the rest posture, m or rad."""
    rate: Float[np.ndarray, "P Q"]
    """Weight of every coordinate's rate in every phase, (s/m)^2 or (s/rad)^2."""
    force: float
    """Weight of forces, 1/N^2."""
    change: float
    """Weight of the changes of forces under pushes, 1/N^2."""
    creep: float
    """Weight of the velocity of force origins on the body, (s/m)^2."""
    end_rate: Float[np.ndarray, " Q"]
    """Weight of every coordinate's rate at the last key, (s/m)^2 or (s/rad)^2."""


# Integrals over a phase of unit length, with states (value, rate, value, rate) at its ends.
_BENDING = np.array(
    [
        [12.0, 6.0, -12.0, 6.0],
        [6.0, 4.0, -6.0, 2.0],
        [-12.0, -6.0, 12.0, -6.0],
        [6.0, 2.0, -6.0, 4.0],
    ]
)
_VALUE = (
    np.array(
        [
            [156.0, 22.0, 54.0, -13.0],
            [22.0, 4.0, 13.0, -3.0],
            [54.0, 13.0, 156.0, -22.0],
            [-13.0, -3.0, -22.0, 4.0],
        ]
    )
    / 420.0
)
_MOVING = (
    np.array(
        [
            [36.0, 3.0, -36.0, 3.0],
            [3.0, 4.0, -3.0, -1.0],
            [-36.0, -3.0, 36.0, -3.0],
            [3.0, -1.0, -3.0, 4.0],
        ]
    )
    / 30.0
)


def phase_matrices(
    phase_time: float,
) -> tuple[Float[np.ndarray, "4 4"], Float[np.ndarray, "4 4"], Float[np.ndarray, "4 4"]]:
    """Matrices of the integrals of squared acceleration, value and rate over a phase."""
    unit = np.array([1.0, phase_time, 1.0, phase_time])
    scaled = np.outer(unit, unit)
    return (
        _BENDING * scaled / phase_time**3,
        _VALUE * scaled * phase_time,
        _MOVING * scaled / phase_time,
    )


class _Phase(NamedTuple):
    """One phase and the integrals over it.

    The matrices are for an unshifted phase. An entry for two states of which n are rates is
    multiplied by element n of the powers of the phase's relative length.
    """

    first: int
    """Number of its first key."""
    second: int
    """Number of its second key."""
    length: float
    """Length, s."""
    bending: np.ndarray
    value: np.ndarray
    moving: np.ndarray
    bending_powers: tuple
    value_powers: tuple
    moving_powers: tuple


@kernel
def _phase(m: Model, keys: np.ndarray, k: int, matrices: tuple) -> _Phase:
    """Phase ``k`` of a motion."""
    bending, value, moving = matrices
    other = 0 if k + 1 == keys.shape[0] else k + 1
    h = phase_length(m, keys[k], keys[other])
    r = h / m.phase_time
    return _Phase(
        k,
        other,
        h,
        bending,
        value,
        moving,
        (1.0 / (r * r * r), 1.0 / (r * r), 1.0 / r),
        (r, r * r, r * r * r),
        (1.0 / r, 1.0, r),
    )


@kernel
def _coordinate_terms(
    m: Model,
    w: RegularizationWeights,
    keys: np.ndarray,
    phase: _Phase,
    i: int,
    out: NormalEquations,
    with_gradient: bool,
) -> float:
    """Acceleration, rate and distance from rest of coordinate ``i`` in one phase."""
    rates, k, other = m.layout.first_rate, phase.first, phase.second
    cost = 0.0
    for a in range(4):
        key, row = k if a < 2 else other, (a % 2) * rates + i
        x = keys[key, row]
        x_rest = x - w.rest_value[i] if a % 2 == 0 else x
        pull = pull_rest = 0.0
        for b in range(4):
            from_key, column = k if b < 2 else other, (b % 2) * rates + i
            y = keys[from_key, column]
            odd = a % 2 + b % 2
            bend = w.acceleration[i] * phase.bending[a, b] * phase.bending_powers[odd]
            bend += w.rate[k, i] * phase.moving[a, b] * phase.moving_powers[odd]
            hold = w.rest[i] * phase.value[a, b] * phase.value_powers[odd]
            pull += bend * y
            pull_rest += hold * (y - w.rest_value[i] if b % 2 == 0 else y)
            if with_gradient and key == from_key and row >= column:
                out.diagonal[key, row, column] += bend + hold
            elif with_gradient and key != from_key and a >= 2:
                out.below[k, row, column] += bend + hold
        cost += 0.5 * (pull * x + pull_rest * x_rest)
        if with_gradient:
            out.gradient[key, row] += pull + pull_rest
    return cost


@kernel
def _coordinate_times(
    m: Model,
    w: RegularizationWeights,
    keys: np.ndarray,
    phase: _Phase,
    i: int,
    out: NormalEquations,
) -> None:
    """Derivatives of ``_coordinate_terms`` by the length of the phase.

    An integral is x' M x with M = h^p D N D, where N is constant and D is 1 for values and h for
    rates. It is the square of h^(p/2) R D x with R' R = N, whose derivative by h has a factor p/2
    for values and p/2 + 1 for rates, over h.
    """
    rates, k, other, h = m.layout.first_rate, phase.first, phase.second, phase.length
    by_length = square = 0.0
    for b in range(4):
        column, is_rate = (b % 2) * rates + i, 1.0 if b % 2 == 1 else 0.0
        y = keys[k if b < 2 else other, column]
        y_rest = y if b % 2 == 1 else y - w.rest_value[i]
        bend = move = hold = 0.0
        for a in range(4):
            x = keys[k if a < 2 else other, (a % 2) * rates + i]
            x_rest = x if a % 2 == 1 else x - w.rest_value[i]
            odd, later = a % 2 + b % 2, 1.0 if a % 2 == 1 else 0.0
            bend += (later - 1.5) * x * phase.bending[a, b] * phase.bending_powers[odd]
            move += (later - 0.5) * x * phase.moving[a, b] * phase.moving_powers[odd]
            hold += (later + 0.5) * x_rest * phase.value[a, b] * phase.value_powers[odd]
        bend, move, hold = w.acceleration[i] * bend, w.rate[k, i] * move, w.rest[i] * hold
        add_time_product(m, out, (k, other, b >= 2), column, (bend + move + hold) / h)
        by_length += ((bend + move) * y + hold * y_rest) / h
        square += ((is_rate - 1.5) * bend + (is_rate - 0.5) * move) * y / (h * h)
        square += (is_rate + 0.5) * hold * y_rest / (h * h)
    add_time_gradient(m, out, k, other, by_length, square)


@kernel
def _pair_blocks(m: Model, w: RegularizationWeights, phase: _Phase) -> tuple:
    """Variables that are linear between keys: forces, origins, and changes under pushes.

    Each of the three has its first index and the one after its last, the shares of
    ``_pair_terms``, and half the power of the phase's length that these go with.
    """
    layout, h = m.layout, phase.length
    end = layout.shift if m.schedule.is_pushed[phase.first] else layout.first_change
    return (
        (layout.first_force, layout.first_origin, w.force * h / 3.0, w.force * h / 6.0, 0.5),
        (layout.first_origin, layout.first_change, w.creep / h, -w.creep / h, -0.5),
        (layout.first_change, end, w.change * h / 3.0, w.change * h / 6.0, 0.5),
    )


@kernel
def _pair_terms(
    keys: np.ndarray, phase: _Phase, i: int, block: tuple, out: NormalEquations, with_gradient: bool
) -> float:
    """(share x^2 + share y^2) / 2 + cross_share x y of a variable at the two keys of a phase."""
    k, other, share, cross_share = phase.first, phase.second, block[2], block[3]
    x, y = keys[k, i], keys[other, i]
    if with_gradient:
        out.gradient[k, i] += share * x + cross_share * y
        out.gradient[other, i] += share * y + cross_share * x
        out.diagonal[k, i, i] += share
        out.diagonal[other, i, i] += share
        out.below[k, i, i] += cross_share
    return 0.5 * share * (x * x + y * y) + cross_share * x * y


@kernel
def _pair_times(
    m: Model, keys: np.ndarray, phase: _Phase, i: int, block: tuple, out: NormalEquations
) -> None:
    """Derivatives of ``_pair_terms`` by the length h of the phase; they go with h^(2 half)."""
    k, other, h = phase.first, phase.second, phase.length
    _, _, share, cross_share, half = block
    x, y = keys[k, i], keys[other, i]
    by_x, by_y = share * x + cross_share * y, share * y + cross_share * x
    add_time_product(m, out, (k, other, False), i, half * by_x / h)
    add_time_product(m, out, (k, other, True), i, half * by_y / h)
    total = by_x * x + by_y * y
    add_time_gradient(m, out, k, other, half * total / h, half * half * total / (h * h))


@kernel
def _phase_times(
    m: Model, w: RegularizationWeights, keys: np.ndarray, phase: _Phase, out: NormalEquations
) -> None:
    """Derivatives of all regularization of a phase by its length."""
    for i in range(m.layout.num_coordinates):
        _coordinate_times(m, w, keys, phase, i, out)
    for block in _pair_blocks(m, w, phase):
        for i in range(block[0], block[1]):
            _pair_times(m, keys, phase, i, block, out)


@kernel
def regularization_cost(
    m: Model,
    w: RegularizationWeights,
    keys: np.ndarray,
    matrices: tuple,
    out: NormalEquations,
    with_gradient: bool,
) -> float:
    """Cost of the regularization of a motion, with the matrices of ``phase_matrices``."""
    layout, count = m.layout, keys.shape[0]
    cost = 0.0
    for k in range(count if m.is_cyclic else count - 1):
        phase = _phase(m, keys, k, matrices)
        for i in range(layout.num_coordinates):
            cost += _coordinate_terms(m, w, keys, phase, i, out, with_gradient)
        if has_free_time(m, k, phase.second):
            cost += timing_cost(m, out, k, phase.second, phase.length, with_gradient)
            if with_gradient:
                _phase_times(m, w, keys, phase, out)
        for block in _pair_blocks(m, w, phase):
            for i in range(block[0], block[1]):
                cost += _pair_terms(keys, phase, i, block, out, with_gradient)
    if not m.is_cyclic:
        last, rates = count - 1, layout.first_rate
        for i in range(layout.num_coordinates):
            rate = keys[last, rates + i]
            cost += 0.5 * w.end_rate[i] * rate * rate
            if with_gradient:
                out.gradient[last, rates + i] += w.end_rate[i] * rate
                out.diagonal[last, rates + i, rates + i] += w.end_rate[i]
    return cost
