"""Joint tree of an imported hand: chains, limits, couplings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from handwright.core.hand import JointTree, narrowed_leaders
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.physics.engine import mujoco
from handwright.physics.mjcf.hand_mapping import Coupling, HandMapping
from handwright.physics.mjcf.robot_file import RobotFile

_HINGE = mujoco.mjtJoint.mjJNT_HINGE.value
_SLIDE = mujoco.mjtJoint.mjJNT_SLIDE.value


@dataclass(frozen=True, slots=True, eq=False)
class RobotTree:
    """The joints of a hand, and how the file's bodies ride on its links at the zero pose."""

    joints: JointTree
    bodies: tuple[int, ...]
    link_of_body: dict[int, int]
    turn: np.ndarray
    """Of the root frame, and so of every link at the zero pose, in the world, (3, 3)."""
    origins: np.ndarray
    """Of all links at the zero pose in the world, (L, 3), m."""

    def place(self, points: np.ndarray, link: int) -> np.ndarray:
        """World points at the zero pose in the frame of a link."""
        return np.asarray((points - self.origins[link]) @ self.turn)

    def aim(self, directions: np.ndarray) -> np.ndarray:
        """World directions at the zero pose in link frames."""
        return np.asarray(directions @ self.turn)


def read_tree(robot: RobotFile, mapping: HandMapping) -> RobotTree:
    """Reads all joints beyond the base and re-expresses them in frames parallel to the root's."""
    palm = robot.body(mapping.root)
    base = palm if mapping.arm_root is None else robot.body(mapping.arm_root)
    bodies = robot.subtree(base)
    if palm not in bodies:
        raise InvalidValueError(
            f"'{robot.path.name}': palm '{mapping.root}' does not hang on arm_root "
            f"'{mapping.arm_root}'; give a body between the world and the palm."
        )
    link_of_body = {base: 0}
    origins = [np.array(robot.data.xpos[base])]
    parent: list[int] = []
    source: list[int] = []
    for body in bodies[1:]:
        link = link_of_body[int(robot.model.body_parentid[body])]
        first = int(robot.model.body_jntadr[body])
        for joint in range(first, first + int(robot.model.body_jntnum[body])):
            _check_kind(robot, joint, body)
            parent.append(link)
            source.append(joint)
            # Any point serves as origin of a slide; a hinge's must lie on its axis.
            origins.append(np.array(robot.data.xanchor[joint]))
            link = len(source)
        link_of_body[body] = link
    if not source:
        raise InvalidValueError(
            f"'{robot.path.name}': no joint beyond '{mapping.root}'; name the palm as root."
        )
    turn = robot.turn(palm) @ _root_axes(mapping)
    positions = np.array(origins)
    axis = robot.data.xaxis[source] @ turn
    names = _joint_names(robot, mapping, source)
    limits = _limits(robot, mapping, source, names)
    leader, ratio, bias = _followers(names, _couplings(robot, mapping, names), robot.path.name)
    limits = narrowed_leaders(limits, leader, ratio, bias, names=names, owner=robot.path.name)
    joints = JointTree(
        names=names,
        parent=np.array(parent),
        offset=(positions[1:] - positions[parent]) @ turn,
        axis=axis / np.linalg.norm(axis, axis=1, keepdims=True),
        lower=limits[:, 0],
        upper=limits[:, 1],
        is_slide=robot.model.jnt_type[source] == _SLIDE,
        leader=leader,
        ratio=ratio,
        bias=bias,
    )
    return RobotTree(joints, tuple(bodies), link_of_body, turn, positions)


def _check_kind(robot: RobotFile, joint: int, body: int) -> None:
    kind = int(robot.model.jnt_type[joint])
    if kind not in (_HINGE, _SLIDE):
        name = {0: "free", 1: "ball"}[kind]
        raise InvalidValueError(
            f"'{robot.path.name}': body '{robot.model.body(body).name}' has a {name} joint; a hand "
            "is made of hinges and slides. Write a ball as three hinges, and choose a root "
            "beyond a free joint."
        )


def _root_axes(mapping: HandMapping) -> np.ndarray:
    """Columns: axes of the root frame in the palm body's frame."""
    if mapping.distal is None or mapping.palmar is None:
        return np.eye(3)
    x = np.array(mapping.distal, dtype=np.float64)
    z = -np.array(mapping.palmar, dtype=np.float64)
    side = np.cross(z, x)
    if not np.linalg.norm(side) > 1e-3 * np.linalg.norm(x) * np.linalg.norm(z) > 0.0:
        raise InvalidValueError(
            f"HandMapping of '{mapping.root}': distal {mapping.distal} and palmar "
            f"{mapping.palmar} must be two different directions."
        )
    x, y = x / np.linalg.norm(x), side / np.linalg.norm(side)
    return np.column_stack([x, y, np.cross(x, y)])


def _joint_names(robot: RobotFile, mapping: HandMapping, source: list[int]) -> tuple[str, ...]:
    """Names in the model; fails if the mapping speaks of others."""
    names = tuple(
        mapping.short(robot.model.joint(joint).name) or f"joint{index}"
        for index, joint in enumerate(source)
    )
    in_poses = [name for pose in mapping.poses.values() for name in pose]
    for name in (*mapping.limits, *mapping.couplings, *in_poses):
        if mapping.short(name) not in names:
            raise UnknownNameError(f"joint of '{robot.path.name}'", name, names)
    return names


def _limits(
    robot: RobotFile, mapping: HandMapping, source: list[int], names: tuple[str, ...]
) -> np.ndarray:
    """Limits of each joint, (J, 2)."""
    given = {mapping.short(name): limit for name, limit in mapping.limits.items()}
    limits = np.array(robot.model.jnt_range[source], dtype=np.float64)
    unlimited = []
    for index, (name, joint) in enumerate(zip(names, source, strict=True)):
        if name in given:
            limits[index] = given[name]
        elif not robot.model.jnt_limited[joint]:
            if robot.model.jnt_type[joint] == _SLIDE:
                raise InvalidValueError(
                    f"'{robot.path.name}': slide '{name}' has no limits; give them in the "
                    f"mapping, for example limits={{'{name}': (0.0, 0.05)}} (m)."
                )
            unlimited.append(name)
            limits[index] = -np.pi, np.pi
    if unlimited:
        warnings.warn(
            f"'{robot.path.name}': no limits for {', '.join(unlimited)}; took half a turn either "
            "way. Give limits in the mapping to narrow them.",
            stacklevel=4,
        )
    return limits


def _couplings(
    robot: RobotFile, mapping: HandMapping, names: tuple[str, ...]
) -> dict[str, Coupling]:
    """Couplings of the hand's joints by short name; the mapping's own take precedence."""
    given = {
        mapping.short(follower): Coupling(mapping.short(c.leader), c.ratio, c.bias)
        for table in (robot.mimics, mapping.couplings)
        for follower, c in table.items()
    }
    model = robot.model
    for index in range(model.neq):
        is_joint = model.eq_type[index] == mujoco.mjtEq.mjEQ_JOINT.value
        if not is_joint or not model.eq_active0[index] or model.eq_obj2id[index] < 0:
            continue
        one, two = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
        follower, leader = (mapping.short(model.joint(joint).name) for joint in (one, two))
        if follower in given or follower not in names:
            continue
        coef = model.eq_data[index, :5]
        if np.any(coef[2:] != 0.0):
            raise InvalidValueError(
                f"'{robot.path.name}': '{follower}' follows '{leader}' by a curve {coef.tolist()}; "
                f"only straight lines can be kept. Give one in the mapping: couplings="
                f"{{'{follower}': Coupling('{leader}', ratio, bias)}}."
            )
        # MuJoCo measures both joints from their reference values.
        zero_one, zero_two = model.qpos0[model.jnt_qposadr[[one, two]]]
        bias = float(coef[0] + zero_one - coef[1] * zero_two)
        given[follower] = Coupling(leader, float(coef[1]), bias)
    return {name: coupling for name, coupling in given.items() if name in names}


def _followers(
    names: tuple[str, ...], couplings: dict[str, Coupling], file: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    leader = np.full(len(names), -1)
    ratio, bias = np.zeros(len(names)), np.zeros(len(names))
    for name, coupling in couplings.items():
        chain = [name]
        # A follower of a follower follows the first of the line.
        while coupling.leader in couplings:
            chain.append(coupling.leader)
            if len(set(chain)) < len(chain):
                raise InvalidValueError(f"'{file}': joints follow each other: {chain}.")
            nxt = couplings[coupling.leader]
            coupling = Coupling(
                nxt.leader, coupling.ratio * nxt.ratio, coupling.ratio * nxt.bias + coupling.bias
            )
        if coupling.leader not in names:
            raise InvalidValueError(
                f"'{file}': '{name}' follows '{coupling.leader}', which is no joint of the hand "
                f"({', '.join(names)}). Keep it with arm_root, or give another coupling for "
                f"'{name}' in the mapping."
            )
        index = names.index(name)
        leader[index] = names.index(coupling.leader)
        ratio[index], bias[index] = coupling.ratio, coupling.bias
    return leader, ratio, bias
