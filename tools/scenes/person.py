"""A simple person in motion as a BVH skeleton: hips, spine, arms and legs that reach their goals.

The person stands before the table and looks along +y. With all angles at zero the arms are
stretched out sideways, palms down, and every joint is parallel to the world; so the frame of the
right hand's joint is that of our right wrist.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from handwright.io.bvh.hands import SkeletonBuilder
from handwright.io.bvh.motion import BvhMotion
from handwright.math import rotation
from handwright.math.pose import Pose
from tools.scenes.curves import FPS, turns

UPPER_ARM, FOREARM = 0.31, 0.27
"""m."""
_THIGH, _SHIN = 0.425, 0.405
_SPINE, _CHEST, _NECK, _HEAD = 0.12, 0.20, 0.24, 0.10
_COLLAR, _ARM = 0.04, 0.15
_HIP = 0.09


@dataclass(frozen=True, slots=True, eq=False)
class Posture:
    """What the person does, beside the arms."""

    hips: Pose
    """(T,) poses of the pelvis."""
    spine: Float[np.ndarray, "T 3"]
    """Turn of the chest against the pelvis, half of it in each joint, degrees."""
    head: Float[np.ndarray, "T 3"]
    """Turn of the head against the chest, degrees."""
    feet: dict[str, Float[np.ndarray, "3"]] = field(default_factory=dict)
    """Where the ankles stay, by side, m."""


@dataclass(slots=True)
class _Skeleton:
    """Joints in the world, and the same in the form of a file."""

    builder: SkeletonBuilder
    poses: dict[str, Pose]

    def add(self, name: str, parent: str | None, pose: Pose) -> None:
        above = -1 if parent is None else self.builder.names.index(parent)
        local = pose if parent is None else self.poses[parent].inverse() @ pose
        self.poses[name] = pose
        self.builder.add_joint(name, above, local, moves=parent is None)

    def end(self, name: str, offset: tuple[float, float, float]) -> None:
        place = self.builder.file_lengths(np.array(offset))
        self.builder.ends.append((self.builder.names.index(name), place))


def skeleton(posture: Posture, wrists: dict[str, Pose]) -> BvhMotion:
    """A body whose hands follow wrist tracks.

    Args:
        posture: Of pelvis, spine, head and feet.
        wrists: (T,) poses of ``right`` and ``left``, as roots of our hands.
    """
    builder = SkeletonBuilder(0.01, "y", 1.0 / FPS, [], [], [], [], [], [])
    body = _Skeleton(builder, {})
    half = turns(0.5 * posture.spine)
    body.add("Hips", None, posture.hips)
    body.add("Spine", "Hips", posture.hips @ Pose(np.array([0.0, 0.0, _SPINE]), half))
    body.add("Chest", "Spine", body.poses["Spine"] @ Pose(np.array([0.0, 0.0, _CHEST]), half))
    chest = body.poses["Chest"]
    body.add("Neck", "Chest", chest @ Pose(np.array([0.0, 0.0, _NECK]), turns(0.4 * posture.head)))
    body.add(
        "Head",
        "Neck",
        body.poses["Neck"] @ Pose(np.array([0.0, 0.0, _HEAD]), turns(0.6 * posture.head)),
    )
    body.end("Head", (0.0, 0.0, 0.18))
    for side, wrist in wrists.items():
        _add_arm(body, side, wrist)
    for side, foot in posture.feet.items():
        _add_leg(body, side, foot)
    return builder.build()


def _add_arm(body: _Skeleton, side: str, wrist: Pose) -> None:
    sign, name = (1.0, "Right") if side == "right" else (-1.0, "Left")
    chest = body.poses["Chest"]
    unturned = np.array([1.0, 0.0, 0.0, 0.0])
    body.add(
        f"{name}Shoulder", "Chest", chest @ Pose(np.array([sign * _COLLAR, 0.0, 0.19]), unturned)
    )
    shoulder = body.poses[f"{name}Shoulder"] @ Pose(np.array([sign * _ARM, 0.0, 0.0]), unturned)
    # Elbows hang, outwards and a little to the back.
    pole = np.array([0.55 * sign, -0.35, -0.85])
    elbow = _middle(shoulder.position, wrist.position, UPPER_ARM, FOREARM, pole)
    hinge = np.cross(elbow - shoulder.position, wrist.position - elbow)
    body.add(
        f"{name}Arm", f"{name}Shoulder",
        Pose(shoulder.position, _along(sign * (elbow - shoulder.position), hinge)),
    )  # fmt: skip
    body.add(
        f"{name}ForeArm", f"{name}Arm", Pose(elbow, _along(sign * (wrist.position - elbow), hinge))
    )
    # A left wrist's x axis points to its fingers too, which at zero is to the left.
    turn = rotation.exp(np.array([0.0, 0.0, 0.0 if sign > 0 else np.pi]))
    body.add(f"{name}Hand", f"{name}ForeArm", wrist @ Pose(np.zeros(3), turn))
    body.end(f"{name}Hand", (sign * 0.18, 0.0, 0.0))


def _add_leg(body: _Skeleton, side: str, foot: np.ndarray) -> None:
    sign, name = (1.0, "Right") if side == "right" else (-1.0, "Left")
    unturned = np.array([1.0, 0.0, 0.0, 0.0])
    hip = (body.poses["Hips"] @ Pose(np.array([sign * _HIP, 0.0, -0.04]), unturned)).position
    ankle = np.broadcast_to(foot, hip.shape)
    knee = _middle(hip, ankle, _THIGH, _SHIN, np.array([0.1 * sign, 1.0, 0.0]))
    for joint, parent, start, end in (
        (f"{name}UpLeg", "Hips", hip, knee),
        (f"{name}Leg", f"{name}UpLeg", knee, ankle),
    ):
        forward = np.broadcast_to([0.0, 1.0, 0.0], hip.shape)
        up = start - end
        right = np.cross(forward, up)
        body.add(joint, parent, Pose(start, _frame(right, np.cross(up, right))))
    body.add(f"{name}Foot", f"{name}Leg", Pose(ankle, unturned))
    body.end(f"{name}Foot", (0.0, 0.16, -0.05))


def _middle(
    start: np.ndarray, end: np.ndarray, first: float, second: float, pole: np.ndarray
) -> np.ndarray:
    """Elbows or knees of limbs of two bones, on the side of a pole."""
    reach = end - start
    distance = np.linalg.norm(reach, axis=1, keepdims=True)
    along = reach / distance
    share = (distance**2 + first**2 - second**2) / (2.0 * distance)
    aside = pole - (along @ pole)[:, None] * along
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    return start + share * along + np.sqrt(np.maximum(first**2 - share**2, 0.0)) * aside


def _along(x: np.ndarray, hinge: np.ndarray) -> np.ndarray:
    """Orientations with their x axes along bones and their z axes along a hinge."""
    return _frame(x, np.cross(hinge, x))


def _frame(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Quaternions of frames with given x axes, and y axes as near as can be to given ones."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    y = y - np.einsum("ti,ti->t", x, y)[:, None] * x
    y = y / np.linalg.norm(y, axis=1, keepdims=True)
    return rotation.from_matrix(np.stack([x, y, np.cross(x, y)], axis=2))
