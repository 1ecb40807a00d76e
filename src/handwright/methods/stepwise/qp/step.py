"""One frame: velocities of hands and bodies and contact forces, by one quadratic program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.methods.stepwise.contacts.touches import Touch, TouchRows
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.horizon import Horizon
from handwright.methods.stepwise.qp.joint_bounds import JointBounds
from handwright.methods.stepwise.qp.laws import Mechanics
from handwright.methods.stepwise.qp.program import (
    ForceModel,
    ForceTargets,
    Limits,
    Objective,
    assemble_qp,
    read_solution,
)
from handwright.methods.stepwise.qp.solver import solve_program

# Limits of which the last velocities left more than this share and this speed, m/s, are not
# expected to be met.
_LEFT, _NEAR = 0.5, 2e-3


class ForceWish(NamedTuple):
    """A sum of contact forces that is wished for (eq. 8, and responses of muscles)."""

    touches: Bool[np.ndarray, " K"]
    """Whether a contact counts."""
    total: Float[np.ndarray, "3"]
    """On the body, N."""
    price: float
    """1/N^2."""


class Solved(NamedTuple):
    """What a frame's problem gave."""

    velocity: Float[np.ndarray, " N"]
    force: Float[np.ndarray, "K 3"]
    """On the bodies, N."""
    torque: Float[np.ndarray, " H"]
    """Without what carries the hands' own weight, N m."""
    cost: float
    """Of the frame, up to what does not depend on it."""
    flag: int
    """Of the solver: 1 solved, 2 with a limit that had to give way."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameProblem:
    """What stays the same while the contacts of a frame are settled."""

    frame: Frame
    laws: Mechanics
    """Equations of motion."""
    horizon: Horizon
    """What states cost from the end of the frame on."""
    bounds: JointBounds
    """What joints can do."""
    speed_weight: float
    """Weight of velocities of hands, s^2/rad^2."""
    force_weight: float
    """Weight of the forces of hands, 1/N^2."""
    support_weight: float
    """Weight of forces that no hand gives, 1/N^2."""


def solve_step(
    problem: FrameProblem,
    touches: list[Touch],
    rows: TouchRows,
    forces: list[ForceWish],
    limits: Limits,
) -> Solved:
    """Velocities and forces of a frame.

    Args:
        problem: What is known of the frame.
        touches: Contacts.
        rows: The same as arrays.
        forces: Objectives on sums of forces.
        limits: What may not meet.
    """
    frame, laws = problem.frame, problem.laws
    before, step = frame.velocity, frame.step
    value = problem.horizon.value(laws, touches, rows)
    start = laws.bias - laws.mass @ before[: frame.world.num_hand_velocities] / step - frame.torque
    model = ForceModel(
        rows.relative,
        rows.edges,
        rows.owner,
        np.array([0.0 if touch.is_parted else touch.cap for touch in touches]),
        np.where(rows.which.hand < 0, problem.support_weight, problem.force_weight),
    )
    program = assemble_qp(
        laws,
        model,
        Objective(value, start, problem.horizon.torque_price, problem.speed_weight),
        _force_targets(forces, len(touches)),
        limits,
        problem.bounds,
        step,
    )
    likely = np.zeros(len(program.matrix), dtype=bool)
    num_caps = len(likely) - len(limits.low) - len(start)
    likely[:num_caps] = True
    left = limits.matrix @ before - limits.low
    likely[num_caps : -len(start)] = left < np.maximum(_LEFT * np.abs(limits.low), _NEAR)
    found, cost, flag = solve_program(program, likely)
    velocity, force, change = read_solution(found, program, laws, model, start, step)
    return Solved(velocity, force, change + frame.torque, cost, flag)


def _force_targets(wishes: list[ForceWish], num_contacts: int) -> ForceTargets:
    return ForceTargets(
        np.array([wish.touches for wish in wishes], dtype=bool).reshape(len(wishes), num_contacts),
        np.array([wish.total for wish in wishes]).reshape(-1, 3),
        np.array([wish.price for wish in wishes], dtype=np.float64),
    )
