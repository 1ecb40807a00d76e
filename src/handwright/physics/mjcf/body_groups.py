"""What MuJoCo needs to know of a hand's links and joints: bodies, their masses, drives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import MassProperties
from handwright.hands.capsules import zero_pose_origins

_GRAVITY = 9.81
_SAG = 0.01
"""How far a servo may give way under the weight it carries in the worst pose, rad (slides: m)."""
_ARMATURE_SHARE = 0.05
_LEAST_ARMATURE = {"digit": 2e-5, "arm": 1e-3, "slide": 1e-2}
"""kg m^2 (slides: kg); keeps thin finger tips from ringing at millisecond steps."""
_LEAST_STIFFNESS = {"digit": 2.0, "arm": 50.0, "slide": 500.0}
"""N m / rad (slides: N / m); lets light fingers still squeeze."""
_LEAST_INERTIA = 1e-14
"""kg and kg m^2; MuJoCo refuses moving bodies below 1e-15."""


@dataclass(frozen=True, slots=True)
class BodyGroup:
    """Consecutive joints that move one body, which is the link of the last of them."""

    name: str
    joints: tuple[int, ...]
    """Empty for the root."""
    link: int
    parent: int
    """Index of the parent's group; -1 for the root."""
    offset: Float[np.ndarray, " 3"]
    """Of the body in its parent's frame at the zero pose, m."""
    mass: MassProperties | None
    """None for a fixed root without mass."""


def body_groups(model: HandModel, *, fixed_root: bool = False) -> tuple[BodyGroup, ...]:
    """Groups in tree order, the root first.

    A link with nothing on it (no mass, shape, frame, site or digit) and a single joint beyond is
    only a step between two joints: both joints then move the same body, as one writes a
    universal joint in MJCF.

    Raises:
        InvalidValueError: A moving body would have no mass, which no simulator can move.
    """
    joints = model.joints
    is_step = _steps(model)
    group_of_link = {0: 0}
    groups = [_group(model, "root", (), 0, -1, np.zeros(3), allow_massless=fixed_root)]
    for first in range(len(joints)):
        if is_step[joints.parent[first]]:
            continue
        chain = [first]
        while is_step[chain[-1] + 1]:
            chain.append(int(np.flatnonzero(joints.parent == chain[-1] + 1)[0]))
        link = chain[-1] + 1
        group_of_link[link] = len(groups)
        parent = group_of_link[int(joints.parent[first])]
        offset = joints.offset[chain].sum(axis=0)
        groups.append(_group(model, joints.names[chain[-1]], tuple(chain), link, parent, offset))
    return tuple(groups)


def link_body_names(model: HandModel, *, prefix: str = "") -> tuple[str | None, ...]:
    """For each link, the body of the exported MJCF that has its frame.

    None stands for a link that is only a step between two joints of one body.
    """
    names: list[str | None] = [None] * model.num_links
    for group in body_groups(model, fixed_root=True):
        names[group.link] = prefix + group.name
    return tuple(names)


def _steps(model: HandModel) -> np.ndarray:
    num_children = np.bincount(model.joints.parent, minlength=model.num_links)
    is_step = np.logical_and(num_children == 1, model.masses.mass == 0.0)
    is_step[0] = False
    used = [model.capsules.link, model.frames.link, model.sites.link, [model.wrist_link]]
    for digit in model.digits:
        points = [digit.tip, digit.pad] + ([digit.nail] if digit.nail else [])
        used.append([point.link for point in points])
    for links in used:
        is_step[np.asarray(links, dtype=np.int64)] = False
    return np.asarray(is_step)


def _group(
    model: HandModel,
    name: str,
    chain: tuple[int, ...],
    link: int,
    parent: int,
    offset: np.ndarray,
    *,
    allow_massless: bool = False,
) -> BodyGroup:
    mass = MassProperties(
        float(model.masses.mass[link]), model.masses.center[link], model.masses.inertia[link]
    )
    is_heavy = mass.mass > _LEAST_INERTIA and np.linalg.eigvalsh(mass.inertia)[0] > _LEAST_INERTIA
    if not is_heavy and not allow_massless:
        remedy = "Give it a mass and an inertia in model.masses"
        remedy += " or export with fixed_root=True." if parent < 0 else "."
        raise InvalidValueError(
            f"Hand '{model.name}': link {link} ('{name}') has mass {mass.mass:g} kg and least "
            f"moment {np.linalg.eigvalsh(mass.inertia)[0]:g} kg m^2, but it moves and carries "
            f"shapes, frames or several joints. {remedy}"
        )
    return BodyGroup(name, chain, link, parent, offset, mass if is_heavy else None)


@dataclass(frozen=True, slots=True)
class JointDrive:
    """How one joint resists and is driven."""

    stiffness: float
    """Of its position servo, N m / rad (slides: N / m)."""
    damping: float
    """N m s / rad (slides: N s / m); critical for this stiffness on the flat hand."""
    armature: float
    """Added inertia of the motor or tendon, kg m^2 (slides: kg)."""


def joint_drives(model: HandModel) -> tuple[JointDrive, ...]:
    """A drive for each joint, sized by what it carries."""
    origins = zero_pose_origins(model.joints)
    arm = set(_ancestors(model, model.wrist_link))
    drives = []
    for joint in range(model.num_joints):
        is_slide = bool(model.joints.is_slide[joint])
        kind = "slide" if is_slide else "arm" if joint + 1 in arm else "digit"
        carried = [link for link in range(model.num_links) if joint + 1 in _ancestors(model, link)]
        mass = model.masses.mass[carried]
        arms = origins[carried] + model.masses.center[carried] - origins[joint + 1]
        reach = np.linalg.norm(arms, axis=1)
        axis = model.joints.axis[joint]
        if is_slide:
            inertia, load = float(mass.sum()), float(mass.sum()) * _GRAVITY
        else:
            around = np.einsum("i,lij,j->l", axis, model.masses.inertia[carried], axis)
            across = np.linalg.norm(np.cross(arms, axis), axis=1)
            inertia = float(np.sum(around + mass * across**2))
            load = float(mass @ reach) * _GRAVITY
        armature = _ARMATURE_SHARE * inertia + _LEAST_ARMATURE[kind]
        stiffness = max(_LEAST_STIFFNESS[kind], load / _SAG)
        damping = 2.0 * float(np.sqrt(stiffness * (inertia + armature)))
        drives.append(JointDrive(stiffness, damping, armature))
    return tuple(drives)


def _ancestors(model: HandModel, link: int) -> list[int]:
    """The link itself and those between it and the root, without the root."""
    chain = []
    while link > 0:
        chain.append(link)
        link = int(model.joints.parent[link - 1])
    return chain
