"""A BVH file as data: a skeleton, its channels and their values, and where the joints are.

Values stay as they are in the file (degrees, the file's unit and axes), so that a skeleton that is
written again is the same one. Only the poses that are asked for are in metres and Z up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from handwright.core.frozen import freeze_arrays
from handwright.core.track import Track
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.io.axes import to_z_up, to_z_up_wxyz
from handwright.math import rotation
from handwright.math.pose import Pose

UpAxis = Literal["y", "z"]
CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")


@dataclass(frozen=True, slots=True, eq=False)
class BvhMotion:
    """A skeleton in motion, in the unit and the axes of its file."""

    names: tuple[str, ...]
    parent: Int[np.ndarray, " J"]
    """Joint above each joint, which comes before it; -1 for a root."""
    offset: Float[np.ndarray, "J 3"]
    """Origin in the parent's frame, file units; position channels take its place."""
    channels: tuple[tuple[str, ...], ...]
    """Channels of each joint; turns apply in this order about axes that turn along."""
    end_joint: Int[np.ndarray, " E"]
    """Joints that carry an end site."""
    end_offset: Float[np.ndarray, "E 3"]
    """Where the end sites are in their joints' frames, file units."""
    values: Float[np.ndarray, "T C"]
    """Of all channels in the order of the joints: file units and degrees."""
    frame_time: float
    """s."""
    unit: float = 0.01
    """Metres in one file unit."""
    up: UpAxis = "y"
    """Axis of the file that points up."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = self._problems()
        if problems:
            raise InvalidValueError("BvhMotion: " + "; ".join(problems) + ".")

    def _problems(self) -> list[str]:
        count = len(self.names)
        width = sum(len(channels) for channels in self.channels)
        problems = [
            f"{what} has shape {array.shape}, expected {shape}"
            for what, array, shape in (
                ("parent", self.parent, (count,)),
                ("offset", self.offset, (count, 3)),
                ("end_offset", self.end_offset, (len(self.end_joint), 3)),
                ("values", self.values, (len(self.values), width)),
            )
            if array.shape != shape
        ]
        if count == 0 or len(self.channels) != count:
            problems.append(f"{count} joints with {len(self.channels)} lists of channels")
        if len(self.values) == 0:
            problems.append("no frames")
        elif not all(np.isfinite(a).all() for a in (self.values, self.offset, self.end_offset)):
            problems.append("values or offsets hold NaN or infinity")
        if self.parent.shape == (count,) and (
            np.any(self.parent >= np.arange(count)) or np.any(self.parent < -1)
        ):
            problems.append("parents must come before their children (-1 <= parent[j] < j)")
        if np.any(self.end_joint < 0) or np.any(self.end_joint >= count):
            problems.append(f"an end site is on a joint outside 0..{count - 1}")
        unknown = {channel for one in self.channels for channel in one} - set(CHANNELS)
        if unknown:
            problems.append(f"unknown channels {sorted(unknown)}, expected {', '.join(CHANNELS)}")
        for what, number in (("frame_time", self.frame_time), ("unit", self.unit)):
            if not (math.isfinite(number) and number > 0.0):
                problems.append(f"{what} is {number}, expected a positive finite number")
        if self.up not in ("y", "z"):
            problems.append(f"up is {self.up!r}, expected 'y' or 'z'")
        return problems

    def __len__(self) -> int:
        return len(self.values)

    @property
    def times(self) -> Float[np.ndarray, " T"]:
        """s, from zero."""
        return np.arange(len(self.values)) * self.frame_time

    def index(self, name: str) -> int:
        """Index of the joint with this name."""
        if name not in self.names:
            raise UnknownNameError("joint of the BVH skeleton", name, self.names)
        if self.names.count(name) > 1:
            raise InvalidValueError(
                f"The BVH skeleton has {self.names.count(name)} joints called '{name}'; expected "
                "one. Rename them in the file."
            )
        return self.names.index(name)

    def joint_pose(self, name: str) -> Pose:
        """(T,) poses of a joint in our world: metres, Z up.

        The joint's own axes are converted like the world's, so that a joint of a Y-up file whose
        angles are all zero is parallel to our world: its x is the file's x, its z the file's y.
        """
        chain = [self.index(name)]
        while self.parent[chain[-1]] >= 0:
            chain.append(int(self.parent[chain[-1]]))
        chain.reverse()
        first = np.cumsum([0, *(len(channels) for channels in self.channels)])
        place, turn = self._local(chain[0], first[chain[0]])
        for joint in chain[1:]:
            local_place, local_turn = self._local(joint, first[joint])
            place = place + rotation.rotate(turn, local_place)
            turn = rotation.multiply(turn, local_turn)
        place = place * self.unit
        if self.up == "y":
            place, turn = to_z_up(place), to_z_up_wxyz(np.roll(turn, -1, axis=-1))
        return Pose.normalized(place, turn)

    def joint_track(self, name: str, correction: Pose | None = None) -> Track:
        """The motion of a joint in our world, such as a wrist as the root of a hand.

        Args:
            name: The joint.
            correction: Pose of our frame in the joint's (as ``joint_pose`` has it), constant. For
                a wrist it turns their axes to ours: x to the fingers, z out of the back of the
                hand, y to the thumb of a right hand.
        """
        pose = self.joint_pose(name)
        if correction is not None:
            if correction.shape != ():
                raise InvalidValueError(
                    f"correction is a batch of {correction.shape} poses; expected one for all "
                    "frames."
                )
            pose = pose @ correction
        return Track(self.times, pose)

    def _local(
        self, joint: int, first: int
    ) -> tuple[Float[np.ndarray, "T 3"], Float[np.ndarray, "T 4"]]:
        """Position (file units) and turn (wxyz) in the parent's frame, in the file's axes.

        Args:
            joint: The joint.
            first: Column of its first channel.
        """
        count = len(self.values)
        place = np.tile(self.offset[joint], (count, 1))
        turn = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        for column, channel in enumerate(self.channels[joint], start=first):
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                place[:, axis] = self.values[:, column]
            else:
                angle = np.radians(self.values[:, column])
                turn = rotation.multiply(turn, rotation.from_axis_angle(np.eye(3)[axis], angle))
        return place, turn
