"""Costs that ask for quiet: small accelerations and forces, grips that stay, a relaxed hand.

All are quadratic in the key states with constant matrices, so they are added to the
normal equations directly. They are the terms with lambda in equations 7 and 12 of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.terms.time import (
    add_time_product,
    add_time_slope,
    has_free_time,
    phase_length,
    timing_cost,
)


class Quiet(NamedTuple):
    """Weights; each is one over a squared tolerance."""

    acceleration: np.ndarray
    """Of every coordinate, (s^2/m or s^2/rad)^2."""
    rest: np.ndarray
    """Of every coordinate, 1/m^2 or 1/rad^2."""
    rest_value: np.ndarray
    rate: np.ndarray
    """(phases, coordinates), (s/m or s/rad)^2."""
    force: float
    """1/N^2."""
    change: float
    """1/N^2, of what forces change by when the body is pushed."""
    creep: float
    """(s/m)^2, of force origins on the body."""
    end_rate: np.ndarray
    """Of every coordinate at the last key, (s/m or s/rad)^2."""


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


def phase_matrices(phase_time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(4, 4) matrices of the integrals of squared acceleration, value and rate."""
    unit = np.array([1.0, phase_time, 1.0, phase_time])
    scaled = np.outer(unit, unit)
    return (
        _BENDING * scaled / phase_time**3,
        _VALUE * scaled * phase_time,
        _MOVING * scaled / phase_time,
    )


class Sums(NamedTuple):
    """Where the normal equations are added up."""

    diagonal: np.ndarray
    below: np.ndarray
    slope: np.ndarray


@kernel
def _coordinate_terms(
    m: Model,
    q: Quiet,
    keys: np.ndarray,
    k: int,
    i: int,
    matrices: tuple,
    powers: tuple,
    out: Sums,
    want: bool,
) -> float:
    """Acceleration, rate and rest of one coordinate in one phase."""
    bending, value, moving = matrices
    bends, values, moves = powers
    rates = m.layout.first_rate
    other = 0 if k + 1 == keys.shape[0] else k + 1
    cost = 0.0
    for a in range(4):
        key, row = k if a < 2 else other, (a % 2) * rates + i
        x = keys[key, row]
        x_rest = x - q.rest_value[i] if a % 2 == 0 else x
        pull = pull_rest = 0.0
        for b in range(4):
            from_key, column = k if b < 2 else other, (b % 2) * rates + i
            y = keys[from_key, column]
            odd = a % 2 + b % 2
            bend = q.acceleration[i] * bending[a, b] * bends[odd]
            bend += q.rate[k, i] * moving[a, b] * moves[odd]
            hold = q.rest[i] * value[a, b] * values[odd]
            pull += bend * y
            pull_rest += hold * (y - q.rest_value[i] if b % 2 == 0 else y)
            if want and key == from_key and row >= column:
                out.diagonal[key, row, column] += bend + hold
            elif want and key != from_key and a >= 2:
                out.below[k, row, column] += bend + hold
        cost += 0.5 * (pull * x + pull_rest * x_rest)
        if want:
            out.slope[key, row] += pull + pull_rest
    return cost


@kernel
def _coordinate_times(
    m: Model,
    q: Quiet,
    keys: np.ndarray,
    k: int,
    i: int,
    matrices: tuple,
    powers: tuple,
    h: float,
    out: Sums,
) -> None:
    """Slopes of the same by the length of the phase.

    An integral is x' M x with M = h^p D N D, where N is constant and D is 1 for values and h for
    rates. It is the square of h^(p/2) R D x with R' R = N, whose slope by h has a factor p/2 for
    values and p/2 + 1 for rates, over h.
    """
    bending, value, moving = matrices
    bends, values, moves = powers
    rates = m.layout.first_rate
    other = 0 if k + 1 == keys.shape[0] else k + 1
    slope = square = 0.0
    for b in range(4):
        column, is_rate = (b % 2) * rates + i, 1.0 if b % 2 == 1 else 0.0
        y = keys[k if b < 2 else other, column]
        y_rest = y if b % 2 == 1 else y - q.rest_value[i]
        bend = move = hold = 0.0
        for a in range(4):
            x = keys[k if a < 2 else other, (a % 2) * rates + i]
            x_rest = x if a % 2 == 1 else x - q.rest_value[i]
            odd, later = a % 2 + b % 2, 1.0 if a % 2 == 1 else 0.0
            bend += (later - 1.5) * x * bending[a, b] * bends[odd]
            move += (later - 0.5) * x * moving[a, b] * moves[odd]
            hold += (later + 0.5) * x_rest * value[a, b] * values[odd]
        bend, move, hold = q.acceleration[i] * bend, q.rate[k, i] * move, q.rest[i] * hold
        add_time_product(m, out, k, other, b >= 2, column, (bend + move + hold) / h)
        slope += ((bend + move) * y + hold * y_rest) / h
        square += ((is_rate - 1.5) * bend + (is_rate - 0.5) * move) * y / (h * h)
        square += (is_rate + 0.5) * hold * y_rest / (h * h)
    add_time_slope(m, out, k, other, slope, square)


@kernel
def _pair_times(
    m: Model, keys: np.ndarray, k: int, i: int, shares: tuple, half: float, h: float, out: Sums
) -> None:
    """Slopes of ``_pair_terms`` by the length of the phase, to whose 2 half-th power they are."""
    other = 0 if k + 1 == keys.shape[0] else k + 1
    x, y = keys[k, i], keys[other, i]
    by_x, by_y = shares[0] * x + shares[1] * y, shares[0] * y + shares[1] * x
    add_time_product(m, out, k, other, False, i, half * by_x / h)
    add_time_product(m, out, k, other, True, i, half * by_y / h)
    total = by_x * x + by_y * y
    add_time_slope(m, out, k, other, half * total / h, half * half * total / (h * h))


@kernel
def _phase_times(
    m: Model,
    q: Quiet,
    keys: np.ndarray,
    k: int,
    matrices: tuple,
    powers: tuple,
    h: float,
    out: Sums,
) -> None:
    """Slopes of everything that is quiet in a phase, by its length."""
    layout = m.layout
    for i in range(layout.num_coordinates):
        _coordinate_times(m, q, keys, k, i, matrices, powers, h, out)
    for i in range(layout.first_force, layout.first_origin):
        _pair_times(m, keys, k, i, (q.force * h / 3.0, q.force * h / 6.0), 0.5, h, out)
    for i in range(layout.first_origin, layout.first_change):
        _pair_times(m, keys, k, i, (q.creep / h, -q.creep / h), -0.5, h, out)
    if m.is_pushed[k]:
        for i in range(layout.first_change, layout.shift):
            _pair_times(m, keys, k, i, (q.change * h / 3.0, q.change * h / 6.0), 0.5, h, out)


@kernel
def _pair_terms(
    keys: np.ndarray, k: int, i: int, share: float, cross_share: float, out: Sums, want: bool
) -> float:
    """(share x^2 + share y^2) / 2 + cross_share x y of a variable at the two keys of a phase."""
    other = 0 if k + 1 == keys.shape[0] else k + 1
    x, y = keys[k, i], keys[other, i]
    if want:
        out.slope[k, i] += share * x + cross_share * y
        out.slope[other, i] += share * y + cross_share * x
        out.diagonal[k, i, i] += share
        out.diagonal[other, i, i] += share
        out.below[k, i, i] += cross_share
    return 0.5 * share * (x * x + y * y) + cross_share * x * y


@kernel
def quiet_cost(
    m: Model, q: Quiet, keys: np.ndarray, matrices: tuple, out: Sums, want: bool
) -> float:
    """Cost of a motion; adds to the normal equations if wanted."""
    layout, count = m.layout, keys.shape[0]
    cost = 0.0
    for k in range(count if m.is_cyclic else count - 1):
        other = 0 if k + 1 == count else k + 1
        h = phase_length(m, keys[k], keys[other])
        r = h / m.phase_time
        powers = (
            (1.0 / (r * r * r), 1.0 / (r * r), 1.0 / r),
            (r, r * r, r * r * r),
            (1.0 / r, 1.0, r),
        )
        for i in range(layout.num_coordinates):
            cost += _coordinate_terms(m, q, keys, k, i, matrices, powers, out, want)
        if has_free_time(m, k, other):
            cost += timing_cost(m, out, k, other, h, want)
            if want:
                _phase_times(m, q, keys, k, matrices, powers, h, out)
        for i in range(layout.first_force, layout.first_origin):
            cost += _pair_terms(keys, k, i, q.force * h / 3.0, q.force * h / 6.0, out, want)
        for i in range(layout.first_origin, layout.first_change):
            cost += _pair_terms(keys, k, i, q.creep / h, -q.creep / h, out, want)
        if m.is_pushed[k]:
            for i in range(layout.first_change, layout.shift):
                cost += _pair_terms(keys, k, i, q.change * h / 3.0, q.change * h / 6.0, out, want)
    if not m.is_cyclic:
        last, rates = count - 1, layout.first_rate
        for i in range(layout.num_coordinates):
            rate = keys[last, rates + i]
            cost += 0.5 * q.end_rate[i] * rate * rate
            if want:
                out.slope[last, rates + i] += q.end_rate[i] * rate
                out.diagonal[last, rates + i, rates + i] += q.end_rate[i]
    return cost
