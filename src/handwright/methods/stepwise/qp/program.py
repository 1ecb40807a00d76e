"""The quadratic program of a frame as the solver takes it, assembled by compiled code.

Unknown are coefficients of contact forces ``λ``, velocities of hands ``v`` and a few slacks. With
forces on bodies and on hands by coefficient, ``B`` and ``F``, velocities of bodies are

    u = u_free + S λ,   S = h M⁻¹ B,

and changes of torque are ``M_h v / h - F λ + start``. Put into the cost to go, with its blocks V of
hands (h) and bodies (b), and into the weight P of changes of torque, this gives the blocks

    λλ: S' V_bb S + F' P F,   λv: S' V_bh - F' P M_h / h,   vv: V_hh + M_h P M_h / h².

All is scaled so that the diagonal is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.kernels.decorators import compiled
from handwright.methods.stepwise.objectives.cost_to_go import Quadratic
from handwright.methods.stepwise.qp.dynamics import FrameDynamics
from handwright.methods.stepwise.qp.joint_bounds import JointBounds

NUM_SLACKS = 3
"""Limits give way all together, by kind, where they must: a frame can then always be solved."""
# Weight of a slack, s^2/m^2; far above all others.
_SLACK_WEIGHT = 1e9


class VelocityLimits(NamedTuple):
    """What velocities may not do: ``matrix @ v >= low``."""

    matrix: Float[np.ndarray, "M N"]
    low: Float[np.ndarray, " M"]
    kind: Int[np.ndarray, " M"]
    """Which of the slacks gives way if it must: 0 for hands, 1 for bodies, 2 for slip."""


class ForceModel(NamedTuple):
    """The forces that K contacts can give, by L coefficients that are not negative."""

    relative: Float[np.ndarray, "K 3 N"]
    """Velocities of what touches over the bodies, by all velocities."""
    edges: Float[np.ndarray, "L 3"]
    """Force on the body that a unit of a coefficient gives."""
    owner: Int[np.ndarray, " L"]
    """Contact of each coefficient."""
    cap: Float[np.ndarray, " K"]
    """Largest normal forces, N."""
    weight: Float[np.ndarray, " K"]
    """Weights of squared coefficients, 1/N^2."""


class Objective(NamedTuple):
    """What a frame costs beside its contact forces."""

    value: Quadratic
    """The cost to go, by all velocities."""
    start: Float[np.ndarray, " H"]
    """Changes of torque without forces and velocities, N m."""
    torque_weight: Float[np.ndarray, " H"]
    """Weights of squared changes of torque."""
    speed_weight: float
    """Weight of squared velocities of hands."""


class ForceTargets(NamedTuple):
    """W sums of contact forces that are wanted."""

    counts: Bool[np.ndarray, "W K"]
    """Which contacts count."""
    total: Float[np.ndarray, "W 3"]
    """Sums of forces on the bodies, N."""
    weight: Float[np.ndarray, " W"]
    """Weights of squared differences from them, 1/N^2."""


class QuadraticProgram(NamedTuple):
    """``x' H x / 2 + g' x`` where ``lower <= (x, A x) <= upper``, in scaled unknowns."""

    hessian: Float[np.ndarray, "X X"]
    gradient: Float[np.ndarray, " X"]
    matrix: Float[np.ndarray, "M X"]
    upper: Float[np.ndarray, " X+M"]
    lower: Float[np.ndarray, " X+M"]
    scale: Float[np.ndarray, " X"]
    """Factors that turn scaled unknowns into unknowns."""
    to_hand: Float[np.ndarray, "H L"]
    """Forces and moments on hands by coefficient, with the sign of those on bodies."""
    spread: Float[np.ndarray, "B L"]
    """Velocities of bodies by coefficient."""


@compiled
def _generalized_forces(forces: ForceModel, begin: int, end: int) -> np.ndarray:
    """Forces along velocities ``begin`` to ``end`` by coefficient: transposed velocities."""
    relative, edges, owner = forces.relative, forces.edges, forces.owner
    push = np.zeros((end - begin, len(owner)))
    for c in range(len(owner)):
        k = owner[c]
        x, y, z = -edges[c, 0], -edges[c, 1], -edges[c, 2]
        for n in range(begin, end):
            push[n - begin, c] = (
                relative[k, 0, n] * x + relative[k, 1, n] * y + relative[k, 2, n] * z
            )
    return push


@compiled
def _objective(
    to_hand: np.ndarray,
    spread: np.ndarray,
    dynamics: FrameDynamics,
    objective: Objective,
    step: float,
) -> tuple:
    """Second and first derivatives by coefficients and velocities of hands."""
    nh, nl = to_hand.shape
    free, value = dynamics.free, objective.value
    v_hb = np.ascontiguousarray(value.hessian[:nh, nh:])
    v_bb = np.ascontiguousarray(value.hessian[nh:, nh:])
    by_speed = dynamics.mass / step
    weighted_mass = by_speed.copy()
    weighted_force = to_hand.copy()
    weighted_start = objective.torque_weight * objective.start
    for i in range(nh):
        weighted_mass[i] *= objective.torque_weight[i]
        weighted_force[i] *= objective.torque_weight[i]
    hessian = np.zeros((nl + nh, nl + nh))
    hessian[:nl, :nl] = spread.T @ (v_bb @ spread) + to_hand.T @ weighted_force
    mixed = v_hb @ spread - by_speed.T @ weighted_force
    hessian[nl:, :nl] = mixed
    hessian[:nl, nl:] = mixed.T
    hessian[nl:, nl:] = value.hessian[:nh, :nh] + by_speed.T @ weighted_mass
    gradient = np.zeros(nl + nh)
    gradient[:nl] = spread.T @ (v_bb @ free + value.gradient[nh:]) - to_hand.T @ weighted_start
    gradient[nl:] = v_hb @ free + value.gradient[:nh] + by_speed.T @ weighted_start
    for i in range(nl, nl + nh):
        hessian[i, i] += objective.speed_weight
    return hessian, gradient


@compiled
def _add_targets(
    hessian: np.ndarray, gradient: np.ndarray, forces: ForceModel, targets: ForceTargets
) -> None:
    """Adds the cost of sums of forces that differ from what is wanted."""
    edges, owner, counts, total = forces.edges, forces.owner, targets.counts, targets.total
    for w in range(len(targets.weight)):
        weight = targets.weight[w]
        for a in range(len(owner)):
            if not counts[w, owner[a]]:
                continue
            x, y, z = weight * edges[a, 0], weight * edges[a, 1], weight * edges[a, 2]
            gradient[a] -= x * total[w, 0] + y * total[w, 1] + z * total[w, 2]
            for b in range(len(owner)):
                if counts[w, owner[b]]:
                    hessian[a, b] += x * edges[b, 0] + y * edges[b, 1] + z * edges[b, 2]


@compiled
def _constraints(
    to_hand: np.ndarray,
    spread: np.ndarray,
    scale: np.ndarray,
    dynamics: FrameDynamics,
    forces: ForceModel,
    limits: VelocityLimits,
    bounds: JointBounds,
) -> tuple:
    """Rows for caps, for limits and for torques, and bounds of all unknowns and rows."""
    owner, cap, low = forces.owner, forces.cap, limits.low
    nh, nl, whole = len(bounds.slowest), len(owner), len(scale)
    capped = [k for k in range(len(cap)) if 0.0 < cap[k] < np.inf]
    matrix = np.zeros((len(capped) + len(low) + nh, whole))
    upper, lower = np.full(whole + len(matrix), np.inf), np.zeros(whole + len(matrix))
    for c in range(nl):
        if not cap[owner[c]] > 0.0:
            upper[c] = 0.0
    for i in range(nh):
        lower[nl + i] = bounds.slowest[i] / scale[nl + i]
        upper[nl + i] = bounds.fastest[i] / scale[nl + i]
    for row, k in enumerate(capped):
        # Every edge has a unit along the normal.
        for c in range(nl):
            if owner[c] == k:
                matrix[row, c] = scale[c]
        upper[whole + row] = cap[k]
    on_bodies = np.ascontiguousarray(limits.matrix[:, nh:])
    by_force, drift = on_bodies @ spread, on_bodies @ dynamics.free
    for m in range(len(low)):
        row = len(capped) + m
        for c in range(nl):
            matrix[row, c] = by_force[m, c] * scale[c]
        for i in range(nh):
            matrix[row, nl + i] = limits.matrix[m, i] * scale[nl + i]
        slack = nl + nh + limits.kind[m]
        matrix[row, slack] = scale[slack]
        lower[whole + row] = low[m] - drift[m]
    # Forces that are none ask nothing of joints, so these can always be met.
    first = len(capped) + len(low)
    for i in range(nh):
        for c in range(nl):
            matrix[first + i, c] = -to_hand[i, c] * scale[c]
        lower[whole + first + i] = bounds.weakest[i]
        upper[whole + first + i] = bounds.strongest[i]
    return matrix, upper, lower


@compiled
def assemble_qp(
    dynamics: FrameDynamics,
    forces: ForceModel,
    objective: Objective,
    targets: ForceTargets,
    limits: VelocityLimits,
    bounds: JointBounds,
    step: float,
) -> QuadraticProgram:
    """The quadratic program of a frame."""
    nh, nl = len(dynamics.mass), len(forces.owner)
    to_hand = _generalized_forces(forces, 0, nh)
    to_body = _generalized_forces(forces, nh, nh + len(dynamics.free))
    spread = step * (dynamics.inverse @ to_body)
    hessian, gradient = _objective(to_hand, spread, dynamics, objective, step)
    for c in range(nl):
        hessian[c, c] += forces.weight[forces.owner[c]]
    _add_targets(hessian, gradient, forces, targets)
    size = nl + nh
    whole = size + NUM_SLACKS
    scale = np.full(whole, 1.0 / np.sqrt(_SLACK_WEIGHT))
    for i in range(size):
        scale[i] = 1.0 / np.sqrt(hessian[i, i])
    scaled, scaled_gradient = np.eye(whole), np.zeros(whole)
    for i in range(size):
        scaled_gradient[i] = gradient[i] * scale[i]
        for j in range(size):
            scaled[i, j] = hessian[i, j] * (scale[i] * scale[j])
    matrix, upper, lower = _constraints(to_hand, spread, scale, dynamics, forces, limits, bounds)
    return QuadraticProgram(scaled, scaled_gradient, matrix, upper, lower, scale, to_hand, spread)


@compiled
def read_solution(
    found: Float[np.ndarray, " X"],
    program: QuadraticProgram,
    dynamics: FrameDynamics,
    forces: ForceModel,
    start: Float[np.ndarray, " H"],
    step: float,
) -> tuple:
    """Velocities of all, forces of contacts, and changes of torque.

    ``start`` are changes of torque without forces and velocities, N m.
    """
    to_hand, scale = program.to_hand, program.scale
    nh, nl = to_hand.shape
    amount = found[:nl] * scale[:nl]
    own = found[nl : nl + nh] * scale[nl : nl + nh]
    velocity = np.concatenate((own, program.spread @ amount + dynamics.free))
    force = np.zeros((len(forces.cap), 3))
    for c in range(nl):
        for i in range(3):
            force[forces.owner[c], i] += amount[c] * forces.edges[c, i]
    return velocity, force, dynamics.mass @ own / step + start - to_hand @ amount
