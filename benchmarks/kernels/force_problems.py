"""Random force problems, and the same problems as Clarabel takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
from jaxtyping import Float
from scipy import sparse

from handwright.mechanics import ForceContacts, force_contacts, grasp_map

_BOX = np.array([0.03, 0.03, 0.08])
_WEIGHT = 5.0
_LENGTH = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class ForceProblem:
    """Contacts on a box and a wrench."""

    contacts: ForceContacts
    wrench: Float[np.ndarray, "6"]
    force_scale: float = _WEIGHT
    length_scale: float = _LENGTH


def random_problem(
    rng: np.random.Generator, count: int, *, is_varied: bool, num_faces: int = 6
) -> ForceProblem:
    """Contacts spread over some faces of a box of 6 x 6 x 16 cm and half a kilogram.

    Args:
        rng: Source of chance.
        count: Contacts.
        is_varied: Whether some contacts slide, have caps or other weights.
        num_faces: Of the box, that are touched; few make most problems infeasible.
    """
    face = rng.choice(rng.choice(6, num_faces, replace=False), count)
    axis, side = face // 2, 2.0 * (face % 2) - 1.0
    points, normals, rows = rng.uniform(-_BOX, _BOX, (count, 3)), np.zeros((count, 3)), range(count)
    points[rows, axis] = side * _BOX[axis]
    normals[rows, axis] = -side
    slides = is_varied * (rng.random(count) < 0.2)
    caps = np.where(is_varied * (rng.random(count) < 0.4), rng.uniform(0.5, 8.0, count), np.inf)
    contacts = force_contacts(
        points,
        normals,
        friction=rng.uniform(0.2, 1.0, count),
        drag=rng.normal(size=(count, 3)) * slides[:, None],
        weight=rng.uniform(0.5, 2.0, count) if is_varied else 1.0,
        cap=caps,
    )
    wrench = rng.normal(size=6) * _WEIGHT
    wrench[3:] *= 0.5 * _LENGTH
    return ForceProblem(contacts, wrench)


def halved_problems(
    rng: np.random.Generator, number: int, *, count: int | None = None
) -> list[tuple[ForceProblem, float]]:
    """Problems with Clarabel's verdict: its objective, or infinity in every second one.

    Drawn until half of them are infeasible; all that Clarabel decides are taken as they come.
    """
    taken: dict[bool, list[tuple[ForceProblem, float]]] = {True: [], False: []}
    while min(len(rows) for rows in taken.values()) < number // 2:
        problem = random_problem(
            rng,
            count or int(rng.integers(1, 16)),
            is_varied=count is None,
            num_faces=int(rng.integers(1, 7)),
        )
        objective = solve_by_clarabel(problem)
        if np.isnan(objective):
            continue
        rows = taken[bool(np.isfinite(objective))]
        if len(rows) < number // 2:
            rows.append((problem, objective))
    return taken[True] + taken[False]


def for_clarabel(problem: ForceProblem) -> tuple[Any, ...]:
    """What Clarabel's solver takes.

    Variables are world forces in units of the weight, rather than our cone coordinates.
    """
    contacts, count = problem.contacts, len(problem.contacts.arm)
    scale = np.repeat([1.0, 1.0 / problem.length_scale], 3)
    rows = [grasp_map(contacts) * scale[:, None]]
    right = [problem.wrench * scale / problem.force_scale]
    cones = [clarabel.ZeroConeT(6)]
    for i in range(count):
        normal, mu, drag = contacts.normal[i], contacts.friction[i], contacts.drag[i]
        block = np.zeros((4, 3, count))
        if drag.any():
            block[:3, :, i] = np.eye(3) - np.outer(normal + mu * drag, normal)
            block[3, :, i] = -normal
            cones += [clarabel.ZeroConeT(3), clarabel.NonnegativeConeT(1)]
        else:
            block[0, :, i] = -mu * normal
            block[1:, :, i] = np.outer(normal, normal) - np.eye(3)
            cones.append(clarabel.SecondOrderConeT(4))
        rows.append(block.transpose(0, 2, 1).reshape(4, -1))
        right.append(np.zeros(4))
        if np.isfinite(contacts.cap[i]):
            block = np.zeros((1, count, 3))
            block[0, i] = normal
            rows.append(block.reshape(1, -1))
            right.append(np.array([contacts.cap[i] / problem.force_scale]))
            cones.append(clarabel.NonnegativeConeT(1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    return (
        sparse.csc_matrix((3 * count, 3 * count)),
        (contacts.weight[:, None] * contacts.normal).ravel(),
        sparse.csc_matrix(np.concatenate(rows)),
        np.concatenate(right),
        cones,
        settings,
    )


def solve_by_clarabel(problem: ForceProblem) -> float:
    """Objective by Clarabel, N; infinity if it proves infeasibility, NaN if it gives up."""
    solution = clarabel.DefaultSolver(*for_clarabel(problem)).solve()
    if solution.status == clarabel.SolverStatus.Solved:
        return float(solution.obj_val * problem.force_scale)
    if solution.status == clarabel.SolverStatus.PrimalInfeasible:
        return float("inf")
    return float("nan")
