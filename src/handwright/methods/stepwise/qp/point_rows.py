"""Velocities of points of hands and bodies as rows over all velocities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.tree import Links, Tree, joint_velocity_of_point
from handwright.methods.stepwise.vectors import crossed, minus, vector

Point = tuple[float, float, float] | np.ndarray
"""Three numbers, m."""


class HandChain(NamedTuple):
    """The joints of a placed hand, and which of all velocities are theirs."""

    tree: Tree
    links: Links
    num_root: int
    """Velocities of the root, which come before those of the joints: 6 or 0."""
    first: int
    """Index of the hand's first velocity among all velocities."""


@kernel
def hand_point_rows(hand: HandChain, link: int, point: Point, sign: float, out: np.ndarray) -> None:
    """Adds the velocity of a world point of a link to (3, N) rows."""
    tree, links, num_root, first = hand.tree, hand.links, hand.num_root, hand.first
    if num_root > 0:
        arm = minus(point, links.position[0])
        for i in range(3):
            out[i, first + i] += sign
            _add(out[:, first + 3 + i], sign, crossed(links.rotation[0, :, i], arm))
    while link > 0:
        joint = link - 1
        velocity = joint_velocity_of_point(tree, links, joint, (point[0], point[1], point[2]))
        _add(out[:, first + num_root + joint], sign, velocity)
        link = tree.parent[joint]


@inlined
def _add(column: np.ndarray, sign: float, velocity: tuple) -> None:
    for i in range(3):
        column[i] += sign * velocity[i]


@kernel
def body_point_rows(first: int, arm: Point, sign: float, out: np.ndarray) -> None:
    """Adds the velocity of a point to (3, N) rows; its arm is from the centre of mass."""
    x, y, z = vector(arm)
    for i in range(3):
        out[i, first + i] += sign
    out[0, first + 4] += sign * z
    out[0, first + 5] -= sign * y
    out[1, first + 3] -= sign * z
    out[1, first + 5] += sign * x
    out[2, first + 3] += sign * y
    out[2, first + 4] -= sign * x
