"""The arm that throws: which joints are simulated, how strong they are, and where its palm is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel, Side
from handwright.hands import human
from handwright.hands.human.strength import joint_strength
from handwright.math import rotation
from handwright.math.pose import Pose

ARM_JOINTS = (
    "shoulder_flexion",
    "shoulder_horizontal_abduction",
    "shoulder_rotation",
    "elbow_flexion",
    "forearm_pronation",
    "wrist_flexion",
    "wrist_deviation",
)
"""Three make the ball joint of the shoulder; inverse kinematics moves all of them."""
LOCKED = (
    "wrist_twist",
    "thumb_cmc_rotation",
    "index_cmc_abduction",
    "middle_cmc_abduction",
    "ring_cmc_abduction",
    "little_cmc_abduction",
)
"""Joints of the hand model that do not move here, which leaves 32."""
SHOULDER_HEIGHT = 1.43
"""Of a man of the 50th percentile who stands, m."""
_SHOULDER_OUT = 0.20
# Largest torques of a strong adult, N m, in the order of ``ARM_JOINTS``.
_STRENGTH = (90.0, 90.0, 60.0, 70.0, 15.0, 20.0, 20.0)
# The middle of the palm's hollow, on the skin, in the frame of the wrist, m.
_HOLLOW = (0.090, 0.011, -0.016)

Drive = Literal["computed_torque", "pd"]


@dataclass(frozen=True, slots=True)
class Gains:
    """How joints follow their targets."""

    drive: Drive = "computed_torque"
    """Whether the torques that the planned motion takes are added to those of the springs, or the
    springs are all there is, as in the thesis."""
    stiffness: tuple[float, ...] = (300.0, 300.0, 150.0, 200.0, 40.0, 60.0, 60.0)
    """Of the arm's springs, N m/rad, in the order of ``ARM_JOINTS``; for ``computed_torque``."""
    mass_stiffness: float = 500.0
    """w_p of (3.4), N m/(rad kg^2); for ``pd``."""
    mass_damping: float = 0.2
    """w_d of (3.4), N m s/(rad kg); for ``pd``."""
    base_stiffness: float = 0.1
    """k_base of (3.4), N m/rad; for ``pd``."""
    finger_stiffness: float = 1.2
    """Of a finger's joints, N m/rad."""


class Arm(NamedTuple):
    """A hand with its arm, on a shoulder that does not move."""

    name: str
    """As in the problem."""
    model: HandModel
    base: Pose
    """Of the shoulder in the world."""

    @property
    def across(self) -> float:
        """1 for a right arm, -1 for a left one: what lies to its own side."""
        return 1.0 if self.model.side == "right" else -1.0

    @property
    def hollow(self) -> Float[np.ndarray, "3"]:
        """Middle of the palm's hollow in the frame of the wrist, m."""
        return np.array(_HOLLOW) * (1.0, self.across, 1.0)

    def beside(self, offset: Sequence[float]) -> Float[np.ndarray, "3"]:
        """A place in the world, m: to the arm's own side, ahead and up from its shoulder."""
        return self.base.position + np.array([self.across * offset[0], offset[1], offset[2]])


@lru_cache(maxsize=4)
def arm_model(side: Side = "right") -> HandModel:
    """The hand with its arm, of the 50th percentile."""
    return human(side, arm=True)


def standing_arm(side: Side = "right", name: str | None = None) -> Arm:
    """The arm of a person who stands at the origin and looks along y; x is to the right, z up."""
    model = arm_model(side)
    out = _SHOULDER_OUT if side == "right" else -_SHOULDER_OUT
    place = np.array([out, 0.0, SHOULDER_HEIGHT])
    return Arm(name or side, model, Pose(place, facing_ahead(side)))


def facing_ahead(side: Side) -> Float[np.ndarray, "4"]:
    """Orientation of a shoulder whose arm at zero points along y with the thumb up."""
    # The arm's own axes at zero are x along the arm and y up; those of a left arm are mirrored.
    along = np.array([0.0, 1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0 if side == "right" else -1.0])
    matrix = np.stack([along, up, np.cross(along, up)], axis=-1)
    return rotation.from_matrix(matrix)


def strengths(model: HandModel) -> Float[np.ndarray, " J"]:
    """Largest torque of every joint, N m."""
    known = joint_strength(model)
    strength = np.maximum(np.abs(known.lower), np.abs(known.upper))
    # Joints within the palm are carried by ligaments; their servos get what a finger has.
    strength = np.where(np.isfinite(strength), strength, 3.0)
    for name, torque in zip(ARM_JOINTS, _STRENGTH, strict=True):
        strength[model.joints.index(name)] = torque
    return strength
