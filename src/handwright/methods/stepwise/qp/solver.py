"""Solves the program of a frame: a change of unknowns makes its Hessian one, then daqp.

With ``H = R' R`` and ``x = R⁻¹ z`` the cost is ``|z|² / 2 + (R⁻ᵀ g)' z``. daqp makes the same
change itself, for every row and for every call; here it is made once a frame by LAPACK, and rows
come in as they are broken, which few of them ever are.
"""

from __future__ import annotations

import daqp
import numpy as np
from jaxtyping import Bool, Float
from scipy.linalg.lapack import dpotrf, dtrtri

from handwright.methods.stepwise.qp.program import QuadraticProgram

# Flags of the solver for a solution.
_SOLVED = (1, 2)
# Added to the diagonal, which is 1, where rounding keeps the solver from a solution.
_RIDGES = (0.0, 1e-8, 1e-5)
# By how much rows that are left out may be broken, in their units: m/s, N and N m.
_KEPT = 1e-8


class InfeasibleStepError(Exception):
    """The solver did not solve a frame; ``flag`` is what it said."""

    def __init__(self, flag: int) -> None:
        super().__init__(f"solver flag {flag}")
        self.flag = flag


def solve_program(
    program: QuadraticProgram, likely: Bool[np.ndarray, " M"]
) -> tuple[Float[np.ndarray, " X"], float, int]:
    """Solution, cost and flag of a program.

    Args:
        program: What to solve.
        likely: Which rows the answer may come up against. Wrong guesses cost time, nothing else.

    Raises:
        InfeasibleStepError: There is none.
    """
    flag = 0
    for ridge in _RIDGES:
        back = _inverse_factor(program.hessian, ridge)
        if back is None:
            continue
        found, cost, flag = _solve_by_rows(program, back, likely)
        if flag in _SOLVED and np.isfinite(found).all():
            return found, cost, flag
    raise InfeasibleStepError(flag)


def _inverse_factor(
    hessian: Float[np.ndarray, "X X"], ridge: float
) -> Float[np.ndarray, "X X"] | None:
    """``R⁻¹`` of ``H = R' R``; None where rounding leaves H without a factor."""
    if ridge > 0.0:
        hessian = hessian + ridge * np.eye(len(hessian))
    # The other triangle, so that what LAPACK writes by columns is by rows without a copy.
    factor, failed = dpotrf(hessian, lower=1, clean=1)
    if failed:
        return None
    inverse, failed = dtrtri(factor, lower=1)
    return None if failed else inverse.T


def _solve_by_rows(
    program: QuadraticProgram, back: Float[np.ndarray, "X X"], likely: Bool[np.ndarray, " M"]
) -> tuple[Float[np.ndarray, " X"], float, int]:
    """Solution, cost and flag: rows that an answer breaks come in until it breaks none."""
    size = len(back)
    identity, gradient = np.eye(size), program.gradient @ back
    upper, lower = program.upper[size:], program.lower[size:]
    is_out, new = ~likely, np.flatnonzero(likely)
    rows, high, low = back, program.upper[:size], program.lower[:size]
    multipliers = None
    while True:
        rows = np.concatenate([rows, program.matrix[new] @ back])
        high, low = np.concatenate([high, upper[new]]), np.concatenate([low, lower[new]])
        answer, cost, flag, told = daqp.solve(
            identity, gradient, rows, high, low, dual_start=multipliers
        )
        found = back @ answer
        if flag not in _SOLVED:
            return found, cost, flag
        value = program.matrix @ found
        new = np.flatnonzero(is_out & ((value > upper + _KEPT) | (value < lower - _KEPT)))
        if len(new) == 0:
            return found, cost, flag
        is_out[new] = False
        multipliers = np.concatenate([told["lam"], np.zeros(len(new))])
