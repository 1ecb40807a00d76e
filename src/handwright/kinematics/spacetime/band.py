"""Quadratic problems with a banded matrix, inside a box: the step of spacetime optimisation.

    minimise  s' A s + 2 g' s   subject to   low <= s <= high

A couples each unknown with at most ``width`` after it. Row u of a band holds row u of the upper
triangle, from the diagonal on: ``matrix[u, k]`` is A[u, u + k], zero where there is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined_loose, linked

_LOWER, _FREE, _UPPER = -1, 0, 1
# How often all misplaced unknowns may change sides although that did not make them fewer.
_CHANCES = 3


class Band(NamedTuple):
    """A banded quadratic problem with room for its solution."""

    matrix: np.ndarray
    """(U, width + 1)"""
    gradient: np.ndarray
    """(U,) g."""
    low: np.ndarray
    """(U,) 0 or less."""
    high: np.ndarray
    """(U,) 0 or more."""
    factor: np.ndarray
    """(U + width, width + 1), D L' of A = L D L', the reciprocals of D in the first column."""
    step: np.ndarray
    """(U + width,) s, then zeros."""
    extra: np.ndarray
    """(U + width,) right side and solution of a further solve, then zeros."""
    held: np.ndarray
    """(U,) -1 at the lower bound, 1 at the upper, 0 between; a guess beforehand."""


def make_band(num_unknowns: int, width: int) -> Band:
    """Room for a banded problem.

    Args:
        num_unknowns: U.
        width: How many unknowns after it each one is coupled with.
    """
    return Band(
        np.zeros((num_unknowns, width + 1)),
        np.zeros(num_unknowns),
        np.zeros(num_unknowns),
        np.zeros(num_unknowns),
        np.zeros((num_unknowns + width, width + 1)),
        np.zeros(num_unknowns + width),
        np.zeros(num_unknowns + width),
        np.zeros(num_unknowns, dtype=np.int64),
    )


@inlined_loose
def _factorise(band: Band, size: int, damping: float) -> None:
    """LDL' of A with a larger diagonal, over the unknowns that are not held."""
    width = band.matrix.shape[1] - 1
    factor, held = band.factor, band.held
    for u in range(size):
        row, source = factor[u], band.matrix[u]
        if held[u] == _FREE:
            row[0] = source[0] * (1.0 + damping) + 1e-18
            for k in range(1, min(width, size - 1 - u) + 1):
                row[k] = source[k] if held[u + k] == _FREE else 0.0
        else:
            row[0] = 1.0
            for k in range(1, width + 1):
                row[k] = 0.0
    for u in range(size):
        row = factor[u]
        inverse = 1.0 / max(row[0], 1e-24)
        row[0] = inverse
        for i in range(1, min(width, size - 1 - u) + 1):
            if row[i] != 0.0:
                share = row[i] * inverse
                target, source = factor[u + i, : width + 1 - i], factor[u, i:]
                for k in range(len(target)):
                    target[k] -= share * source[k]


@inlined_loose
def solve_factor(band: Band, size: int, vector: np.ndarray) -> None:
    """Solves with the last factor, in place; what held unknowns have in the vector stays."""
    width = band.matrix.shape[1] - 1
    factor, held = band.factor, band.held
    for u in range(size):
        if held[u] == _FREE:
            vector[u] *= factor[u, 0]
            row, rest = factor[u, 1:], vector[u + 1 : u + 1 + width]
            for k in range(len(row)):
                rest[k] -= row[k] * vector[u]
    for u in range(size - 1, -1, -1):
        if held[u] == _FREE:
            row, rest = factor[u, 1:], vector[u + 1 : u + 1 + width]
            total = 0.0
            for k in range(len(row)):
                total += row[k] * rest[k]
            vector[u] -= total * factor[u, 0]


@inlined_loose
def _substitute(band: Band, size: int) -> None:
    """Solves for the free unknowns with the held ones at their bounds."""
    width = band.matrix.shape[1] - 1
    step, held = band.step, band.held
    for u in range(size):
        if held[u] == _FREE:
            step[u] = -band.gradient[u]
        else:
            step[u] = band.low[u] if held[u] == _LOWER else band.high[u]
    # Held unknowns that move act on their free neighbours; in the factor they are cut off.
    for u in range(size):
        if held[u] != _FREE and step[u] != 0.0:
            for v in range(max(0, u - width), min(size, u + width + 1)):
                if held[v] == _FREE:
                    step[v] -= band.matrix[min(u, v), abs(u - v)] * step[u]
    solve_factor(band, size, step)


@inlined_loose
def _product(band: Band, size: int, u: int) -> float:
    """(A s)[u]."""
    width = band.matrix.shape[1] - 1
    total = 0.0
    for k in range(min(width, size - 1 - u) + 1):
        total += band.matrix[u, k] * band.step[u + k]
    for v in range(max(0, u - width), u):
        total += band.matrix[v, u - v] * band.step[v]
    return total


@inlined_loose
def _side(band: Band, size: int, u: int, damping: float) -> int:
    """Where an unknown should be, given where all are: at a bound or between."""
    held = band.held[u]
    if held == _FREE:
        if band.step[u] < band.low[u]:
            return _LOWER
        return _UPPER if band.step[u] > band.high[u] else _FREE
    if band.low[u] >= band.high[u]:
        return held
    slope = band.gradient[u] + _product(band, size, u)
    slope += damping * band.matrix[u, 0] * band.step[u]
    return _FREE if slope * held > 0.0 else held


@linked
def bounded_step(band: Band, size: int, damping: float, max_rounds: int) -> tuple[float, bool, int]:
    """Solves the problem with ``damping`` times its diagonal added to the matrix.

    Block principal pivoting (Judice & Pires 1994): all unknowns that are across a bound, or at one
    that they are pulled away from, change sides at once. When that does not make them fewer, only
    the last of them does for a while, which always ends.

    Args:
        band: The problem; its step and held unknowns are written.
        size: Number of unknowns that are used, from the first.
        damping: 0 for the problem itself.
        max_rounds: Factorisations, at most. After the last the step is cut off at the bounds.

    Returns:
        How much the step lowers the quadratic without damping, whether it is the exact solution,
        and the number of factorisations.
    """
    held = band.held
    for u in range(size):
        if band.low[u] >= band.high[u]:
            held[u] = _LOWER
    fewest, chances, rounds = size + 1, _CHANCES, 0
    while True:
        _factorise(band, size, damping)
        _substitute(band, size)
        rounds += 1
        misplaced, last, last_side = 0, 0, 0
        for u in range(size):
            side = _side(band, size, u, damping)
            if side != held[u]:
                misplaced += 1
                last, last_side = u, side
        if misplaced == 0 or rounds >= max_rounds:
            break
        chances = _CHANCES if misplaced < fewest else chances - 1
        fewest = min(fewest, misplaced)
        if chances >= 0:
            for u in range(size):
                # Sides depend on the step, which stays as it is, and on no other side.
                held[u] = _side(band, size, u, damping)
        else:
            held[last] = last_side
    if misplaced > 0:
        for u in range(size):
            band.step[u] = min(max(band.step[u], band.low[u]), band.high[u])
    promise = 0.0
    for u in range(size):
        promise -= band.step[u] * (2.0 * band.gradient[u] + _product(band, size, u))
    return promise, misplaced == 0, rounds
