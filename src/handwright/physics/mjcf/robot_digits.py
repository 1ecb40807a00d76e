"""Digits of an imported hand: their joints, tips, pads and the way they close."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handwright.core.hand import Capsules, Digit, SurfacePoint
from handwright.errors import InvalidValueError
from handwright.physics.mjcf.hand_mapping import HandMapping
from handwright.physics.mjcf.robot_file import RobotFile
from handwright.physics.mjcf.robot_joints import RobotTree

_PAD_SHARE = 0.6
"""Where the pad's middle lies along the last capsule."""
_ONE_SIDED = 1.5
"""A joint whose one limit is this much farther than the other bends that way."""
_BENDS = 0.5
"""Least cosine between the tip's motion and the closing direction for a joint that closes."""


@dataclass(frozen=True, slots=True, eq=False)
class Bone:
    """Last capsule of a digit, and the way it points, in its link's frame."""

    link: int
    near: np.ndarray
    far: np.ndarray
    radius: float
    along: np.ndarray


def digit_joints(
    robot: RobotFile, mapping: HandMapping, tree: RobotTree
) -> dict[str, tuple[int, ...]]:
    """Joints from the palm to the last body of each digit, without those that digits share."""
    palm = robot.body(mapping.root)
    chains: dict[str, list[int]] = {}
    for name in mapping.digits:
        last = robot.body(mapping.digit(name).last)
        if last not in robot.subtree(palm):
            raise InvalidValueError(
                f"'{robot.path.name}': '{mapping.digit(name).last}' of digit '{name}' does not "
                f"hang on the palm '{mapping.root}'; name a body beyond it."
            )
        link, stop, chain = tree.link_of_body[last], tree.link_of_body[palm], []
        while link != stop:
            chain.append(link - 1)
            link = int(tree.joints.parent[link - 1])
        chains[name] = chain[::-1]
    counts = np.bincount([j for chain in chains.values() for j in chain], minlength=1)
    own = {name: tuple(j for j in chain if counts[j] == 1) for name, chain in chains.items()}
    for name, joints in own.items():
        if not joints:
            raise InvalidValueError(
                f"'{robot.path.name}': digit '{name}' has no joint of its own between "
                f"'{mapping.root}' and '{mapping.digit(name).last}'; name its last link's body."
            )
    return own


def digits_of_links(tree: RobotTree, own: dict[str, tuple[int, ...]]) -> np.ndarray:
    """Index of the digit that each link belongs to, -1 for palm and arm."""
    owner = np.full(len(tree.joints) + 1, -1)
    for index, joints in enumerate(own.values()):
        owner[[joint + 1 for joint in joints]] = index
    for joint, parent in enumerate(tree.joints.parent):
        if owner[joint + 1] < 0:
            owner[joint + 1] = owner[parent]
    return owner


def read_digits(
    robot: RobotFile,
    mapping: HandMapping,
    tree: RobotTree,
    own: dict[str, tuple[int, ...]],
    capsules: Capsules,
) -> tuple[tuple[Digit, ...], np.ndarray]:
    """The digits, and the unit direction in which each closes at the zero pose, (D, 3)."""
    bones = {}
    tips = {}
    for name in mapping.digits:
        bone = _last_bone(robot, mapping, tree, capsules, name)
        site = mapping.digit(name).tip
        tip = bone.far + bone.radius * bone.along
        if site is not None:
            tip = tree.place(robot.data.site_xpos[robot.site(site)], bone.link)
        bones[name], tips[name] = bone, tip
    zero = (tree.origins - tree.origins[0]) @ tree.turn
    points = {name: zero[bones[name].link] + tips[name] for name in bones}
    digits, closing = [], []
    for name, bone in bones.items():
        others = [point for other, point in points.items() if other != name]
        wish = np.mean(others, axis=0) - points[name] if others else np.zeros(3)
        direction = mapping.digit(name).closing
        if direction is not None:
            body = robot.body(mapping.digit(name).last)
            way = tree.aim(robot.turn(body) @ np.array(direction, dtype=np.float64))
        else:
            way = _closing_way(tree, own[name][-1], points[name], zero, wish)
        normal = way - (way @ bone.along) * bone.along
        if not np.linalg.norm(normal) > 1e-6 * np.linalg.norm(way):
            raise InvalidValueError(
                f"'{robot.path.name}': cannot tell which way digit '{name}' closes; give "
                "DigitMapping(..., closing=(x, y, z)) in its last body's frame, across the bone."
            )
        normal /= np.linalg.norm(normal)
        pad = bone.near + _PAD_SHARE * (bone.far - bone.near) + bone.radius * normal
        digits.append(
            Digit(
                name,
                own[name],
                SurfacePoint(bone.link, tips[name], bone.along),
                SurfacePoint(bone.link, pad, normal),
                None,
            )
        )
        closing.append(normal)
    return tuple(digits), np.array(closing)


def closing_turns(tree: RobotTree, digits: tuple[Digit, ...], closing: np.ndarray) -> np.ndarray:
    """For each joint the limit that closes its digit, rad or m; zero if it only aims it."""
    zero = (tree.origins - tree.origins[0]) @ tree.turn
    limit = np.zeros(len(tree.joints))
    for digit, way in zip(digits, closing, strict=True):
        tip = zero[digit.tip.link] + digit.tip.position
        for joint in digit.joints:
            motion = _tip_motion(tree, joint, tip, zero)
            size = float(np.linalg.norm(motion))
            share = float(motion @ way) / size if size > 1e-6 else 0.0
            if abs(share) > _BENDS:
                end = tree.joints.upper if share > 0.0 else tree.joints.lower
                limit[joint] = end[joint]
    return limit


def _last_bone(
    robot: RobotFile, mapping: HandMapping, tree: RobotTree, capsules: Capsules, name: str
) -> Bone:
    body = mapping.digit(name).last
    link = tree.link_of_body[robot.body(body)]
    best: Bone | None = None
    for index in np.flatnonzero(capsules.link == link):
        ends = sorted((capsules.start[index], capsules.end[index]), key=_length)
        way = ends[1] - ends[0] if np.linalg.norm(ends[1] - ends[0]) > 1e-6 else ends[1]
        if np.linalg.norm(way) < 1e-6:
            continue
        bone = Bone(
            link, ends[0], ends[1], float(capsules.radius[index]), way / np.linalg.norm(way)
        )
        if best is None or np.linalg.norm(bone.far) > np.linalg.norm(best.far):
            best = bone
    if best is None:
        raise InvalidValueError(
            f"'{robot.path.name}': last body '{body}' of digit '{name}' has no shape with a "
            "direction, so it has no tip nor pad; name the body of the last link with a shape."
        )
    return best


def _length(vector: np.ndarray) -> float:
    return float(np.linalg.norm(vector))


def _tip_motion(tree: RobotTree, joint: int, tip: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """Velocity of the tip at the zero pose for a unit speed of the joint."""
    axis = tree.joints.axis[joint]
    if tree.joints.is_slide[joint]:
        return np.asarray(axis)
    return np.cross(axis, tip - zero[joint + 1])


def _closing_way(
    tree: RobotTree, joint: int, tip: np.ndarray, zero: np.ndarray, wish: np.ndarray
) -> np.ndarray:
    """Where the last joint takes the tip: towards its farther limit, or else to the other tips."""
    motion = _tip_motion(tree, joint, tip, zero)
    lower, upper = abs(float(tree.joints.lower[joint])), abs(float(tree.joints.upper[joint]))
    is_one_sided = max(lower, upper) > _ONE_SIDED * min(lower, upper)
    if is_one_sided and not tree.joints.is_slide[joint]:
        return motion if upper > lower else -motion
    return -motion if motion @ wish < 0.0 else motion
