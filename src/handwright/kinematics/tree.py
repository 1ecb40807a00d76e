"""Forward kinematics and Jacobians of a joint tree: the kernels that everything else calls."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit

from handwright.core.hand import HandModel


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


def links_for(model: HandModel) -> Links:
    """Room for one pose of a hand, with the root at the origin."""
    links = Links(
        np.zeros((model.num_links, 3, 3)),
        np.zeros((model.num_links, 3)),
        np.zeros((model.num_joints, 3)),
    )
    links.rotation[0] = np.eye(3)
    return links


@njit(cache=True, error_model="numpy", forceinline=True)
def _advance_joint(tree: Tree, joint: int, value: float, links: Links) -> None:
    """Places link ``joint + 1`` from its parent."""
    parent = tree.parent[joint]
    child = joint + 1
    turn = links.rotation[parent]
    out = links.rotation[child]
    ax, ay, az = tree.axis[joint, 0], tree.axis[joint, 1], tree.axis[joint, 2]
    ox, oy, oz = tree.offset[joint, 0], tree.offset[joint, 1], tree.offset[joint, 2]
    for i in range(3):
        links.axis[joint, i] = turn[i, 0] * ax + turn[i, 1] * ay + turn[i, 2] * az
        links.position[child, i] = (
            links.position[parent, i] + turn[i, 0] * ox + turn[i, 1] * oy + turn[i, 2] * oz
        )
    if tree.is_slide[joint]:
        for i in range(3):
            links.position[child, i] += links.axis[joint, i] * value
            for k in range(3):
                out[i, k] = turn[i, k]
        return
    # Rodrigues' formula, row by row: row @ R = c row + s (row x axis) + (1 - c)(row . axis) axis.
    s, c = np.sin(value), np.cos(value)
    for i in range(3):
        x, y, z = turn[i, 0], turn[i, 1], turn[i, 2]
        along = (1.0 - c) * (x * ax + y * ay + z * az)
        out[i, 0] = c * x + s * (y * az - z * ay) + along * ax
        out[i, 1] = c * y + s * (z * ax - x * az) + along * ay
        out[i, 2] = c * z + s * (x * ay - y * ax) + along * az


@njit(cache=True, error_model="numpy")
def forward(tree: Tree, q: np.ndarray, links: Links) -> None:
    """Places all links; ``links.rotation[0]`` and ``links.position[0]`` hold the root."""
    for joint in range(q.shape[0]):
        _advance_joint(tree, joint, q[joint], links)


@njit(cache=True, error_model="numpy", forceinline=True)
def forward_chain(tree: Tree, chain: np.ndarray, q: np.ndarray, links: Links) -> None:
    """Places only the links moved by the joints of ``chain``, given in tree order."""
    for joint in chain:
        _advance_joint(tree, joint, q[joint], links)


@njit(cache=True, error_model="numpy", forceinline=True)
def world_point(links: Links, link: int, local: np.ndarray, out: np.ndarray) -> None:
    """World position of a point of a link."""
    turn = links.rotation[link]
    for i in range(3):
        out[i] = (
            links.position[link, i]
            + turn[i, 0] * local[0]
            + turn[i, 1] * local[1]
            + turn[i, 2] * local[2]
        )


@njit(cache=True, error_model="numpy")
def world_direction(links: Links, link: int, local: np.ndarray, out: np.ndarray) -> None:
    """World direction of a direction of a link."""
    turn = links.rotation[link]
    for i in range(3):
        out[i] = turn[i, 0] * local[0] + turn[i, 1] * local[1] + turn[i, 2] * local[2]


@njit(cache=True, error_model="numpy", forceinline=True)
def joint_velocity_of_point(
    tree: Tree, links: Links, joint: int, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Velocity of the world point (x, y, z) per unit speed of one joint that moves it."""
    ax, ay, az = links.axis[joint, 0], links.axis[joint, 1], links.axis[joint, 2]
    if tree.is_slide[joint]:
        return ax, ay, az
    rx = x - links.position[joint + 1, 0]
    ry = y - links.position[joint + 1, 1]
    rz = z - links.position[joint + 1, 2]
    return ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx


@njit(cache=True, error_model="numpy")
def point_jacobian(
    tree: Tree, links: Links, link: int, point: np.ndarray, linear: np.ndarray, angular: np.ndarray
) -> None:
    """Adds the (3, J) Jacobians of a world point of a link, and of the link's rotation.

    Only the columns of joints between the root and the link are written: hand in zeros.
    """
    while link > 0:
        joint = link - 1
        vx, vy, vz = joint_velocity_of_point(tree, links, joint, point[0], point[1], point[2])
        linear[0, joint] = vx
        linear[1, joint] = vy
        linear[2, joint] = vz
        if not tree.is_slide[joint]:
            for i in range(3):
                angular[i, joint] = links.axis[joint, i]
        link = tree.parent[joint]
