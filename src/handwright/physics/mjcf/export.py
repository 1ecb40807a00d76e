"""Any hand as MJCF text that MuJoCo compiles."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.hands.capsules import distances_to_axes
from handwright.kinematics import posed_capsules
from handwright.math import rotation
from handwright.physics.mjcf.body_groups import BodyGroup, body_groups
from handwright.physics.mjcf.joint_drives import JointDrive, joint_drives

_Element = ElementTree.Element
_Child = ElementTree.SubElement
_LOCKED_WIDTH = 1e-6
"""MuJoCo wants a range of some width where a joint's limits coincide, rad or m."""
_OVERLAP = 0.2
"""Depth on the flat hand, in radii of the thinner capsule, from which two are one by design."""
_COLOR = "0.83 0.66 0.56 1"


def to_mjcf(
    model: HandModel,
    *,
    fixed_root: bool = False,
    actuators: bool = False,
    sites: bool = False,
    timestep: float = 0.002,
    prefix: str = "",
) -> str:
    """MJCF text of a hand: bodies, joints, capsules, inertias, couplings and marks.

    Joints keep their names. A body is named after the last joint that moves it (``root`` for the
    root), a capsule after itself, and marks are sites named ``tip:<digit>``, ``pad:<digit>``,
    ``nail:<digit>`` (z along the normal) and ``frame:<frame>``. Bodies next to each other in the
    tree, and those whose capsules lie in each other deeply on the flat hand or at all in every
    named pose, do not collide.

    Args:
        model: The hand.
        fixed_root: Weld the root to the world at the origin instead of letting it float freely
            (joint ``root``).
        actuators: Add a position servo for each joint that follows no other.
        sites: Add the sensor sites, as ``site:<index>`` with z along the normal.
        timestep: Of the simulation, s.
        prefix: Put before every name, so that several hands fit in one scene.
    """
    if not (np.isfinite(timestep) and timestep > 0.0):
        raise InvalidValueError(f"to_mjcf: timestep is {timestep}; expected seconds above zero.")
    groups = body_groups(model, fixed_root=fixed_root)
    drives = joint_drives(model)
    mujoco = _Element("mujoco", model=prefix + model.name)
    _Child(mujoco, "compiler", angle="radian", autolimits="true")
    _Child(mujoco, "option", timestep=_text([timestep]), integrator="implicitfast")
    world = _Child(mujoco, "worldbody")
    bodies: list[_Element] = []
    for group in groups:
        parent = world if group.parent < 0 else bodies[group.parent]
        body = _Child(parent, "body", name=prefix + group.name, pos=_text(group.offset))
        if group.parent < 0 and not fixed_root:
            _Child(body, "freejoint", name=prefix + "root")
        _add_joints(body, model, group, drives, prefix)
        _add_inertial(body, group)
        bodies.append(body)
    body_of_link = {group.link: body for group, body in zip(groups, bodies, strict=True)}
    _add_capsules(body_of_link, model, prefix)
    _add_marks(body_of_link, model, prefix, with_sites=sites)
    contact = _Child(mujoco, "contact")
    for first, second in _excluded_pairs(model, groups):
        names = prefix + groups[first].name, prefix + groups[second].name
        _Child(contact, "exclude", body1=names[0], body2=names[1])
    _add_couplings(mujoco, model, prefix)
    if actuators:
        _add_actuators(mujoco, model, drives, prefix)
    ElementTree.indent(mujoco)
    return ElementTree.tostring(mujoco, encoding="unicode") + "\n"


def _text(values: Iterable[float]) -> str:
    # repr keeps every bit; the kinematics of the file are those of the model.
    return " ".join(repr(float(value)) for value in values)


def _add_joints(
    body: _Element, model: HandModel, group: BodyGroup, drives: tuple[JointDrive, ...], prefix: str
) -> None:
    joints = model.joints
    for position, joint in enumerate(group.joints):
        # The body's origin is the last joint's; earlier anchors lie behind it by the steps between.
        later = list(group.joints[position + 1 :])
        anchor = -joints.offset[later].sum(axis=0)
        _Child(
            body,
            "joint",
            name=prefix + joints.names[joint],
            type="slide" if joints.is_slide[joint] else "hinge",
            pos=_text(anchor),
            axis=_text(joints.axis[joint]),
            range=_text(_range(model, joint)),
            damping=_text([drives[joint].damping]),
            armature=_text([drives[joint].armature]),
        )


def _range(model: HandModel, joint: int) -> tuple[float, float]:
    lower, upper = float(model.joints.lower[joint]), float(model.joints.upper[joint])
    return lower, max(upper, lower + _LOCKED_WIDTH)


def _add_inertial(body: _Element, group: BodyGroup) -> None:
    if group.mass is None:
        return
    inertia = group.mass.inertia
    full = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2]]
    _Child(
        body,
        "inertial",
        pos=_text(group.mass.center),
        mass=_text([group.mass.mass]),
        fullinertia=_text([*full, inertia[1, 2]]),
    )


def _add_capsules(body_of_link: dict[int, _Element], model: HandModel, prefix: str) -> None:
    capsules = model.capsules
    for index, name in enumerate(capsules.names):
        start, end = capsules.start[index], capsules.end[index]
        shape = {"type": "sphere", "pos": _text(start)}
        if np.linalg.norm(end - start) > 1e-6:
            shape = {"type": "capsule", "fromto": _text([*start, *end])}
        shape |= {"size": _text([capsules.radius[index]]), "rgba": _COLOR}
        _Child(body_of_link[int(capsules.link[index])], "geom", {"name": prefix + name, **shape})


def _add_marks(
    body_of_link: dict[int, _Element], model: HandModel, prefix: str, *, with_sites: bool
) -> None:
    def add(name: str, link: int, position: np.ndarray, wxyz: np.ndarray) -> None:
        _Child(
            body_of_link[int(link)],
            "site",
            name=prefix + name,
            pos=_text(position),
            quat=_text(wxyz),
            size="0.002",
            group="4",
        )

    for digit in model.digits:
        for kind, point in (("tip", digit.tip), ("pad", digit.pad), ("nail", digit.nail)):
            if point is not None:
                name = f"{kind}:{digit.name}"
                add(name, point.link, point.position, _facing(point.normal))
    frames = model.frames
    for index, name in enumerate(frames.names):
        add(f"frame:{name}", frames.link[index], frames.position[index], frames.wxyz[index])
    if with_sites:
        for index, link in enumerate(model.sites.link):
            facing = _facing(model.sites.normal[index])
            add(f"site:{index:03d}", link, model.sites.position[index], facing)


def _facing(normal: Float[np.ndarray, " 3"]) -> Float[np.ndarray, " 4"]:
    return rotation.between(np.array([0.0, 0.0, 1.0]), normal)


def _excluded_pairs(model: HandModel, groups: tuple[BodyGroup, ...]) -> list[tuple[int, int]]:
    """Pairs of groups that may touch for ever and must not push each other apart."""
    flat, *posed = (
        _overlaps(model, q) for q in (np.zeros(model.num_joints), *model.poses.values())
    )
    is_merged = flat > _OVERLAP
    is_always = np.logical_and.reduce([flat > 0.0, *(overlap > 0.0 for overlap in posed)])
    group_of_link = {group.link: index for index, group in enumerate(groups)}
    group_of_capsule = [group_of_link[int(link)] for link in model.capsules.link]
    pairs = {(group.parent, index) for index, group in enumerate(groups) if group.parent >= 0}
    for one, two in np.argwhere(is_merged | is_always):
        pair = sorted((group_of_capsule[one], group_of_capsule[two]))
        if pair[0] != pair[1]:
            pairs.add((pair[0], pair[1]))
    return sorted(pairs)


def _overlaps(model: HandModel, q: Float[np.ndarray, " J"]) -> Float[np.ndarray, "C C"]:
    """How deep capsules lie in each other, in radii of the thinner one; negative if apart."""
    start, end, radius = posed_capsules(model, q)
    # The nearest of a few points will do to tell merged shapes from neighbours.
    steps = np.linspace(0.0, 1.0, 17)[:, None, None]
    points = (start + steps * (end - start)).reshape(-1, 3)
    gap = distances_to_axes(points, start, end).reshape(17, len(radius), -1).min(axis=0)
    gap = np.minimum(gap, gap.T) - radius[:, None] - radius
    return np.asarray(-gap / np.minimum(radius[:, None], radius))


def _add_couplings(mujoco: _Element, model: HandModel, prefix: str) -> None:
    joints = model.joints
    equality = _Child(mujoco, "equality")
    for follower in np.flatnonzero(joints.leader >= 0):
        _Child(
            equality,
            "joint",
            joint1=prefix + joints.names[follower],
            joint2=prefix + joints.names[joints.leader[follower]],
            polycoef=_text([joints.bias[follower], joints.ratio[follower], 0.0, 0.0, 0.0]),
        )


def _add_actuators(
    mujoco: _Element, model: HandModel, drives: tuple[JointDrive, ...], prefix: str
) -> None:
    actuator = _Child(mujoco, "actuator")
    for joint in np.flatnonzero(model.joints.leader < 0):
        name = prefix + model.joints.names[joint]
        _Child(
            actuator,
            "position",
            name=name,
            joint=name,
            kp=_text([drives[joint].stiffness]),
            ctrlrange=_text(_range(model, int(joint))),
        )
