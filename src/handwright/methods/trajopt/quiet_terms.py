"""Costs that ask for quiet: small accelerations, small forces, origins that stay, a relaxed hand.

All are quadratic in the key states with the same matrix in every phase, so they are added to the
normal equations directly. They are the terms with lambda in equations 7 and 12 of the paper.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.math.compiled import loose
from handwright.methods.trajopt.model import Model


class Quiet(NamedTuple):
    """Weights; each is one over a squared tolerance."""

    acceleration: np.ndarray
    """Of every coordinate, (s^2/m or s^2/rad)^2."""
    rest: np.ndarray
    """Of every coordinate, 1/m^2 or 1/rad^2."""
    rest_value: np.ndarray
    force: float
    """1/N^2."""
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


def phase_matrices(phase_time: float) -> tuple[np.ndarray, np.ndarray]:
    """(4, 4) matrices of the integrals of squared acceleration and of squared value."""
    unit = np.array([1.0, phase_time, 1.0, phase_time])
    scaled = np.outer(unit, unit)
    return _BENDING * scaled / phase_time**3, _VALUE * scaled * phase_time


@loose
def quiet_cost(
    m: Model,
    q: Quiet,
    keys: np.ndarray,
    bending: np.ndarray,
    value: np.ndarray,
    diagonal: np.ndarray,
    below: np.ndarray,
    slope: np.ndarray,
    want: bool,
) -> float:
    """Cost of a motion; adds to the normal equations if wanted."""
    nq, nc = m.num_coordinates, m.num_contacts
    h, cost = m.phase_time, 0.0
    count = keys.shape[0]
    phases = count if m.is_cyclic else count - 1
    for k in range(phases):
        other = 0 if k + 1 == count else k + 1
        for i in range(nq):
            for a in range(4):
                key, row = (k, (a % 2) * nq + i) if a < 2 else (other, (a % 2) * nq + i)
                pull = 0.0
                for b in range(4):
                    from_key, column = (k, (b % 2) * nq + i) if b < 2 else (other, (b % 2) * nq + i)
                    x = keys[from_key, column]
                    rest = x - q.rest_value[i] if b % 2 == 0 else x
                    bend, hold = q.acceleration[i] * bending[a, b], q.rest[i] * value[a, b]
                    pull += bend * x + hold * rest
                    if want:
                        if key == from_key:
                            if row >= column:
                                diagonal[key, row, column] += bend + hold
                        elif a >= 2:
                            below[k, row, column] += bend + hold
                x = keys[key, row]
                rest = x - q.rest_value[i] if a % 2 == 0 else x
                hold = 0.0
                for b in range(4):
                    from_key, column = (k, (b % 2) * nq + i) if b < 2 else (other, (b % 2) * nq + i)
                    y = keys[from_key, column]
                    y_rest = y - q.rest_value[i] if b % 2 == 0 else y
                    hold += q.acceleration[i] * bending[a, b] * y * x
                    hold += q.rest[i] * value[a, b] * y_rest * rest
                cost += 0.5 * hold
                if want:
                    slope[key, row] += pull
        for i in range(2 * nq, 2 * nq + 3 * nc):
            x, y = keys[k, i], keys[other, i]
            share = q.force * h / 6.0
            cost += share * (x * x + x * y + y * y)
            if want:
                slope[k, i] += share * (2.0 * x + y)
                slope[other, i] += share * (2.0 * y + x)
                diagonal[k, i, i] += 2.0 * share
                diagonal[other, i, i] += 2.0 * share
                below[k, i, i] += share
        for i in range(2 * nq + 3 * nc, 2 * nq + 6 * nc):
            move = keys[other, i] - keys[k, i]
            share = q.creep / h
            cost += 0.5 * share * move * move
            if want:
                slope[k, i] -= share * move
                slope[other, i] += share * move
                diagonal[k, i, i] += share
                diagonal[other, i, i] += share
                below[k, i, i] -= share
    if not m.is_cyclic:
        last = count - 1
        for i in range(nq):
            rate = keys[last, nq + i]
            cost += 0.5 * q.end_rate[i] * rate * rate
            if want:
                slope[last, nq + i] += q.end_rate[i] * rate
                diagonal[last, nq + i, nq + i] += q.end_rate[i]
    return cost
