"""Least-squares terms that pose a digit as the network says: places and turns of its joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined, inlined_loose, kernel
from handwright.kinematics.ik.digit import add_point, point_velocities
from handwright.kinematics.ik.digit_table import Rig, count_of
from handwright.kinematics.ik.problem import DigitWorkspace
from handwright.kinematics.tree import Links, placed_row, turned
from handwright.math.vec3 import Vec3, minus, row3
from handwright.methods.neural.fitting.joint_table import MIDDLE_KNUCKLE, JointTable
from handwright.methods.neural.fitting.network_pose import NetworkPose


class PoseWeights(NamedTuple):
    """What a miss of each kind costs."""

    position: float = 1.0
    """Of a joint's place."""
    bone: float = 0.0
    """Of the vector from one joint to the next, and of the first joint's place in a palm of the
    hand's own size: the same posture for hands of all sizes."""
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


@inlined
def _palm_length(pose: NetworkPose) -> float:
    """Distance of the middle knuckle, which hardly moves, from the wrist, m."""
    x, y, z = row3(pose.position, MIDDLE_KNUCKLE)
    return max(np.sqrt(x * x + y * y + z * z), 0.01)


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
    before = (0.0, 0.0, 0.0)
    for n in range(first, last):
        link = joints.link[n]
        point, target = placed_row(links, link, joints.local, n), row3(pose.position, n)
        weight = weights.position
        if n == first and weights.bone > 0.0:
            # Bones do not tell a bent metacarpal from a bent knuckle.
            weight, size = weights.bone, joints.palm / _palm_length(pose)
            target = (size * target[0], size * target[1], size * target[2])
        if weight > 0.0:
            point_velocities(rig, links, digit, link, point, work.column)
            cost += add_point(work, side, count, minus(point, target), weight)
        if n > first and weights.bone > 0.0:
            # Turns move a bone like a direction, and the joint at its far end does not.
            bone = minus(point, before)
            wanted = minus(target, row3(pose.position, n - 1))
            length = np.sqrt(wanted[0] ** 2 + wanted[1] ** 2 + wanted[2] ** 2)
            size = joints.bone[n] / max(length, 1e-6)
            wanted = (size * wanted[0], size * wanted[1], size * wanted[2])
            _turn_velocities(rig, links, digit, joints.link[n - 1], bone, work.column)
            cost += add_point(work, side, count, minus(bone, wanted), weights.bone)
        before = point
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
