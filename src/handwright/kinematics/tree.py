"""Forward kinematics and Jacobians of a joint tree: the kernels that everything else calls."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.kernels.decorators import inlined, kernel
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.math.vec3 import Vec3


class Tree(NamedTuple):
    """A joint tree as plain arrays, in the form that numba takes."""

    parent: np.ndarray
    offset: np.ndarray
    axis: np.ndarray
    is_slide: np.ndarray


class Links(NamedTuple):
    """Where every link is: room for one pose of a tree, filled by ``forward``."""

    rotation: np.ndarray
    """(L, 3, 3), maps link to world."""
    position: np.ndarray
    """(L, 3), m."""
    axis: np.ndarray
    """(J, 3), joint axes in the world."""


@lru_cache(maxsize=64)
def tree_of(model: HandModel) -> Tree:
    """The joint tree of a hand for numba."""
    joints = model.joints
    return Tree(
        joints.parent.astype(np.int64),
        joints.offset.astype(np.float64),
        joints.axis.astype(np.float64),
        joints.is_slide.astype(np.bool_),
    )


def empty_links(num_joints: int) -> Links:
    """Room for one pose of a tree with this many joints; nothing is placed."""
    links = num_joints + 1
    return Links(np.zeros((links, 3, 3)), np.zeros((links, 3)), np.zeros((num_joints, 3)))


def links_for(model: HandModel, root: Pose | None = None) -> Links:
    """Room for one pose of a hand whose root is placed, by default at the origin."""
    root = Pose.identity() if root is None else root
    links = empty_links(model.num_joints)
    links.rotation[0], links.position[0] = rotation.to_matrix(root.wxyz), root.position
    return links


@inlined
def _advance_joint(tree: Tree, joint: int, value: float, links: Links) -> None:
    """Places link ``joint + 1`` from its parent."""
    parent = tree.parent[joint]
    child = joint + 1
    rotation, position = links.rotation, links.position
    ax, ay, az = tree.axis[joint, 0], tree.axis[joint, 1], tree.axis[joint, 2]
    ox, oy, oz = tree.offset[joint, 0], tree.offset[joint, 1], tree.offset[joint, 2]
    slides = tree.is_slide[joint]
    s, c = (0.0, 1.0) if slides else (np.sin(value), np.cos(value))
    shift = value if slides else 0.0
    for i in range(3):
        x, y, z = rotation[parent, i, 0], rotation[parent, i, 1], rotation[parent, i, 2]
        along = x * ax + y * ay + z * az
        links.axis[joint, i] = along
        position[child, i] = position[parent, i] + x * ox + y * oy + z * oz + shift * along
        # Rodrigues' formula by rows: row @ R = c row + s (row x axis) + (1 - c)(row . axis) axis.
        along *= 1.0 - c
        rotation[child, i, 0] = c * x + s * (y * az - z * ay) + along * ax
        rotation[child, i, 1] = c * y + s * (z * ax - x * az) + along * ay
        rotation[child, i, 2] = c * z + s * (x * ay - y * ax) + along * az


@kernel
def forward(tree: Tree, q: np.ndarray, links: Links) -> None:
    """Places all links; ``links.rotation[0]`` and ``links.position[0]`` hold the root."""
    for joint in range(q.shape[0]):
        _advance_joint(tree, joint, q[joint], links)


@inlined
def forward_chain(tree: Tree, chains: np.ndarray, row: int, q: np.ndarray, links: Links) -> None:
    """Places only the links moved by the joints of one row of ``chains``, which ends with -1."""
    for n in range(chains.shape[1]):
        joint = chains[row, n]
        if joint < 0:
            break
        _advance_joint(tree, joint, q[joint], links)


@inlined
def turned(links: Links, link: int, x: float, y: float, z: float) -> Vec3:
    """World direction of a direction of a link."""
    r = links.rotation
    return (
        r[link, 0, 0] * x + r[link, 0, 1] * y + r[link, 0, 2] * z,
        r[link, 1, 0] * x + r[link, 1, 1] * y + r[link, 1, 2] * z,
        r[link, 2, 0] * x + r[link, 2, 1] * y + r[link, 2, 2] * z,
    )


@inlined
def placed(links: Links, link: int, x: float, y: float, z: float) -> Vec3:
    """World position of a point of a link."""
    a, b, c = turned(links, link, x, y, z)
    p = links.position
    return p[link, 0] + a, p[link, 1] + b, p[link, 2] + c


@inlined
def placed_row(links: Links, link: int, local: np.ndarray, row: int) -> Vec3:
    """World position of a point of a link that is one row of a table."""
    return placed(links, link, local[row, 0], local[row, 1], local[row, 2])


@inlined
def joint_velocity_of_point(tree: Tree, links: Links, joint: int, point: Vec3) -> Vec3:
    """Velocity of a world point per unit speed of one joint that moves it."""
    ax, ay, az = links.axis[joint, 0], links.axis[joint, 1], links.axis[joint, 2]
    if tree.is_slide[joint]:
        return ax, ay, az
    rx = point[0] - links.position[joint + 1, 0]
    ry = point[1] - links.position[joint + 1, 1]
    rz = point[2] - links.position[joint + 1, 2]
    return ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx


@kernel
def point_jacobian(
    tree: Tree,
    links: Links,
    link: int,
    point: Vec3,
    row: int,
    linear: np.ndarray,
    angular: np.ndarray,
) -> None:
    """Writes row ``row`` of (N, 3, J) Jacobians: of a world point of a link, and of its rotation.

    Only the columns of joints between the root and the link are written: hand in zeros.
    """
    while link > 0:
        joint = link - 1
        vx, vy, vz = joint_velocity_of_point(tree, links, joint, point)
        linear[row, 0, joint], linear[row, 1, joint], linear[row, 2, joint] = vx, vy, vz
        if not tree.is_slide[joint]:
            for i in range(3):
                angular[row, i, joint] = links.axis[joint, i]
        link = tree.parent[joint]
