"""Velocities of points of hands and bodies as rows over all velocities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import kernel
from handwright.kinematics.tree import Links, Tree, joint_velocity_of_point


class HandChain(NamedTuple):
    """The joints of a placed hand, and which of all velocities are theirs."""

    tree: Tree
    links: Links
    num_root: int
    """Velocities of the root, which come before those of the joints: 6 or 0."""
    first: int
    """Index of the hand's first velocity among all velocities."""


@kernel
def hand_point_rows(
    hand: HandChain, link: int, x: float, y: float, z: float, sign: float, out: np.ndarray
) -> None:
    """Adds the velocity of a world point of a link to (3, N) rows."""
    tree, links, num_root, first = hand.tree, hand.links, hand.num_root, hand.first
    if num_root > 0:
        rx, ry, rz = x - links.position[0, 0], y - links.position[0, 1], z - links.position[0, 2]
        for i in range(3):
            out[i, first + i] += sign
            ax, ay, az = links.rotation[0, 0, i], links.rotation[0, 1, i], links.rotation[0, 2, i]
            out[0, first + 3 + i] += sign * (ay * rz - az * ry)
            out[1, first + 3 + i] += sign * (az * rx - ax * rz)
            out[2, first + 3 + i] += sign * (ax * ry - ay * rx)
    while link > 0:
        joint = link - 1
        vx, vy, vz = joint_velocity_of_point(tree, links, joint, (x, y, z))
        column = first + num_root + joint
        out[0, column] += sign * vx
        out[1, column] += sign * vy
        out[2, column] += sign * vz
        link = tree.parent[joint]


@kernel
def body_point_rows(first: int, x: float, y: float, z: float, sign: float, out: np.ndarray) -> None:
    """Adds the velocity of a point to (3, N) rows; (x, y, z) is from the centre of mass."""
    for i in range(3):
        out[i, first + i] += sign
    out[0, first + 4] += sign * z
    out[0, first + 5] -= sign * y
    out[1, first + 3] -= sign * z
    out[1, first + 5] += sign * x
    out[2, first + 3] += sign * y
    out[2, first + 4] -= sign * x
