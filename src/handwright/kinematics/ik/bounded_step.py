"""One step of projected Levenberg-Marquardt in the few joints of a digit.

Whoever minimises something over a digit writes its normal equations into a ``DigitWorkspace``;
the step that follows from them, within the bounds of the joints, is here.
"""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined, inlined_loose
from handwright.kinematics.ik.digit_table import DigitTable, count_of
from handwright.kinematics.ik.problem import DigitWorkspace


@inlined_loose
def _solve_free(work: DigitWorkspace, side: int, count: int, damping: float) -> None:
    """Step of the damped normal equations, by LDL'; held joints move by ``shift``."""
    matrix, factor, step, row = work.matrix, work.factor, work.step, work.row
    size = 0
    for a in range(count):
        step[a] = work.shift[a]
        if not work.held[a]:
            work.free[size] = a
            size += 1
    for m in range(size):
        a = work.free[m]
        total = -work.gradient[side, a]
        if size < count:
            for b in range(count):
                if work.held[b]:
                    total -= matrix[side, max(a, b), min(a, b)] * work.shift[b]
        pivot = matrix[side, a, a] * (1.0 + damping) + 1e-15
        for n in range(m):
            entry = matrix[side, a, work.free[n]]
            for k in range(n):
                entry -= factor[m, k] * factor[n, k] * factor[k, k]
            # Below the diagonal: L; on it: D, whose reciprocals stand in ``column``.
            factor[m, n] = entry * work.column[n, 0]
            pivot -= factor[m, n] * entry
            total -= factor[m, n] * row[n]
        factor[m, m] = max(pivot, 1e-18)
        work.column[m, 0] = 1.0 / factor[m, m]
        row[m] = total
    for m in range(size - 1, -1, -1):
        total = row[m] * work.column[m, 0]
        for k in range(m + 1, size):
            total -= factor[k, m] * step[work.free[k]]
        step[work.free[m]] = total


@inlined
def bounded_step(
    table: DigitTable,
    digit: int,
    q: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    work: DigitWorkspace,
    side: int,
    damping: float,
) -> float:
    """Step within the bounds: a joint that would cross one stops there and the rest is re-solved.

    Returns:
        How much the step should lower the cost if it were quadratic.
    """
    low, high = bounds
    count = count_of(table.free, digit)
    for a in range(count):
        joint, slope = table.free[digit, a], work.gradient[side, a]
        work.held[a] = (q[joint] <= low[joint] and slope > 0.0) or (
            q[joint] >= high[joint] and slope < 0.0
        )
        work.shift[a] = 0.0
    # Each solve but the last stops one more joint, so with all stopped there is one more to do.
    for _ in range(count + 1):
        _solve_free(work, side, count, damping)
        crossed = False
        for a in range(count):
            joint = table.free[digit, a]
            moved = q[joint] + work.step[a]
            if not work.held[a] and (moved < low[joint] or moved > high[joint]):
                work.held[a] = True
                work.shift[a] = (low[joint] if moved < low[joint] else high[joint]) - q[joint]
                crossed = True
        if not crossed:
            break
    # The model of the cost falls by -2 g.s - s.A s; stopped joints can make that negative.
    promise = 0.0
    for a in range(count):
        slope = 2.0 * work.gradient[side, a] + work.matrix[side, a, a] * work.step[a]
        for b in range(a):
            slope += 2.0 * work.matrix[side, a, b] * work.step[b]
        promise -= slope * work.step[a]
    return promise


@inlined
def largest_step(work: DigitWorkspace, count: int) -> float:
    """Largest change of a joint in the step that was solved for, rad."""
    largest = 0.0
    for a in range(count):
        largest = max(largest, abs(work.step[a]))
    return largest
