"""Cyclic coordinate descent: slow to converge, but it needs no Jacobian and never overshoots.

Joints of a digit are moved one after the other, from the tip to the palm, each to where the sum of
squared distances of points from their targets is least. For one hinge that has a closed form: with
a and b the arms of a point and of its target across the axis, the best turn has the sine
sum(axis . a x b) and the cosine sum(a . b), up to a common factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.fk import one_pose
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import Rig, count_of, rig_of
from handwright.kinematics.tree import Links, forward, links_for, placed_row
from handwright.math.pose import Pose
from handwright.math.vec3 import Vec3, minus, row3

_LEAST_GAIN = 1e-9


class ChainGoals(NamedTuple):
    """Points of the links of digits that should be somewhere; rows of a digit follow each other."""

    first: Int[np.ndarray, " D+1"]
    """Row of the first point of each digit, and the number of rows."""
    link: Int[np.ndarray, " N"]
    local: Float[np.ndarray, "N 3"]
    """In the link's frame, m."""
    target: Float[np.ndarray, "N 3"]
    """In the world, m."""


@kernel
def _miss(goals: ChainGoals, links: Links, digit: int) -> float:
    """Root of the sum of squared distances of a digit's points from their targets, m."""
    total = 0.0
    for n in range(goals.first[digit], goals.first[digit + 1]):
        point = placed_row(links, goals.link[n], goals.local, n)
        x, y, z = minus(row3(goals.target, n), point)
        total += x * x + y * y + z * z
    return np.sqrt(total)


@inlined
def _across(arm: Vec3, axis: Vec3) -> Vec3:
    """Part of a vector across an axis."""
    along = arm[0] * axis[0] + arm[1] * axis[1] + arm[2] * axis[2]
    return arm[0] - along * axis[0], arm[1] - along * axis[1], arm[2] - along * axis[2]


@kernel
def _best_move(rig: Rig, goals: ChainGoals, links: Links, digit: int, joint: int) -> float:
    """Turn, or shift, of one joint that brings what it moves nearest to the targets."""
    axis = row3(links.axis, joint)
    base = row3(links.position, joint + 1)
    sine, cosine, shift, moved = 0.0, 0.0, 0.0, 0
    for n in range(goals.first[digit], goals.first[digit + 1]):
        if goals.link[n] <= joint:
            continue
        point = placed_row(links, goals.link[n], goals.local, n)
        target = row3(goals.target, n)
        moved += 1
        off = minus(target, point)
        shift += axis[0] * off[0] + axis[1] * off[1] + axis[2] * off[2]
        a, b = _across(minus(point, base), axis), _across(minus(target, base), axis)
        sine += (
            axis[0] * (a[1] * b[2] - a[2] * b[1])
            + axis[1] * (a[2] * b[0] - a[0] * b[2])
            + axis[2] * (a[0] * b[1] - a[1] * b[0])
        )
        cosine += a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    if moved == 0:
        return 0.0
    if rig.tree.is_slide[joint]:
        return shift / moved
    return np.arctan2(sine, cosine) if sine * sine + cosine * cosine > 1e-24 else 0.0


@kernel
def descend_chain(
    rig: Rig,
    links: Links,
    q: np.ndarray,
    digit: int,
    goals: ChainGoals,
    tolerance: float,
    max_sweeps: int,
) -> tuple[float, int]:
    """Moves one joint of a digit after another until its points are at their targets.

    The link that the digit is mounted on must be placed.

    Returns:
        Root of the sum of squared distances that are left, m, and the number of sweeps.
    """
    table = rig.table
    place_digit(rig, links, digit, q)
    error = _miss(goals, links, digit)
    for sweep in range(max_sweeps):
        if error <= tolerance:
            return error, sweep
        start = error
        for a in range(count_of(table.free, digit) - 1, -1, -1):
            joint = table.free[digit, a]
            old = q[joint]
            change = _best_move(rig, goals, links, digit, joint)
            q[joint] = min(max(old + change, table.lower[joint]), table.upper[joint])
            if q[joint] == old:
                continue
            place_digit(rig, links, digit, q)
            moved = _miss(goals, links, digit)
            if moved > error:
                # The limits, or a follower, spoilt the step.
                q[joint] = old
                place_digit(rig, links, digit, q)
            else:
                error = moved
        if start - error < _LEAST_GAIN:
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
    row, links, rig = model.digits.index(found), links_for(model, root), rig_of(model)
    forward(rig.tree, q, links)
    first = np.zeros(len(model.digits) + 1, dtype=np.int64)
    first[row + 1 :] = 1
    goals = ChainGoals(
        first, np.array([found.pad.link]), np.array(found.pad.position)[None], target[None]
    )
    error, sweeps = descend_chain(rig, links, q, row, goals, tolerance, max_sweeps)
    # Joints elsewhere may follow those of the digit.
    return model.joints.clamp(q), float(error), int(sweeps)
