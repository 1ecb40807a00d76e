"""One frame: velocities of hands and bodies and contact forces, by one quadratic program."""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.horizon import Horizon
from handwright.methods.stepwise.joint_bounds import JointBounds
from handwright.methods.stepwise.laws import Mechanics
from handwright.methods.stepwise.program import Program, put_together, read_answer
from handwright.methods.stepwise.settings import Settings
from handwright.methods.stepwise.touches import Touch, TouchRows
from handwright.methods.stepwise.world import World

# Flags of the solver for a solution.
_SOLVED = (1, 2)
# Added to the diagonal, which is 1, where rounding keeps the solver from a solution.
_RIDGES = (0.0, 1e-8, 1e-5)
# Torques of joints count as limited from this share of their strength on, once any is over it.
_STRAINED, _NO_TORQUE = 0.5, 1e-6


class InfeasibleStepError(Exception):
    """The solver did not solve a frame; ``flag`` is what it said."""

    def __init__(self, flag: int) -> None:
        super().__init__(f"solver flag {flag}")
        self.flag = flag


class Limits(NamedTuple):
    """What velocities may not do: ``matrix @ v >= low``."""

    matrix: Float[np.ndarray, "M N"]
    low: Float[np.ndarray, " M"]
    kind: np.ndarray
    """(M,) which of the slacks gives way if it must: 0 for hands, 1 for bodies, 2 for slip."""


class ForceWish(NamedTuple):
    """A sum of contact forces that is wished for (eq. 8, and responses of muscles)."""

    touches: np.ndarray
    """(K,) whether a contact counts."""
    total: Float[np.ndarray, "3"]
    """N, on the body."""
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


def solve_step(
    world: World,
    laws: Mechanics,
    touches: list[Touch],
    rows: TouchRows,
    *,
    before: Float[np.ndarray, " N"],
    torque: Float[np.ndarray, " H"],
    horizon: Horizon,
    forces: list[ForceWish],
    limits: Limits,
    bounds: JointBounds,
    weights: Settings,
    lean: float,
    step: float,
) -> Solved:
    """Velocities and forces of a frame.

    Args:
        world: What does not change.
        laws: Equations of motion.
        touches: Contacts.
        rows: The same as arrays.
        before: Velocities now.
        torque: Of the last frame.
        horizon: What states cost from then on.
        forces: Objectives on sums of forces.
        limits: What may not meet.
        bounds: What joints can do.
        weights: Prices.
        lean: Price of forces that no hand gives, 1/N^2.
        step: s.
    """
    value = horizon.value(world, laws, touches, rows, before)
    start = laws.bias - laws.mass @ before[: world.num_hand_velocities] / step - torque
    caps = np.array([0.0 if touch.is_parted else touch.cap for touch in touches])
    program = Program(
        *put_together(
            rows.relative,
            rows.edges,
            rows.owner,
            laws.mass,
            laws.inverse,
            laws.free,
            start,
            horizon.torque_price,
            value.hessian,
            value.gradient,
            np.where(rows.hand < 0, lean, weights.force),
            weights.speed,
            *_wish_arrays(forces, len(touches)),
            caps,
            *limits,
            bounds.slowest,
            bounds.fastest,
            step,
        )
    )

    def read(found: np.ndarray) -> tuple:
        return read_answer(
            found,
            program.scale,
            program.to_hand,
            program.spread,
            laws.mass,
            laws.free,
            start,
            rows.edges,
            rows.owner,
            len(touches),
            step,
        )

    found, cost, flag = _solve(program, program.matrix, program.upper, program.lower)
    velocity, force, change, asked = read(found)
    weakest, strongest = bounds.weakest, bounds.strongest
    if ((asked < weakest - _NO_TORQUE) | (asked > strongest + _NO_TORQUE)).any():
        # Forces that are none ask nothing, so these limits can always be met.
        strained = np.flatnonzero((asked < _STRAINED * weakest) | (asked > _STRAINED * strongest))
        count = program.to_hand.shape[1]
        torques = np.zeros((len(strained), len(program.scale)))
        torques[:, :count] = -program.to_hand[strained] * program.scale[:count]
        found, cost, flag = _solve(
            program,
            np.concatenate([program.matrix, torques]),
            np.concatenate([program.upper, strongest[strained]]),
            np.concatenate([program.lower, weakest[strained]]),
        )
        velocity, force, change, _ = read(found)
    return Solved(velocity, force, change + torque, cost, flag)


def _wish_arrays(
    wishes: list[ForceWish], num_contacts: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wishes as arrays: contacts that count, sums of forces, prices."""
    return (
        np.array([wish.touches for wish in wishes], dtype=bool).reshape(len(wishes), num_contacts),
        np.array([wish.total for wish in wishes]).reshape(-1, 3),
        np.array([wish.price for wish in wishes], dtype=np.float64),
    )


def _solve(
    program: Program, matrix: np.ndarray, upper: np.ndarray, lower: np.ndarray
) -> tuple[np.ndarray, float, int]:
    """Solution, cost and flag of a program with these limits."""
    hessian = program.hessian
    for ridge in _RIDGES:
        if ridge > 0.0:
            hessian[np.diag_indices(len(hessian))] += ridge
        found, cost, flag, _ = daqp.solve(hessian, program.slope, matrix, upper, lower)
        if flag in _SOLVED and np.isfinite(found).all():
            return found, cost, flag
    raise InfeasibleStepError(flag)
