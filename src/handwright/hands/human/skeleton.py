"""Joints and named frames of the human hand, from its bones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from handwright.core.hand import Frames, JointTree
from handwright.hands.human.anthropometry import (
    ARM_LIMITS,
    DIGITS,
    DIP_PER_PIP,
    FINGER_LIMITS,
    PHALANGES,
    THUMB_LIMITS,
    HandBones,
    square_dorsal,
)
from handwright.math import rotation

Vector = Float[np.ndarray, "3"]


@dataclass(slots=True)
class TreeBuilder:
    """Collects joints one by one; link ``j + 1`` is the one that joint ``j`` moves."""

    names: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    offset: list[Vector] = field(default_factory=list)
    axis: list[Vector] = field(default_factory=list)
    limits: list[tuple[float, float]] = field(default_factory=list)
    followers: dict[str, tuple[str, float]] = field(default_factory=dict)

    def add(
        self, name: str, parent: int, offset: Vector, axis: Vector, limits: tuple[float, float]
    ) -> int:
        """Adds a hinge with limits in degrees; returns the link that it moves."""
        self.names.append(name)
        self.parent.append(parent)
        self.offset.append(np.asarray(offset, dtype=np.float64))
        self.axis.append(axis / np.linalg.norm(axis))
        self.limits.append(limits)
        return len(self.names)

    def tree(self) -> JointTree:
        """The finished joint tree."""
        count = len(self.names)
        leader, ratio = np.full(count, -1), np.ones(count)
        for follower, (name, share) in self.followers.items():
            leader[self.names.index(follower)] = self.names.index(name)
            ratio[self.names.index(follower)] = share
        limits = np.radians(self.limits)
        return JointTree(
            names=tuple(self.names),
            parent=np.array(self.parent),
            offset=np.array(self.offset),
            axis=np.array(self.axis),
            lower=limits[:, 0],
            upper=limits[:, 1],
            is_slide=np.zeros(count, dtype=bool),
            leader=leader,
            ratio=ratio,
            bias=np.zeros(count),
        )


@dataclass(frozen=True, slots=True)
class DigitLinks:
    """Links of one digit: the metacarpal, then the phalanges, and all its joints."""

    metacarpal: int
    phalanges: tuple[int, ...]
    joints: tuple[int, ...]


def add_arm(builder: TreeBuilder, upper_arm: float, forearm: float) -> int:
    """Adds the eight joints of an arm that points along x with the thumb up; returns the wrist.

    At zero the axes of the root are: x along the arm, y up, z away from the body (right arm).
    """
    x, y, z = np.eye(3)
    nowhere = np.zeros(3)
    link = 0
    for name, offset, axis in (
        ("shoulder_flexion", nowhere, z),
        ("shoulder_horizontal_abduction", nowhere, -y),
        ("shoulder_rotation", nowhere, x),
        ("elbow_flexion", upper_arm * x, z),
        ("forearm_pronation", nowhere, -x),
        ("wrist_flexion", forearm * x, y),
        ("wrist_deviation", nowhere, z),
        ("wrist_twist", nowhere, x),
    ):
        link = builder.add(name, link, offset, axis, ARM_LIMITS[name])
    return link


def add_digits(
    builder: TreeBuilder, bones: HandBones, wrist: int, *, coupled: bool
) -> list[DigitLinks]:
    """Adds the thirty joints of palm and digits to the wrist link."""
    result = []
    for row, digit in enumerate(DIGITS):
        first = len(builder.names)
        links = _add_digit(builder, bones, row, wrist)
        joints = tuple(range(first, len(builder.names)))
        result.append(DigitLinks(links[0], links[1:], joints))
        if coupled and digit != "thumb":
            follower, leader = f"{digit}_dip_flexion", f"{digit}_pip_flexion"
            builder.followers[follower] = (leader, DIP_PER_PIP)
    return result


def _metacarpal(bones: HandBones, row: int) -> tuple[Vector, Vector]:
    """Unit directions along a metacarpal, and of its back."""
    along = bones.knuckle[row] - bones.base[row]
    along = along / np.linalg.norm(along)
    return along, square_dorsal(along[None], bones.dorsal[row][None])[0]


def _add_digit(builder: TreeBuilder, bones: HandBones, row: int, wrist: int) -> tuple[int, ...]:
    """Adds the joints of a digit; returns the links of its bones, from the palm outwards."""
    digit, is_thumb = DIGITS[row], DIGITS[row] == "thumb"
    bone, bone_dorsal = _metacarpal(bones, row)
    along, dorsal = bones.direction[row], bones.dorsal[row]
    bend, nowhere = np.cross(dorsal, along), np.zeros(3)
    saddle = bones.saddle if is_thumb else nowhere
    knuckle = bones.knuckle[row] - bones.base[row] - saddle
    proximal, intermediate = bones.phalanges[row, 0] * along, bones.phalanges[row, 1] * along
    # Where each joint is after the one before, its axis, and whether it moves a bone.
    joints = [
        ("cmc_flexion", bones.base[row], np.cross(bone_dorsal, bone), False),
        ("cmc_abduction", saddle, bone_dorsal, not is_thumb),
    ]
    if is_thumb:
        # Positive turns the pad towards the fingers (pronation).
        joints.append(("cmc_rotation", nowhere, -bone, True))
    joints += [("mcp_flexion", knuckle, bend, False), ("mcp_abduction", nowhere, dorsal, True)]
    if is_thumb:
        joints.append(("ip_flexion", proximal, bend, True))
    else:
        joints += [("pip_flexion", proximal, bend, True), ("dip_flexion", intermediate, bend, True)]
    limits = THUMB_LIMITS if is_thumb else FINGER_LIMITS[digit]
    link, bones_moved = wrist, []
    for name, offset, axis, moves_bone in joints:
        link = builder.add(f"{digit}_{name}", link, offset, axis, limits[name])
        bones_moved += [link] if moves_bone else []
    return tuple(bones_moved)


def openxr_frame(along: Vector, dorsal: Vector) -> Float[np.ndarray, "4"]:
    """Orientation with -z along the bone and y out of the back of the hand, as OpenXR has it."""
    return rotation.from_matrix(np.stack([np.cross(dorsal, -along), dorsal, -along], axis=-1))


def openxr_frames(bones: HandBones, wrist: int, links: list[DigitLinks]) -> Frames:
    """The 26 frames of OpenXR."""
    x, _, z = np.eye(3)
    flat = openxr_frame(x, z)
    rows: list[tuple[str, int, Vector, Float[np.ndarray, "4"]]] = [
        ("palm", wrist, 0.5 * (bones.base[2] + bones.knuckle[2]), flat),
        ("wrist", wrist, np.zeros(3), flat),
    ]
    for row, digit in enumerate(DIGITS):
        along, dorsal = bones.direction[row], bones.dorsal[row]
        flat = openxr_frame(*_metacarpal(bones, row))
        rows.append((f"{digit}_metacarpal", links[row].metacarpal, np.zeros(3), flat))
        wxyz = openxr_frame(along, dorsal)
        for part, link in zip(PHALANGES[digit], links[row].phalanges, strict=True):
            rows.append((f"{digit}_{part}", link, np.zeros(3), wxyz))
        end = (bones.phalanges[row, 2] + bones.tissue[row]) * along
        rows.append((f"{digit}_tip", links[row].phalanges[-1], end, wxyz))
    names, link, position, wxyz_all = zip(*rows, strict=True)
    return Frames(names, np.array(link), np.array(position), np.array(wxyz_all))
