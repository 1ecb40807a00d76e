"""The hands of a clip as joints of a BVH skeleton.

With all joints at zero the links of a hand are parallel to its root, and so are the joints of a
BVH skeleton: hinges that share their origin become one joint with three turns, and nothing else
has to change. That holds for every hand, also for robots with hinges apart from each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Float, Int

from handwright.core.clip import Clip
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.io.axes import to_y_up, to_y_up_xyzw
from handwright.io.bvh.motion import BvhMotion, UpAxis
from handwright.io.clip.resample import resampled
from handwright.io.skeleton_names import link_names
from handwright.kinematics import link_poses
from handwright.math import rotation
from handwright.math.pose import Pose

_PLACE = ("Xposition", "Yposition", "Zposition")
# Flexion, the large turn of a finger, comes first and is about z in a Y-up file and about y in a
# Z-up file; the middle axis, about which 90 degrees would lock, is that of the bone.
_TURN = {
    "y": ("Zrotation", "Xrotation", "Yrotation"),
    "z": ("Yrotation", "Xrotation", "Zrotation"),
}
# Lengths are written to 1e-8 m and angles to 1e-6 degrees.
_LENGTH = 1e-8
_ANGLE_DIGITS = 6
# A wrist that wanders less than this in its parent, m, needs no position channels.
_STILL = 1e-6


@dataclass(frozen=True, slots=True)
class _BvhJoint:
    """A joint of the skeleton: links of a hand whose origins coincide."""

    name: str
    parent: int
    """Index of the joint above; -1 for the wrist."""
    link: int
    """The last of its links, which carries what follows."""
    slides: bool


def joints_of(model: HandModel) -> list[_BvhJoint]:
    """The wrist and the joints below it, parents first."""
    tree = model.joints
    num_children = np.bincount(tree.parent, minlength=model.num_links)
    joints = [_BvhJoint("wrist", -1, model.wrist_link, False)]
    owner = {model.wrist_link: 0}
    names = {
        int(link): name
        for name, link, place in zip(
            model.frames.names, model.frames.link, model.frames.position, strict=True
        )
        if not place.any()
    }
    for j, parent in enumerate(tree.parent.tolist()):
        if parent not in owner:
            continue  # A joint of the arm.
        above, link = owner[parent], j + 1
        name = names.get(link, tree.names[j])
        if above and num_children[parent] == 1 and not tree.offset[j].any():
            before = joints[above]
            slides = before.slides or bool(tree.is_slide[j])
            joints[above] = _BvhJoint(name, before.parent, link, slides)
            owner[link] = above
        else:
            owner[link] = len(joints)
            joints.append(_BvhJoint(name, above, link, bool(tree.is_slide[j])))
    return joints


def _ends(model: HandModel, joints: list[_BvhJoint]) -> dict[int, Float[np.ndarray, "3"]]:
    """Where the last joints end, in their frames, m: at tip frames, else at the digits' tips."""
    tips = {digit.tip.link: digit.tip.position for digit in model.digits}
    tips |= {
        int(model.frames.link[k]): model.frames.position[k]
        for k, name in enumerate(model.frames.names)
        if name.endswith("_tip")
    }
    parents = {joint.parent for joint in joints}
    return {
        index: tips.get(joint.link, np.zeros(3))
        for index, joint in enumerate(joints)
        if index not in parents
    }


@dataclass(slots=True)
class SkeletonBuilder:
    """A skeleton in motion to which hands are added."""

    unit: float
    """Metres in one file unit."""
    up: UpAxis
    frame_time: float
    names: list[str]
    parent: list[int]
    offset: list[Float[np.ndarray, "3"]]
    channels: list[tuple[str, ...]]
    ends: list[tuple[int, Float[np.ndarray, "3"]]]
    columns: list[Float[np.ndarray, " T"]]

    @classmethod
    def of(cls, motion: BvhMotion) -> SkeletonBuilder:
        """Starts with a body that is there already; its numbers are kept as they are."""
        return cls(
            motion.unit,
            motion.up,
            motion.frame_time,
            list(motion.names),
            motion.parent.tolist(),
            list(motion.offset),
            list(motion.channels),
            list(zip(motion.end_joint.tolist(), motion.end_offset, strict=True)),
            list(motion.values.T),
        )

    def build(self) -> BvhMotion:
        """The finished skeleton."""
        return BvhMotion(
            tuple(self.names),
            np.array(self.parent, dtype=np.int64),
            np.array(self.offset).reshape(-1, 3),
            tuple(self.channels),
            np.array([joint for joint, _ in self.ends], dtype=np.int64),
            np.array([place for _, place in self.ends]).reshape(-1, 3),
            np.stack(self.columns, axis=-1),
            self.frame_time,
            self.unit,
            self.up,
        )

    def add_joint(self, name: str, parent: int, local: Pose, *, moves: bool) -> int:
        """Adds a joint with (T,) poses in its parent, m, Z up; returns its index."""
        if name in self.names:
            raise InvalidValueError(
                f"The skeleton has a joint '{name}' already; expected a body without the hand's "
                "joints. Rename the hand of the clip."
            )
        place = self.file_lengths(local.position)
        self.names.append(name)
        self.parent.append(parent)
        # Programs differ in whether position channels replace the offset or add to it.
        self.offset.append(np.zeros(3) if moves else place[len(place) // 2])
        channels: tuple[str, ...] = _TURN[self.up]
        if moves:
            channels = _PLACE + channels
            self.columns += list(place.T)
        self.channels.append(channels)
        self.columns += list(_angles(self.file_turns(local.wxyz), _TURN[self.up]).T)
        return len(self.names) - 1

    def file_lengths(self, place: Float[np.ndarray, "*B 3"]) -> Float[np.ndarray, "*B 3"]:
        """Positions in m, Z up, in the unit and axes of the file, without needless digits."""
        digits = round(math.log10(self.unit / _LENGTH))
        return ((to_y_up(place) if self.up == "y" else place) / self.unit).round(digits)

    def file_turns(self, wxyz: Float[np.ndarray, "*B 4"]) -> Float[np.ndarray, "*B 3 3"]:
        """Rotation matrices in the axes of the file."""
        if self.up == "y":
            wxyz = np.roll(to_y_up_xyzw(wxyz), 1, axis=-1)
        return rotation.to_matrix(wxyz)

    def add_hand(
        self,
        name: str,
        model: HandModel,
        q: Float[np.ndarray, "T J"],
        wrist: Pose,
        parent: int,
        others: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Adds a hand below a joint.

        Args:
            name: What its joints' names start with.
            model: The hand.
            q: Joint values, rad.
            wrist: (T,) poses of the wrist link in the parent's frame, m, Z up.
            parent: Index of the joint above, or -1.
            others: Names for the joints of some links in place of ours.
        """
        rotations, positions = link_poses(model, q)
        joints = joints_of(model)
        index: list[int] = []
        for joint in joints:
            if joint.parent < 0:
                moves = parent < 0 or bool(np.ptp(wrist.position, axis=0).max() > _STILL)
                local = wrist
            else:
                above = joints[joint.parent].link
                back = np.swapaxes(rotations[:, above], -1, -2)
                local = Pose(
                    np.einsum("tij,tj->ti", back, positions[:, joint.link] - positions[:, above]),
                    rotation.from_matrix(back @ rotations[:, joint.link]),
                )
                moves = joint.slides
            above_index = parent if joint.parent < 0 else index[joint.parent]
            title = others.get(joint.link, f"{name}_{joint.name}")
            index.append(self.add_joint(title, above_index, local, moves=moves))
        for joint_index, place in _ends(model, joints).items():
            self.ends.append((index[joint_index], self.file_lengths(place)))


def _angles(rotations: Float[np.ndarray, "T 3 3"], channels: tuple[str, ...]) -> np.ndarray:
    """Degrees (T, 3) about three different axes in order, continuous over the frames."""
    i, j, k = ("XYZ".index(channel[0]) for channel in channels)
    # +1 for the orders x-y-z, y-z-x, z-x-y; -1 for the others.
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    middle = np.arctan2(sign * rotations[:, i, k], np.hypot(rotations[:, j, k], rotations[:, k, k]))
    first = np.arctan2(-sign * rotations[:, j, k], rotations[:, k, k])
    # What remains after the first turn is free of the loss of digits where the middle one locks.
    sine, cosine = np.sin(first), np.cos(first)
    last = np.arctan2(
        sign * cosine * rotations[:, j, i] + sine * rotations[:, k, i],
        cosine * rotations[:, j, j] + sign * sine * rotations[:, k, j],
    )
    one = np.degrees(np.stack([first, middle, last], axis=-1))
    other = one * np.array([1.0, -1.0, 1.0]) + 180.0
    for t in range(1, len(one)):
        # Both triples are the same turn; the one nearer to the frame before is taken.
        near = [c + 360.0 * np.round((one[t - 1] - c) / 360.0) for c in (one[t], other[t])]
        one[t] = min(near, key=lambda c: float(np.abs(c - one[t - 1]).max()))
    return one.round(_ANGLE_DIGITS)


def hands_alone(clip: Clip, fps: float, names: str | None = None) -> BvhMotion:
    """The hands of a clip as a skeleton of their own; centimetres, Y up.

    Args:
        clip: Its frames are evenly spaced.
        fps: Their rate, 1/s.
        names: Whose names the joints have, see ``link_names``; our own if None.
    """
    skeleton = SkeletonBuilder(0.01, "y", 1.0 / fps, [], [], [], [], [], [])
    parent = -1
    if len(clip.hands) > 1:
        # Few programs read a file with two roots.
        parent = skeleton.add_joint("hands", -1, Pose.identity(clip.num_frames), moves=True)
    for name, model in clip.problem.hands.items():
        others = link_names(_word(name), model, names, is_only=len(clip.hands) == 1)
        q, wrist = clip.hands[name].q, _wrist(clip, name)
        skeleton.add_hand(_word(name), model, q, wrist, parent, others)
    return skeleton.build()


def hands_on_body(clip: Clip, body: BvhMotion, wrist_joint: Mapping[str, str]) -> BvhMotion:
    """The body with the clip's hands below its wrist joints; before and after, hands stand still.

    Args:
        clip: Within the time of the body.
        body: In its own unit and axes, which the result keeps.
        wrist_joint: Name of the body's joint for every hand.
    """
    unknown = [name for name in wrist_joint if name not in clip.hands]
    if unknown:
        raise UnknownNameError("hand of the clip", unknown[0], clip.hands)
    missing = [name for name in clip.hands if name not in wrist_joint]
    if missing:
        raise InvalidValueError(
            f"wrist_joint names no joint of the body for {', '.join(missing)}; expected one for "
            "every hand of the clip."
        )
    inside = _frames_inside(clip, body)
    clip = resampled(clip, np.clip(body.times[inside], clip.times[0], clip.times[-1]))
    held = np.clip(np.arange(len(body)) - inside[0], 0, len(inside) - 1)
    skeleton = SkeletonBuilder.of(body)
    for name, joint_name in wrist_joint.items():
        joint = body.index(joint_name)
        local = body.joint_pose(joint_name)[inside].inverse() @ _wrist(clip, name)
        q = clip.hands[name].q[held]
        # The end of a joint that now has a joint below it is no end any more.
        skeleton.ends = [(owner, place) for owner, place in skeleton.ends if owner != joint]
        skeleton.add_hand(_word(name), clip.problem.hands[name], q, local[held], joint)
    return skeleton.build()


def _frames_inside(clip: Clip, body: BvhMotion) -> Int[np.ndarray, " N"]:
    slack = 0.5 * body.frame_time
    first, last = float(clip.times[0]), float(clip.times[-1])
    if first < -slack or last > body.times[-1] + slack:
        raise InvalidValueError(
            f"The clip runs from {first:g} to {last:g} s but the body from 0 to "
            f"{body.times[-1]:g} s; expected a clip within the body's time."
        )
    tiny = 1e-6 * body.frame_time
    inside = np.flatnonzero((body.times >= first - tiny) & (body.times <= last + tiny))
    if len(inside) == 0:
        raise InvalidValueError(
            f"No frame of the body lies within the clip, {first:g} to {last:g} s; expected a clip "
            f"longer than the body's frame time of {body.frame_time:g} s."
        )
    return inside


def _wrist(clip: Clip, name: str) -> Pose:
    """(T,) poses of a hand's wrist link in the world."""
    motion, model = clip.hands[name], clip.problem.hands[name]
    rotations, positions = link_poses(model, motion.q, motion.root)
    return Pose(
        positions[:, model.wrist_link], rotation.from_matrix(rotations[:, model.wrist_link])
    )


def _word(name: str) -> str:
    """A name that every reader of BVH takes."""
    return "_".join(name.replace("{", " ").replace("}", " ").split()) or "hand"
