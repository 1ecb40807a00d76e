"""Robot hands from MJCF and URDF files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from handwright.core.hand import Capsules, HandModel
from handwright.hands.capsules import spread_sites
from handwright.physics.mjcf.hand_mapping import HandMapping
from handwright.physics.mjcf.robot_digits import (
    closing_turns,
    digit_joints,
    digits_of_links,
    read_digits,
)
from handwright.physics.mjcf.robot_file import RobotFile, load_robot_file
from handwright.physics.mjcf.robot_joints import RobotTree, read_tree
from handwright.physics.mjcf.robot_shape import read_capsules, read_frames, read_masses

_CLOSED_SHARE = 0.75
_REST_SHARE = 0.25
"""How far the closing joints of the poses made here are turned, as shares of their limits."""
_OPPOSED = 0.3
"""Least length of the mean closing direction for fingers that close on a palm, not each other."""


def from_mjcf(path: str | Path, mapping: HandMapping, *, name: str | None = None) -> HandModel:
    """Reads a robot hand from an MJCF or URDF file.

    Joint values are those of the file. Capsules are kept, and fitted to other shapes; only
    colliding shapes count where there are any. Tips and pads come from the last capsule of each
    digit, and sensor sites from the side of the capsules that closes. The poses ``neutral``,
    ``open``, ``rest`` and ``closed`` are made up where the mapping does not give them. Every body
    of the file is kept as a frame.

    Args:
        path: MJCF or URDF file; its meshes must be there.
        mapping: What is what in the file.
        name: Of the hand; the file's stem by default.

    Raises:
        FileFormatError: The file is broken, or its meshes are missing.
        UnknownNameError: The mapping names a body, joint or site that the file does not have.
        InvalidValueError: There is no such file, or it does not describe a hand of hinges and
            slides with shapes.
    """
    robot = load_robot_file(path)
    tree = read_tree(robot, mapping)
    own = digit_joints(robot, mapping, tree)
    capsules = read_capsules(robot, mapping, tree, digits_of_links(tree, own))
    digits, closing = read_digits(robot, mapping, tree, own, capsules)
    palm_link = tree.link_of_body[robot.body(mapping.root)]
    facing = _facing(robot, mapping, tree, capsules, closing)
    return HandModel(
        name=name or Path(path).stem,
        side=mapping.side,
        joints=tree.joints,
        frames=read_frames(robot, mapping, tree),
        digits=digits,
        capsules=capsules,
        sites=spread_sites(tree.joints, capsules, facing, mapping.num_sites),
        masses=read_masses(robot, tree),
        wrist_link=palm_link,
        poses=_poses(mapping, tree, closing_turns(tree, digits, closing)),
    )


def _facing(
    robot: RobotFile,
    mapping: HandMapping,
    tree: RobotTree,
    capsules: Capsules,
    closing: np.ndarray,
) -> np.ndarray:
    """Grasping direction of each capsule; zero for those of the arm."""
    palm_body = robot.body(mapping.root)
    palm = tree.link_of_body[palm_body]
    if mapping.palmar is not None:
        # The root's z axis is dorsal then.
        palmar = np.array([0.0, 0.0, -1.0])
    else:
        palmar = closing.mean(axis=0)
        if np.linalg.norm(palmar) < _OPPOSED:
            # Fingers that close on each other hold things beyond the palm.
            tips = np.array([tree.origins[link] for link in set(capsules.link) if link != palm])
            palmar = tree.aim(tips.mean(axis=0) - robot.data.xpos[palm_body])
        palmar = palmar / np.linalg.norm(palmar)
    on_arm = [link for link in set(capsules.link.tolist()) if not _hangs_on(tree, link, palm)]
    facing = np.where(capsules.digit[:, None] >= 0, closing[capsules.digit], palmar)
    facing[np.isin(capsules.link, on_arm)] = 0.0
    return facing


def _hangs_on(tree: RobotTree, link: int, palm: int) -> bool:
    while link > palm:
        link = int(tree.joints.parent[link - 1])
    return link == palm


def _poses(mapping: HandMapping, tree: RobotTree, limit: np.ndarray) -> dict[str, np.ndarray]:
    joints = tree.joints
    poses = {
        "neutral": joints.clamp(np.zeros(len(joints))),
        "open": joints.clamp(np.zeros(len(joints))),
        "rest": joints.clamp(_REST_SHARE * limit),
        "closed": joints.clamp(_CLOSED_SHARE * limit),
    }
    for name, values in mapping.poses.items():
        q = np.zeros(len(joints))
        for joint, value in values.items():
            q[joints.index(mapping.short(joint))] = value
        # Followers come from their leaders; other values that break a limit are reported.
        poses[name] = np.where(joints.leader >= 0, joints.clamp(q), q)
    return poses
