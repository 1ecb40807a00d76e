"""The quadratic program of a frame: its cost and its solution are those of the formulas."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.methods.stepwise.objectives.cost_to_go import Quadratic
from handwright.methods.stepwise.qp.dynamics import FrameDynamics, body_dynamics
from handwright.methods.stepwise.qp.joint_bounds import JointBounds
from handwright.methods.stepwise.qp.program import (
    NUM_SLACKS,
    ForceModel,
    ForceTargets,
    Objective,
    VelocityLimits,
    assemble_qp,
    read_solution,
)
from handwright.methods.stepwise.qp.solver import solve_program
from handwright.methods.stepwise.world import BodyMasses

STEP = 1.0 / 30.0
NUM_HAND, NUM_BODY, NUM_CONTACTS, NUM_EDGES = 5, 6, 3, 8


def definite(rng: np.random.Generator, size: int) -> np.ndarray:
    factor = rng.normal(size=(size, size))
    return factor @ factor.T + np.eye(size)


class Case:
    """A frame of random matrices."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = NUM_HAND + NUM_BODY
        inertia = definite(rng, NUM_BODY)
        self.dynamics = FrameDynamics(
            definite(rng, NUM_HAND),
            rng.normal(size=NUM_HAND),
            inertia,
            np.linalg.inv(inertia),
            rng.normal(size=NUM_BODY),
        )
        self.forces = ForceModel(
            rng.normal(size=(NUM_CONTACTS, 3, n)),
            rng.normal(size=(NUM_EDGES, 3)),
            np.array([0, 0, 0, 0, 1, 2, 2, 2]),
            np.array([np.inf, 0.0, 4.0]),
            rng.uniform(0.1, 1.0, NUM_CONTACTS),
        )
        self.objective = Objective(
            Quadratic(definite(rng, n), rng.normal(size=n)),
            rng.normal(size=NUM_HAND),
            rng.uniform(0.5, 2.0, NUM_HAND),
            0.3,
        )
        self.targets = ForceTargets(
            np.array([[True, False, True], [False, True, False]]),
            rng.normal(size=(2, 3)),
            np.array([2.0, 0.5]),
        )
        self.limits = VelocityLimits(rng.normal(size=(4, n)), -np.ones(4), np.array([0, 1, 2, 0]))
        far = np.full(NUM_HAND, 50.0)
        self.bounds = JointBounds(-far, far, -40.0 * far, 40.0 * far)
        self.program = assemble_qp(
            self.dynamics,
            self.forces,
            self.objective,
            self.targets,
            self.limits,
            self.bounds,
            STEP,
        )

    def read(self, unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return read_solution(
            unknowns / self.program.scale,
            self.program,
            self.dynamics,
            self.forces,
            self.objective.start,
            STEP,
        )

    def cost(self, unknowns: np.ndarray) -> float:
        """What the frame costs, written out from velocities, forces and torques."""
        velocity, force, change = self.read(unknowns)
        amount, own = unknowns[:NUM_EDGES], unknowns[NUM_EDGES : NUM_EDGES + NUM_HAND]
        value = self.objective.value
        cost = 0.5 * velocity @ value.hessian @ velocity + value.gradient @ velocity
        cost += 0.5 * self.objective.torque_weight @ change**2
        cost += 0.5 * self.objective.speed_weight * own @ own
        cost += 0.5 * self.forces.weight[self.forces.owner] @ amount**2
        for counts, total, weight in zip(*self.targets, strict=True):
            off = force[counts].sum(axis=0) - total
            cost += 0.5 * weight * off @ off
        slack = unknowns[NUM_EDGES + NUM_HAND :]
        return float(cost + 0.5 * 1e9 * slack @ slack)


@pytest.mark.parametrize("seed", range(3))
def test_the_program_costs_what_the_frame_costs(seed):
    case = Case(seed)
    rng = np.random.default_rng(100 + seed)
    size = NUM_EDGES + NUM_HAND + NUM_SLACKS
    np.testing.assert_allclose(np.diag(case.program.hessian), 1.0)

    def of_program(unknowns: np.ndarray) -> float:
        x = unknowns / case.program.scale
        return float(0.5 * x @ case.program.hessian @ x + case.program.gradient @ x)

    one, two = (rng.normal(size=size) for _ in range(2))
    one[-NUM_SLACKS:] *= 1e-5
    two[-NUM_SLACKS:] *= 1e-5
    assert of_program(one) - of_program(two) == pytest.approx(
        case.cost(one) - case.cost(two), rel=1e-9
    )


def test_forces_move_bodies_and_load_joints_by_newtons_law():
    case = Case(7)
    rng = np.random.default_rng(8)
    unknowns = rng.normal(size=NUM_EDGES + NUM_HAND + NUM_SLACKS)
    velocity, force, change = case.read(unknowns)
    # What touches gets the opposite of what the body gets, at its relative velocities.
    on_all = -np.einsum("kin,ki->n", case.forces.relative, force)
    inertia = case.dynamics.inertia
    np.testing.assert_allclose(
        inertia @ (velocity[NUM_HAND:] - case.dynamics.free), STEP * on_all[NUM_HAND:], atol=1e-9
    )
    np.testing.assert_allclose(
        case.dynamics.mass @ velocity[:NUM_HAND] / STEP + case.objective.start - on_all[:NUM_HAND],
        change,
        atol=1e-9,
    )


def test_the_solution_keeps_limits_caps_and_signs():
    case = Case(3)
    rows = len(case.program.matrix)
    found, _, flag = solve_program(case.program, np.ones(rows, dtype=bool))
    assert flag in (1, 2)
    unknowns = found * case.program.scale
    velocity, force, _ = case.read(unknowns)
    assert (unknowns[:NUM_EDGES] >= -1e-9).all()
    np.testing.assert_allclose(force[1], 0.0, atol=1e-12)
    assert unknowns[:NUM_EDGES][case.forces.owner == 2].sum() <= 4.0 + 1e-8
    slack = unknowns[-NUM_SLACKS:][case.limits.kind]
    assert (case.limits.matrix @ velocity + slack >= case.limits.low - 1e-7).all()
    # Guessing no rows gives the same.
    again, _, _ = solve_program(case.program, np.zeros(rows, dtype=bool))
    np.testing.assert_allclose(again, found, atol=1e-7)


def test_a_free_body_falls_and_keeps_its_angular_momentum():
    inertia = np.diag([1e-3, 2e-3, 3e-3])
    masses = BodyMasses(np.array([0.5]), inertia[None], np.linalg.inv(inertia)[None], np.array([0]))
    momentum = np.array([2e-3, -1e-3, 4e-3])
    rate = np.linalg.solve(inertia, momentum)
    motion = np.array([[rate, [1.0, 2.0, 3.0], momentum]])
    push = np.array([[0.1, 0.0, 0.0, 0.0, 0.0, 2e-3]])
    gravity = np.array([0.0, 0.0, -9.81])
    upright = np.array([[1.0, 0.0, 0.0, 0.0]])
    mass, inverse, free = body_dynamics(masses, upright, motion, push, gravity, STEP)
    falling = [1.0 + STEP * 0.1 / 0.5, 2.0, 3.0 - STEP * 9.81]
    np.testing.assert_allclose(free[:3], falling, rtol=1e-12)
    np.testing.assert_allclose(mass @ inverse, np.eye(6), atol=1e-12)
    turning = momentum + STEP * push[0, 3:]
    np.testing.assert_allclose(mass[3:, 3:] @ free[3:], turning, atol=1e-15)
    # The inertia is that half a frame on: it has turned with the body.
    assert np.abs(mass[3:, 3:] - inertia).max() > 1e-5
