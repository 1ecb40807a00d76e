"""Least-squares terms that pose a digit as the network says: places and turns of its joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined_loose, kernel
from handwright.kinematics.ik.digit import add_point, point_velocities
from handwright.kinematics.ik.digit_table import Rig, count_of
from handwright.kinematics.ik.problem import DigitWorkspace
from handwright.kinematics.tree import Links, placed_row, turned
from handwright.math.vec3 import Vec3, minus, row3
from handwright.methods.neural.fitting.joint_table import JointTable
from handwright.methods.neural.fitting.network_pose import NetworkPose


class PoseWeights(NamedTuple):
    """What a miss of each kind costs."""

    position: float = 1.0
    """Of a joint's place."""
    turn: float = 4e-4
    """Of a unit direction of a link, m^2; the root is the arm on which an angle counts."""


@inlined_loose
def _turn_velocities(
    rig: Rig, links: Links, digit: int, link: int, c: Vec3, out: np.ndarray
) -> None:
    """Velocity (N, 3) of a direction of a link by each free joint of the digit."""
    table, axis = rig.table, links.axis
    for a in range(count_of(table.free, digit)):
        joint = table.free[digit, a]
        out[a, 0] = out[a, 1] = out[a, 2] = 0.0
        if joint < link and not rig.tree.is_slide[joint]:
            out[a, 0] = axis[joint, 1] * c[2] - axis[joint, 2] * c[1]
            out[a, 1] = axis[joint, 2] * c[0] - axis[joint, 0] * c[2]
            out[a, 2] = axis[joint, 0] * c[1] - axis[joint, 1] * c[0]
    for n in range(table.follower.shape[1]):
        joint = table.follower[digit, n]
        if joint < 0 or joint >= link:
            break
        if not rig.tree.is_slide[joint]:
            a, share = table.column[digit, n], table.share[digit, n]
            out[a, 0] += share * (axis[joint, 1] * c[2] - axis[joint, 2] * c[1])
            out[a, 1] += share * (axis[joint, 2] * c[0] - axis[joint, 0] * c[2])
            out[a, 2] += share * (axis[joint, 0] * c[1] - axis[joint, 1] * c[0])


@kernel
def pose_terms(
    rig: Rig,
    joints: JointTable,
    links: Links,
    digit: int,
    pose: NetworkPose,
    weights: PoseWeights,
    work: DigitWorkspace,
    side: int,
) -> float:
    """Cost of the digit's joints away from their targets; adds to the normal equations."""
    cost = 0.0
    count = count_of(rig.table.free, digit)
    first, last = joints.first[digit], joints.first[digit + 1]
    if weights.position > 0.0:
        for n in range(first, last):
            link = joints.link[n]
            point, target = placed_row(links, link, joints.local, n), row3(pose.position, n)
            point_velocities(rig, links, digit, link, point, work.column)
            cost += add_point(work, side, count, minus(point, target), weights.position)
    if weights.turn > 0.0:
        # The tip turns with the joint before it, and would only count that one twice.
        for n in range(first, last - 1):
            link = joints.link[n]
            for i in range(2):
                c = turned(links, link, *row3(joints.axis[n], i))
                _turn_velocities(rig, links, digit, link, c, work.column)
                miss = minus(c, row3(pose.axis[n], i))
                cost += add_point(work, side, count, miss, weights.turn)
    return cost
