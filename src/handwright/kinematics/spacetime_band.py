"""Quadratic problems with a banded matrix, inside a box: the step of spacetime optimisation.

    minimise  s' A s + 2 g' s   subject to   low <= s <= high

A couples each unknown with the ``width`` before it. Rows of a band hold a row of the lower
triangle, the diagonal last: ``band[u, width - k]`` is A[u, u - k].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.math.compiled import inlined_loose, kernel

# With joints that only ever stop the search ends; before that many rounds it may also let go.
_ROUNDS_OF_RELEASE = 12
_LOWER, _FREE, _UPPER = -1, 0, 1


class Band(NamedTuple):
    """A banded quadratic problem with room for its solution."""

    matrix: np.ndarray
    """(U, width + 1)"""
    gradient: np.ndarray
    """(U,) g."""
    low: np.ndarray
    """(U,)"""
    high: np.ndarray
    """(U,)"""
    factor: np.ndarray
    """(U, width + 1), L with 1 / D on its diagonal."""
    scaled: np.ndarray
    """(width + 1,) one row of L D."""
    step: np.ndarray
    """(U,) s."""
    held: np.ndarray
    """(U,) -1 at the lower bound, 1 at the upper, 0 between; kept for the next problem."""


def make_band(num_unknowns: int, width: int) -> Band:
    """Room for a banded problem.

    Args:
        num_unknowns: U.
        width: How many unknowns before it each one is coupled with.
    """
    vectors = [np.zeros(num_unknowns) for _ in range(4)]
    return Band(
        np.zeros((num_unknowns, width + 1)),
        vectors[0],
        vectors[1],
        vectors[2],
        np.zeros((num_unknowns, width + 1)),
        np.zeros(width + 1),
        vectors[3],
        np.zeros(num_unknowns, dtype=np.int64),
    )


@inlined_loose
def _factorise(band: Band, size: int, damping: float) -> None:
    """LDL' of A with a larger diagonal, over the unknowns that are not held."""
    width = band.matrix.shape[1] - 1
    factor, scaled = band.factor, band.scaled
    for u in range(size):
        first = max(0, u - width)
        if band.held[u] != _FREE:
            for k in range(width):
                factor[u, k] = 0.0
            factor[u, width] = 1.0
            continue
        pivot = band.matrix[u, width] * (1.0 + damping) + 1e-18
        shift = width - u
        for v in range(first, u):
            # A held row of L is zero, so it takes care of its own column.
            entry = 0.0 if band.held[v] != _FREE else band.matrix[u, v + shift]
            back = width - v
            for k in range(first, v):
                entry -= scaled[k + shift] * factor[v, k + back]
            scaled[v + shift] = entry
            part = entry * factor[v, width]
            factor[u, v + shift] = part
            pivot -= part * entry
        factor[u, width] = 1.0 / max(pivot, 1e-24)


@inlined_loose
def _substitute(band: Band, size: int) -> None:
    """Solves for the free unknowns with the held ones at their bounds."""
    width = band.matrix.shape[1] - 1
    factor, step = band.factor, band.step
    for u in range(size):
        if band.held[u] == _FREE:
            step[u] = -band.gradient[u]
        else:
            step[u] = band.low[u] if band.held[u] == _LOWER else band.high[u]
    # Held unknowns that move act on their free neighbours; in L their rows and columns are zero.
    for u in range(size):
        if band.held[u] == _FREE or step[u] == 0.0:
            continue
        for v in range(max(0, u - width), u):
            if band.held[v] == _FREE:
                step[v] -= band.matrix[u, v - u + width] * step[u]
        for v in range(u + 1, min(size, u + width + 1)):
            if band.held[v] == _FREE:
                step[v] -= band.matrix[v, u - v + width] * step[u]
    for u in range(size):
        if band.held[u] == _FREE:
            total = step[u]
            shift = width - u
            for v in range(max(0, u - width), u):
                total -= factor[u, v + shift] * step[v]
            step[u] = total
    for u in range(size - 1, -1, -1):
        if band.held[u] == _FREE:
            total = step[u] * factor[u, width]
            for v in range(u + 1, min(size, u + width + 1)):
                total -= factor[v, u - v + width] * step[v]
            step[u] = total


@inlined_loose
def _product(band: Band, size: int, u: int) -> float:
    """(A s)[u]."""
    width = band.matrix.shape[1] - 1
    total = 0.0
    for v in range(max(0, u - width), u + 1):
        total += band.matrix[u, v - u + width] * band.step[v]
    for v in range(u + 1, min(size, u + width + 1)):
        total += band.matrix[v, u - v + width] * band.step[v]
    return total


@kernel
def bounded_step(band: Band, size: int, damping: float) -> tuple[float, bool, int]:
    """Solves the problem with ``damping`` times its diagonal added to the matrix.

    The sets of held unknowns are changed as a whole: what crosses a bound stops there, what is
    pulled back from a bound is let go (Hintermueller, Ito & Kunisch 2002). That rarely cycles;
    after some rounds nothing is let go any more, which always ends.

    Args:
        band: The problem; its step and held unknowns are written.
        size: Number of unknowns that are used, from the first.
        damping: 0 for the problem itself.

    Returns:
        How much the step lowers the quadratic without damping, whether it is the exact solution,
        and the number of factorisations.
    """
    width = band.matrix.shape[1] - 1
    held = band.held
    for u in range(size):
        if band.low[u] >= band.high[u]:
            held[u] = _LOWER
    rounds = 0
    is_exact = True
    while True:
        _factorise(band, size, damping)
        _substitute(band, size)
        rounds += 1
        is_settled = True
        for u in range(size):
            if held[u] == _FREE:
                if band.step[u] < band.low[u]:
                    held[u] = _LOWER
                    is_settled = False
                elif band.step[u] > band.high[u]:
                    held[u] = _UPPER
                    is_settled = False
            elif band.low[u] < band.high[u]:
                slope = band.gradient[u] + _product(band, size, u)
                slope += damping * band.matrix[u, width] * band.step[u]
                if slope * held[u] > 0.0:
                    if rounds < _ROUNDS_OF_RELEASE:
                        held[u] = _FREE
                        is_settled = False
                    else:
                        is_exact = False
        if is_settled:
            break
        is_exact = True
    promise = 0.0
    for u in range(size):
        promise -= band.step[u] * (2.0 * band.gradient[u] + _product(band, size, u))
    return promise, is_exact, rounds
