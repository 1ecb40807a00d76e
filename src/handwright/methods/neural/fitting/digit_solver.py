"""Projected Levenberg-Marquardt for one digit on a wrist that is given.

Each digit minimises, in its own joints and within their limits,

    places and turns of its joints as the network says      ``pose_terms``
  + capsules out of the body, and on it where they touch    ``touch_terms``
  + sum_j stiffness_j (q_j - reference_j)^2                 stay near a posture
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.ik.bounded_step import bounded_step, largest_step
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import Rig, count_of
from handwright.kinematics.ik.problem import DigitWorkspace
from handwright.kinematics.tree import Links
from handwright.methods.neural.fitting.body_view import BodyView
from handwright.methods.neural.fitting.joint_table import JointTable
from handwright.methods.neural.fitting.network_pose import NetworkPose
from handwright.methods.neural.fitting.pose_terms import PoseWeights, pose_terms
from handwright.methods.neural.fitting.touch_terms import TouchTable, touch_terms

_MOST_DAMPING = 1e6


class DigitTask(NamedTuple):
    """What is asked of the digits of a hand, in the frame of its wrist."""

    rig: Rig
    joints: JointTable
    pose: NetworkPose
    weights: PoseWeights
    touch: TouchTable
    reference: Float[np.ndarray, " J"]
    """Posture that is preferred, rad."""
    stiffness: Float[np.ndarray, " J"]
    """Weight of that preference, m^2/rad^2."""
    max_iterations: int
    small_step: float
    """Largest change of a joint, rad, after which a digit is left as it is."""


@inlined
def _cost(
    task: DigitTask,
    view: BodyView,
    row: int,
    links: Links,
    digit: int,
    q: np.ndarray,
    work: DigitWorkspace,
    side: int,
) -> float:
    """Objective of one digit, with its normal equations in ``work`` at ``side``."""
    rig, table = task.rig, task.rig.table
    cost = 0.0
    for a in range(count_of(table.free, digit)):
        joint = table.free[digit, a]
        away, weight = q[joint] - task.reference[joint], task.stiffness[joint]
        cost += weight * away**2
        work.gradient[side, a] = weight * away
        for b in range(a):
            work.matrix[side, a, b] = 0.0
        work.matrix[side, a, a] = weight
    cost += pose_terms(rig, task.joints, links, digit, task.pose, task.weights, work, side)
    if task.touch.push > 0.0:
        cost += touch_terms(rig, task.touch, links, digit, view, row, work, side)
    return cost


@kernel
def settle_digit(
    task: DigitTask,
    view: BodyView,
    row: int,
    links: Links,
    digit: int,
    q: np.ndarray,
    work: DigitWorkspace,
) -> float:
    """Moves one digit of ``q`` and its links to the least cost within its limits; returns it.

    The wrist link must be placed; nothing else need be. The body is seen from pose ``row`` of the
    view.
    """
    table = task.rig.table
    bounds = table.lower, table.upper
    count = count_of(table.free, digit)
    for a in range(count):
        joint = table.free[digit, a]
        q[joint] = min(max(q[joint], table.lower[joint]), table.upper[joint])
    damping, side, cost = 1e-5, 1, np.inf
    place_digit(task.rig, links, digit, q)
    for iteration in range(task.max_iterations):
        trial = _cost(task, view, row, links, digit, q, work, 1 - side)
        if trial < cost:
            side, cost = 1 - side, trial
            damping *= 0.1
            for a in range(count):
                work.before[a] = q[table.free[digit, a]]
        else:
            damping = max(100.0 * damping, 1e-5)
            for a in range(count):
                q[table.free[digit, a]] = work.before[a]
        while True:
            promise = bounded_step(table, digit, q, bounds, work, side, damping)
            if promise >= 0.0 or damping > _MOST_DAMPING:
                break
            damping = max(100.0 * damping, 1e-5)
        # The last step is not tested, so it is taken only where it cannot do harm.
        size = largest_step(work, count)
        is_last = iteration + 1 == task.max_iterations or size < task.small_step
        if damping <= _MOST_DAMPING and not (is_last and size > 0.05):
            for a in range(count):
                joint = table.free[digit, a]
                moved = q[joint] + work.step[a]
                q[joint] = min(max(moved, table.lower[joint]), table.upper[joint])
        place_digit(task.rig, links, digit, q)
        if is_last or damping > _MOST_DAMPING:
            break
    return cost
