"""Cyclic coordinate descent: slow to converge, but it needs no Jacobian and never overshoots."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled
from handwright.kinematics.fk import one_pose
from handwright.kinematics.ik.digit_table import DigitTable, Rig, count_of, rig_of
from handwright.kinematics.tree import Links, forward, links_for, placed
from handwright.math.pose import Pose


@compiled
def _best_turn(links: Links, joint: int, point: np.ndarray, target: np.ndarray) -> float:
    """Turn of one hinge that brings a point nearest to a target."""
    axis = links.axis[joint]
    a = point - links.position[joint + 1]
    b = target - links.position[joint + 1]
    a = a - axis * np.dot(axis, a)
    b = b - axis * np.dot(axis, b)
    if np.dot(a, a) < 1e-16 or np.dot(b, b) < 1e-16:
        return 0.0
    sine = (
        axis[0] * (a[1] * b[2] - a[2] * b[1])
        + axis[1] * (a[2] * b[0] - a[0] * b[2])
        + axis[2] * (a[0] * b[1] - a[1] * b[0])
    )
    return np.arctan2(sine, np.dot(a, b))


@compiled
def _lead(q: np.ndarray, joint: int, table: DigitTable) -> None:
    """Sets the joints that follow one."""
    for other in range(q.shape[0]):
        if table.leader[other] == joint:
            q[other] = table.ratio[other] * q[joint] + table.bias[other]


@compiled
def _descend(
    rig: Rig,
    links: Links,
    q: np.ndarray,
    digit: int,
    target: np.ndarray,
    tolerance: float,
    max_sweeps: int,
) -> tuple[float, int]:
    """Turns one joint of a digit after another until the pad is at the target."""
    tree, table = rig
    forward(tree, q, links)
    link, local = table.tip_link[digit], table.pad[digit]
    point = np.array(placed(links, link, local[0], local[1], local[2]))
    error = np.sqrt(np.sum((target - point) ** 2))
    for sweep in range(max_sweeps):
        if error <= tolerance:
            return error, sweep
        start = error
        for a in range(count_of(table.free, digit) - 1, -1, -1):
            joint = table.free[digit, a]
            if tree.is_slide[joint]:
                change = np.dot(links.axis[joint], target - point)
            else:
                change = _best_turn(links, joint, point, target)
            old = q[joint]
            q[joint] = min(max(old + change, table.lower[joint]), table.upper[joint])
            _lead(q, joint, table)
            forward(tree, q, links)
            point = np.array(placed(links, link, local[0], local[1], local[2]))
            moved = np.sqrt(np.sum((target - point) ** 2))
            if moved > error:
                # The limits, or a follower, spoilt the step.
                q[joint] = old
                _lead(q, joint, table)
                forward(tree, q, links)
                point = np.array(placed(links, link, local[0], local[1], local[2]))
            else:
                error = moved
        if start - error < 1e-9:
            return error, sweep + 1
    return error, max_sweeps


def descend_digit(
    model: HandModel,
    q: Float[np.ndarray, " J"],
    digit: str,
    target: Float[np.ndarray, "3"],
    *,
    root: Pose | None = None,
    tolerance: float = 1e-4,
    max_sweeps: int = 200,
) -> tuple[Float[np.ndarray, " J"], float, int]:
    """Brings a digit's pad to a point of the world by turning one joint after another.

    Args:
        model: The hand.
        q: Joint values to start from, rad.
        digit: Name of the digit.
        target: m.
        root: Pose of the root in the world.
        tolerance: Distance at which to stop, m.
        max_sweeps: How often to go through the joints.

    Returns:
        Joint values within their limits, the distance left (m), and the number of sweeps.
    """
    found = model.digit(digit)
    q = model.joints.clamp(one_pose(model, q))
    target = np.array(target, dtype=np.float64)
    if target.shape != (3,) or not np.isfinite(target).all():
        raise InvalidValueError(f"Target is {target.tolist()}; expected three numbers, metres.")
    row, links = model.digits.index(found), links_for(model, root)
    error, sweeps = _descend(rig_of(model), links, q, row, target, tolerance, max_sweeps)
    return q, float(error), int(sweeps)
