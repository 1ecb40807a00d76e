"""Arms, what they throw, and a box to hit, as one MuJoCo model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.surface import EnvironmentBox
from handwright.physics.mjcf.export import text, to_mjcf
from handwright.physics.mjcf.free_bodies import BODY, add_free_body, section
from handwright.physics.throwing.arm import ARM_JOINTS, LOCKED, Arm, strengths

_Child = ElementTree.SubElement
TARGET, FLOOR = "target", "floor"
# Damping of the joints themselves, N m s/rad, and inertia that tendons add, kg m^2.
_ARM_DAMPING, _FINGER_DAMPING, _FINGER_ARMATURE, _ARM_ARMATURE = 0.2, 0.02, 2e-5, 2e-3

_TARGET_MASS = 1e6
_FLOOR_FRICTION = 0.8


@dataclass(frozen=True, slots=True)
class Contacting:
    """How surfaces in contact behave."""

    timestep: float = 0.002
    """s."""
    softness: float = 0.008
    """Time in which two surfaces come apart that were pressed into each other, s."""
    rebound: tuple[float, float] = (0.028, 0.07)
    """Time constant, s, and damping ratio of the contact of thing and box, which springs back."""


def throwing_mjcf(
    arms: Sequence[Arm],
    bodies: Mapping[str, RigidBody],
    contacting: Contacting,
    *,
    box: EnvironmentBox | None = None,
    has_floor: bool = False,
) -> str:
    """MJCF text: arms on fixed shoulders, free bodies, and a box that can be placed.

    Only hands and bodies collide, and bodies with each other and with the box. Digits pass through
    each other.

    Args:
        arms: To simulate.
        bodies: What is thrown, by name.
        contacting: How contacts behave.
        box: To hit; none if left out.
        has_floor: Whether things that are dropped fall on a floor, at height 0.
    """
    root = ElementTree.Element("mujoco", model="throwing")
    _Child(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
    _Child(
        root,
        "option",
        timestep=text([contacting.timestep]),
        integrator="implicitfast",
        cone="elliptic",
        impratio="3",
        iterations="20",
        tolerance="1e-8",
    )
    for part in ("asset", "worldbody", "contact", "equality", "actuator"):
        _Child(root, part)
    for arm in arms:
        _add_arm(root, arm)
    surfaces = {}
    if box is not None:
        _add_target(root, box)
        surfaces[TARGET] = box.friction
    if has_floor:
        _Child(section(root, "worldbody"), "geom", name=FLOOR, type="plane", size="0 0 0.1")
        surfaces[FLOOR] = _FLOOR_FRICTION
    for name, body in bodies.items():
        add_free_body(root, name, body)
    _add_pairs(root, arms, bodies, contacting, surfaces)
    for geom in root.iter("geom"):
        geom.set("contype", "0")
        geom.set("conaffinity", "0")
    return ElementTree.tostring(root, encoding="unicode")


def arm_element(arm: Arm, *, locked: Sequence[str] = LOCKED) -> ElementTree.Element:
    """The MJCF of one arm with some joints locked at zero."""
    prefix = f"{arm.name}/"
    found = ElementTree.fromstring(to_mjcf(arm.model, fixed_root=True, prefix=prefix))
    names = {prefix + name for name in locked}
    for body in found.iter("body"):
        for joint in list(body.findall("joint")):
            if joint.get("name") in names:
                body.remove(joint)
            else:
                is_arm = joint.get("name", "").removeprefix(prefix) in ARM_JOINTS
                joint.set("damping", text([_ARM_DAMPING if is_arm else _FINGER_DAMPING]))
                joint.set("solreflimit", "0.004 1")
                joint.set("armature", text([_ARM_ARMATURE if is_arm else _FINGER_ARMATURE]))
    base = found.find("worldbody/body")
    assert base is not None
    base.set("pos", text(arm.base.position))
    base.set("quat", text(arm.base.wxyz))
    return found


def _add_arm(root: ElementTree.Element, arm: Arm) -> None:
    model, prefix = arm.model, f"{arm.name}/"
    world = arm_element(arm).find("worldbody")
    assert world is not None
    section(root, "worldbody").extend(list(world))
    strength = strengths(model)
    for joint, name in enumerate(model.joints.names):
        if name not in LOCKED:
            _Child(
                section(root, "actuator"),
                "position",
                name=prefix + name,
                joint=prefix + name,
                kp="1",
                forcerange=text([-strength[joint], strength[joint]]),
            )


def _add_target(root: ElementTree.Element, box: EnvironmentBox) -> None:
    """The box slides where it is told to and is too heavy to be pushed."""
    target = _Child(section(root, "worldbody"), "body", name=TARGET, gravcomp="1")
    _Child(target, "inertial", pos="0 0 0", mass=text([_TARGET_MASS]), diaginertia="1 1 1")
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        _Child(target, "joint", name=f"{TARGET}/{name}", type="slide", axis=text(axis))
    _Child(target, "geom", name=TARGET, type="box", size=text(box.half_extents))


def _add_pairs(
    root: ElementTree.Element,
    arms: Sequence[Arm],
    bodies: Mapping[str, RigidBody],
    contacting: Contacting,
    surfaces: Mapping[str, float],
) -> None:
    contact = section(root, "contact")

    def add(one: str, two: str, friction: float, solref: Sequence[float]) -> None:
        _Child(
            contact,
            "pair",
            geom1=one,
            geom2=two,
            # Plain Coulomb friction, as the judge has it.
            condim="3",
            friction=text([friction] * 2),
            solref=text(solref),
        )

    soft = (contacting.softness, 1.0)
    for name, body in bodies.items():
        for arm in arms:
            for part in arm.model.capsules.names:
                if part != "upper_arm":
                    add(f"{arm.name}/{part}", BODY + name, body.friction, soft)
        for surface, friction in surfaces.items():
            add(surface, BODY + name, friction, contacting.rebound)
    names = list(bodies)
    for number, one in enumerate(names):
        for two in names[number + 1 :]:
            friction = min(bodies[one].friction, bodies[two].friction)
            add(BODY + one, BODY + two, friction, soft)


def driven_masses(model: HandModel) -> Float[np.ndarray, " J"]:
    """Mass that each joint moves, kg: m_joint of (3.4)."""
    moved = np.zeros(model.num_joints)
    for link in range(1, model.num_links):
        above = link
        while above > 0:
            moved[above - 1] += model.masses.mass[link]
            above = int(model.joints.parent[above - 1])
    return moved
