"""One frame: velocities of hands and bodies and contact forces, by one quadratic program."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.methods.stepwise.contacts.touches import Touch, TouchRows
from handwright.methods.stepwise.objectives.horizon import Horizon
from handwright.methods.stepwise.qp.joint_bounds import JointBounds
from handwright.methods.stepwise.qp.laws import Mechanics
from handwright.methods.stepwise.qp.program import Program, put_together, read_answer
from handwright.methods.stepwise.qp.solver import solve_program
from handwright.methods.stepwise.settings import Settings
from handwright.methods.stepwise.world import World

# Limits of which the last velocities left more than this share and this speed, m/s, are not
# expected to be met.
_LEFT, _NEAR = 0.5, 2e-3


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
            np.where(rows.hand < 0, lean, weights.force_weight),
            weights.speed_weight,
            *_wish_arrays(forces, len(touches)),
            caps,
            *limits,
            bounds.slowest,
            bounds.fastest,
            bounds.weakest,
            bounds.strongest,
            step,
        )
    )
    likely = np.zeros(len(program.matrix), dtype=bool)
    num_caps = len(likely) - len(limits.low) - len(start)
    likely[:num_caps] = True
    left = limits.matrix @ before - limits.low
    likely[num_caps : -len(start)] = left < np.maximum(_LEFT * np.abs(limits.low), _NEAR)
    found, cost, flag = solve_program(program, likely)
    velocity, force, change = read_answer(
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
