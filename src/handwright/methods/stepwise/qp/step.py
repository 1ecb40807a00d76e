"""One frame: velocities of hands and bodies and contact forces, by one quadratic program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.methods.stepwise.contacts.contact_state import ContactArrays, ContactState
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.horizon import Horizon
from handwright.methods.stepwise.qp.dynamics import FrameDynamics
from handwright.methods.stepwise.qp.joint_bounds import JointBounds
from handwright.methods.stepwise.qp.program import (
    ForceModel,
    ForceTargets,
    Objective,
    VelocityLimits,
    assemble_qp,
    read_solution,
)
from handwright.methods.stepwise.qp.solver import solve_program

# Limits of which the last velocities left more than this share and this speed, m/s, are not
# expected to be met.
_LEFT, _NEAR = 0.5, 2e-3


class ForceTarget(NamedTuple):
    """A sum of contact forces that is wanted (eq. 8, and responses of muscles)."""

    contacts: Bool[np.ndarray, " K"]
    """Whether a contact counts."""
    total: Float[np.ndarray, "3"]
    """Sum of the forces on the body, N."""
    weight: float
    """Weight of squared differences from it, 1/N^2."""


class StepSolution(NamedTuple):
    """The solution of a frame."""

    velocity: Float[np.ndarray, " N"]
    force: Float[np.ndarray, "K 3"]
    """Forces on the bodies, N."""
    torque: Float[np.ndarray, " H"]
    """Joint torques without what carries the hands' own weight, N m."""
    cost: float
    """Cost of the frame, up to what does not depend on it."""
    flag: int
    """What the solver says: 1 solved, 2 with a limit that had to give way."""


@dataclass(frozen=True, slots=True, eq=False)
class FrameProblem:
    """What stays the same while the contacts of a frame are settled."""

    frame: Frame
    dynamics: FrameDynamics
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
    contacts: list[ContactState],
    rows: ContactArrays,
    forces: list[ForceTarget],
    limits: VelocityLimits,
) -> StepSolution:
    """Velocities and forces of a frame."""
    frame, dynamics = problem.frame, problem.dynamics
    before, step = frame.velocity, frame.step
    value = problem.horizon.value(dynamics, contacts, rows)
    start = (
        dynamics.bias
        - dynamics.mass @ before[: frame.world.num_hand_velocities] / step
        - frame.torque
    )
    model = ForceModel(
        rows.relative,
        rows.edges,
        rows.owner,
        np.array([0.0 if contact.is_separated else contact.cap for contact in contacts]),
        np.where(rows.which.hand < 0, problem.support_weight, problem.force_weight),
    )
    program = assemble_qp(
        dynamics,
        model,
        Objective(value, start, problem.horizon.torque_weight, problem.speed_weight),
        _force_targets(forces, len(contacts)),
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
    velocity, force, change = read_solution(found, program, dynamics, model, start, step)
    return StepSolution(velocity, force, change + frame.torque, cost, flag)


def _force_targets(targets: list[ForceTarget], num_contacts: int) -> ForceTargets:
    return ForceTargets(
        np.array([target.contacts for target in targets], dtype=bool).reshape(
            len(targets), num_contacts
        ),
        np.array([target.total for target in targets]).reshape(-1, 3),
        np.array([target.weight for target in targets], dtype=np.float64),
    )
