"""The solver of a frame, held against daqp with all rows at once."""

from __future__ import annotations

import daqp
import numpy as np
import pytest

from handwright.methods.stepwise.qp.program import QuadraticProgram
from handwright.methods.stepwise.qp.solver import InfeasibleStepError, solve_program

SIZE, ROWS = 20, 30


def random_program(rng: np.random.Generator) -> QuadraticProgram:
    root = rng.normal(size=(SIZE, SIZE))
    hessian = root @ root.T + np.eye(SIZE)
    scale = 1.0 / np.sqrt(np.diag(hessian))
    matrix = rng.normal(size=(ROWS, SIZE))
    # Zero meets everything, as in a frame; a third has no upper end.
    upper = rng.uniform(0.01, 0.3, SIZE + ROWS)
    upper[rng.random(SIZE + ROWS) < 0.3] = np.inf
    return QuadraticProgram(
        hessian * np.outer(scale, scale),
        3.0 * rng.normal(size=SIZE),
        matrix,
        upper,
        -rng.uniform(0.0, 0.3, SIZE + ROWS),
        scale,
        np.zeros((0, 0)),
        np.zeros((0, 0)),
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_answers_are_those_of_all_rows_whichever_are_thought_likely(share):
    rng = np.random.default_rng(4)
    for _ in range(20):
        program = random_program(rng)
        found, cost, flag = solve_program(program, rng.random(ROWS) < share)
        whole, best, _, _ = daqp.solve(
            program.hessian, program.gradient, program.matrix, program.upper, program.lower
        )
        assert flag == 1
        np.testing.assert_allclose(found, whole, atol=1e-6)
        np.testing.assert_allclose(cost, best, rtol=1e-6)
        ends = np.concatenate([found, program.matrix @ found])
        assert (ends <= program.upper + 1e-6).all()
        assert (ends >= program.lower - 1e-6).all()


def test_a_hessian_without_a_factor_is_solved_with_a_ridge():
    program = random_program(np.random.default_rng(5))
    flat = np.ones((SIZE, SIZE))
    flat[-1, 0] = flat[0, -1] = 1.0 + 1e-12
    found, _, _ = solve_program(program._replace(hessian=flat), np.zeros(ROWS, dtype=bool))
    assert np.isfinite(found).all()


def test_rows_that_contradict_each_other_are_an_error():
    program = random_program(np.random.default_rng(6))
    matrix, upper, lower = program.matrix.copy(), program.upper.copy(), program.lower.copy()
    matrix[1] = matrix[0]
    upper[SIZE], lower[SIZE + 1], upper[SIZE + 1] = 0.1, 0.2, np.inf
    with pytest.raises(InfeasibleStepError):
        solve_program(
            program._replace(matrix=matrix, upper=upper, lower=lower), np.zeros(ROWS, dtype=bool)
        )
