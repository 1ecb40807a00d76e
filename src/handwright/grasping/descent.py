"""Levenberg-Marquardt within joint limits, for one grasp."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.grasping.residuals import (
    GraspMeasures,
    GraspProblem,
    GraspWeights,
    grasp_residuals,
)
from handwright.math import rotation
from handwright.math.pose import Pose

# A step of less than this has arrived, rad and m.
_SMALL = 1e-6


class GraspState(NamedTuple):
    """A hand somewhere, and what it costs."""

    q: Float[np.ndarray, " J"]
    root: Pose
    cost: float
    measured: GraspMeasures


def descend(
    problem: GraspProblem,
    q: Float[np.ndarray, " J"],
    root: Pose,
    weights: GraspWeights,
    *,
    iterations: int,
) -> GraspState:
    """Lowers the cost of a posture, step by step, within the limits of the joints."""
    model = problem.model
    spread = spread_matrix(model, problem.is_root_free)
    free = np.flatnonzero(model.joints.leader < 0)
    lower, upper = model.joints.lower[free], model.joints.upper[free]
    damping = 1e-3
    q = model.joints.clamp(q)
    value, jacobian, measured = grasp_residuals(problem, q, root, weights)
    cost = float(value @ value)
    for _ in range(iterations):
        J = jacobian @ spread
        gradient, H = J.T @ value, J.T @ J
        x = q[free]
        blocked = np.zeros(len(gradient), dtype=bool)
        blocked[: len(free)] = ((x <= lower) & (gradient[: len(free)] > 0.0)) | (
            (x >= upper) & (gradient[: len(free)] < 0.0)
        )
        go = np.flatnonzero(~blocked)
        moved = False
        while damping < 1e6:
            step = np.zeros(len(gradient))
            scale = H[np.ix_(go, go)]
            damped = scale + damping * np.diag(np.diag(scale) + 1e-3)
            step[go] = -np.linalg.solve(damped, gradient[go])
            q_new = q.copy()
            q_new[free] = x + np.clip(step[: len(free)], -0.3, 0.3)
            q_new = model.joints.clamp(q_new)
            root_new = root
            if problem.is_root_free:
                shift, turn = step[-6:-3], step[-3:]
                shift = shift * min(1.0, 0.03 / max(float(np.linalg.norm(shift)), 1e-12))
                turn = turn * min(1.0, 0.3 / max(float(np.linalg.norm(turn)), 1e-12))
                root_new = Pose(
                    root.position + shift, rotation.multiply(rotation.exp(turn), root.wxyz)
                )
            value_new, jacobian_new, measured_new = grasp_residuals(
                problem, q_new, root_new, weights
            )
            cost_new = float(value_new @ value_new)
            if cost_new < cost:
                moved = True
                break
            damping *= 6.0
        if not moved:
            break
        gain = cost - cost_new
        q, root, value, jacobian, measured = q_new, root_new, value_new, jacobian_new, measured_new
        cost = cost_new
        damping = max(damping * 0.3, 1e-7)
        if float(np.abs(step).max()) < _SMALL or gain < 1e-7 * cost:
            break
    return GraspState(q, root, cost, measured)


def spread_matrix(model: HandModel, is_root_free: bool) -> Float[np.ndarray, "M N"]:
    """Derivatives of all joints and the root by the free ones; followers go with their leaders."""
    leader = model.joints.leader
    free = np.flatnonzero(leader < 0)
    place = np.full(model.num_joints, -1)
    place[free] = np.arange(len(free))
    spread = np.zeros((model.num_joints + 6, len(free) + (6 if is_root_free else 0)))
    spread[free, place[free]] = 1.0
    led = np.flatnonzero(leader >= 0)
    spread[led, place[leader[led]]] = model.joints.ratio[led]
    if is_root_free:
        spread[model.num_joints :, len(free) :] = np.eye(6)
    return spread
