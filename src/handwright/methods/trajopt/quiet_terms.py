"""Costs that ask for quiet: small accelerations and forces, grips that stay, a relaxed hand.

All are quadratic in the key states with constant matrices, so they are added to the
normal equations directly. They are the terms with lambda in equations 7 and 12 of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.math.compiled import kernel
from handwright.methods.trajopt.model import Model


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
    m: Model, q: Quiet, keys: np.ndarray, k: int, i: int, matrices: tuple, out: Sums, want: bool
) -> float:
    """Acceleration, rate and rest of one coordinate in one phase."""
    bending, value, moving = matrices
    nq = m.num_coordinates
    other = 0 if k + 1 == keys.shape[0] else k + 1
    cost = 0.0
    for a in range(4):
        key, row = k if a < 2 else other, (a % 2) * nq + i
        x = keys[key, row]
        x_rest = x - q.rest_value[i] if a % 2 == 0 else x
        pull = pull_rest = 0.0
        for b in range(4):
            from_key, column = k if b < 2 else other, (b % 2) * nq + i
            y = keys[from_key, column]
            bend = q.acceleration[i] * bending[a, b] + q.rate[k, i] * moving[a, b]
            hold = q.rest[i] * value[a, b]
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
    nq, nc, count = m.num_coordinates, m.num_contacts, keys.shape[0]
    h, cost = m.phase_time, 0.0
    for k in range(count if m.is_cyclic else count - 1):
        for i in range(nq):
            cost += _coordinate_terms(m, q, keys, k, i, matrices, out, want)
        for i in range(2 * nq, 2 * nq + 3 * nc):
            cost += _pair_terms(keys, k, i, q.force * h / 3.0, q.force * h / 6.0, out, want)
        for i in range(2 * nq + 3 * nc, 2 * nq + 6 * nc):
            cost += _pair_terms(keys, k, i, q.creep / h, -q.creep / h, out, want)
        if m.is_pushed[k]:
            for i in range(2 * nq + 6 * nc, m.first_share):
                cost += _pair_terms(keys, k, i, q.change * h / 3.0, q.change * h / 6.0, out, want)
    if not m.is_cyclic:
        last = count - 1
        for i in range(nq):
            rate = keys[last, nq + i]
            cost += 0.5 * q.end_rate[i] * rate * rate
            if want:
                out.slope[last, nq + i] += q.end_rate[i] * rate
                out.diagonal[last, nq + i, nq + i] += q.end_rate[i]
    return cost
