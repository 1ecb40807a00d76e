"""Stiffness, damping and armature of joints, from the weight that each has to carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handwright.core.hand import HandModel
from handwright.hands.capsules import zero_pose_origins

_GRAVITY = 9.81
_SAG = 0.01
"""How far a servo may give way under the weight it carries in the worst pose, rad (slides: m)."""
_ARMATURE_SHARE = 0.05
_LEAST_ARMATURE = {"digit": 2e-5, "arm": 1e-3, "slide": 1e-2}
"""kg m^2 (slides: kg); keeps thin finger tips from ringing at millisecond steps."""
_LEAST_STIFFNESS = {"digit": 2.0, "arm": 50.0, "slide": 500.0}
"""N m / rad (slides: N / m); lets light fingers still squeeze."""


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
