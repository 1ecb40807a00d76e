"""Least contact forces: exact cones and pyramids against Clarabel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import clarabel
import numpy as np
from numba.typed import List

from benchmarks.bars import bars_met, bars_table
from benchmarks.kernels.force_problems import (
    ForceProblem,
    for_clarabel,
    halved_problems,
    random_problem,
    solve_by_clarabel,
)
from benchmarks.timing import best_seconds
from handwright.kernels.decorators import compiled
from handwright.mechanics import (
    ConeWork,
    ForceContacts,
    ForceProgram,
    PyramidWork,
    least_forces,
    make_cone_work,
    make_pyramid_work,
    solve_cones,
    solve_pyramids,
)

if TYPE_CHECKING:
    from rich.table import Table

BARS: dict[str, tuple[str, float]] = {
    "cone_vs_clarabel": (">=", 5.0),
    "agree": (">=", 1.0),
    "objective_error": ("<=", 1e-5),
}

_MEANINGS = {
    "cone_us_10": "forces at 10 contacts, exact cones, inside compiled code, µs",
    "clarabel_us_10": "the same through Clarabel from Python, its matrices made beforehand, µs",
    "cone_vs_clarabel": "ratio of the two",
    "clarabel_whole_us_10": "as clarabel_us_10, with making the matrices, µs",
    "cone_python_us_10": "as the first, but called from Python, µs",
    "pyramid_us_10": "the same problems with pyramids of 8 edges, µs",
    "agree": "share of 1,000 problems, half infeasible, with Clarabel's verdict",
    "objective_error": "largest relative difference of the objective from Clarabel's",
    "false_accepts": "of the same 1,000 with pyramids: feasible where Clarabel says not",
    "false_rejects": "of the same 1,000 with pyramids: infeasible where Clarabel says not",
}

_CONTACTS = 10
_TIMED = 200
_JUDGED = 1000


@compiled
def _cones_many(
    work: ConeWork, contacts: list[ForceContacts], wrenches: np.ndarray, force: float, length: float
) -> float:
    total = 0.0
    for k in range(len(wrenches)):
        n = contacts[k].arm.shape[0]
        program = ForceProgram(contacts[k], n, wrenches[k], force, length, 1e-6)
        result = solve_cones(work, program, 1e4, 60)
        total += result[1]
    return total


@compiled
def _pyramids_many(
    work: PyramidWork,
    contacts: list[ForceContacts],
    wrenches: np.ndarray,
    force: float,
    length: float,
) -> float:
    total = 0.0
    for k in range(len(wrenches)):
        n = contacts[k].arm.shape[0]
        program = ForceProgram(contacts[k], n, wrenches[k], force, length, 1e-6)
        result = solve_pyramids(work, program, 1000)
        total += result[1]
    return total


def _by_cones(problem: ForceProblem) -> tuple[bool, float]:
    found = least_forces(
        problem.contacts,
        problem.wrench,
        force_scale=problem.force_scale,
        length_scale=problem.length_scale,
    )
    return found.is_feasible, found.objective


def measure_speed() -> dict[str, float]:
    """Times of the three solvers on the same problems of ten contacts."""
    rng = np.random.default_rng(7)
    problems = [random_problem(rng, _CONTACTS, is_varied=False) for _ in range(_TIMED)]
    contacts = List([problem.contacts for problem in problems])
    wrenches = np.array([problem.wrench for problem in problems])
    force, length = problems[0].force_scale, problems[0].length_scale
    cone_work, pyramid_work = make_cone_work(_CONTACTS), make_pyramid_work(_CONTACTS, 8)
    cone = best_seconds(
        lambda: _cones_many(cone_work, contacts, wrenches, force, length), repeats=40
    )
    pyramid = best_seconds(
        lambda: _pyramids_many(pyramid_work, contacts, wrenches, force, length), repeats=40
    )
    python = best_seconds(lambda: [_by_cones(problem) for problem in problems], repeats=3)
    inputs = [for_clarabel(problem) for problem in problems]
    peer = best_seconds(
        lambda: [clarabel.DefaultSolver(*given).solve() for given in inputs], repeats=15
    )
    whole = best_seconds(lambda: [solve_by_clarabel(problem) for problem in problems], repeats=3)
    each = 1e6 / _TIMED
    return {
        "cone_us_10": cone * each,
        "clarabel_us_10": peer * each,
        "cone_vs_clarabel": peer / cone,
        "clarabel_whole_us_10": whole * each,
        "cone_python_us_10": python * each,
        "pyramid_us_10": pyramid * each,
    }


def measure_agreement() -> dict[str, float]:
    """Verdicts and objectives on random problems of 1 to 15 contacts."""
    agreed, error, accepts, rejects = 0, 0.0, 0, 0
    cases = halved_problems(np.random.default_rng(8), _JUDGED)
    pyramids = make_pyramid_work(15, 8)
    for problem, truth in cases:
        is_feasible, objective = _by_cones(problem)
        agreed += is_feasible == np.isfinite(truth)
        if is_feasible and np.isfinite(truth):
            error = max(error, abs(objective - truth) / abs(truth))
        program = ForceProgram(
            problem.contacts, len(problem.contacts.arm), problem.wrench, problem.force_scale,
            problem.length_scale, 1e-6,
        )  # fmt: skip
        status, _, _ = solve_pyramids(pyramids, program, 1000)
        accepts += status == 0 and not np.isfinite(truth)
        rejects += status != 0 and bool(np.isfinite(truth))
    return {
        "agree": float(agreed / len(cases)),
        "objective_error": error,
        "false_accepts": float(accepts),
        "false_rejects": float(rejects),
    }


def run() -> dict[str, float | bool]:
    """Measures all; about ten seconds with warm caches."""
    result: dict[str, float | bool] = {**measure_speed(), **measure_agreement()}
    result["bars_met"] = bars_met(result, BARS)
    return result


def describe(result: dict[str, float | bool]) -> Table:
    """The result as a table."""
    return bars_table(
        "Contact forces (one thread, best of several repeats)", result, _MEANINGS, BARS
    )
