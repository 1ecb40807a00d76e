"""Hands of the ManipNet recordings, and the hand of this package that follows them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel, Side
from handwright.errors import FileFormatError, InvalidValueError, UnknownNameError
from handwright.hands import human
from handwright.hands.human.measured import bones_from_joints
from handwright.hands.names import joint_names
from handwright.io.manipnet.arrays import check_shape, load_arrays, unit_quaternions
from handwright.io.manipnet.skin import RecordedSkin
from handwright.kinematics import PointGoals, solve_frames
from handwright.math import rotation
from handwright.math.pose import Pose

_THUMB_BASE = "THUMB_CMC_FE"
_KIND = "a ManipNet recording"


@dataclass(frozen=True, slots=True, eq=False)
class RecordedHand:
    """Joints of one hand over a recording, in the wrist frame of this package."""

    side: Side
    fps: float
    names: tuple[str, ...]
    """Frame names of this package; fingertips are among them only if the skin was given."""
    position: Float[np.ndarray, "T N 3"]
    """m, in the wrist frame: x distal, z dorsal, y to the thumb on a right hand."""
    thumb_base: Float[np.ndarray, "T 3"]
    """Point of the thumb's flexion axis, m, in the same frame."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def cut(self, frames: slice) -> RecordedHand:
        """Some of the frames."""
        return RecordedHand(
            self.side, self.fps, self.names, self.position[frames], self.thumb_base[frames]
        )


class JointMotion(NamedTuple):
    """Frames of all recorded joints in the world of the file (Y up)."""

    rotations: Float[np.ndarray, "T N 3 3"]
    positions: Float[np.ndarray, "T N 3"]


def read_hand(
    path: str | Path, side: Side, *, skin: RecordedSkin | None = None, start: int = 0,
    stop: int | None = None,
) -> RecordedHand:  # fmt: skip
    """Reads one hand of a recording.

    Args:
        path: The .npz file.
        side: ``right`` or ``left``.
        skin: The recorded hand's skin, for the fingertips, which the skeleton does not have.
            Without it the bend of the last joints remains unknown.
        start: First frame.
        stop: Frame after the last; the end of the file if None.
    """
    if side not in ("right", "left"):
        raise UnknownNameError("side", side, ("right", "left"))
    path = Path(path)
    needed = ["fps", "joint_names", *(f"{side}_{key}" for key in _NEEDED)]
    arrays = load_arrays(path, needed, kind=_KIND)
    return hand_of_arrays(path, arrays, side, skin=skin).cut(slice(start, stop))


_NEEDED = ("joint_pos", "wrist_pos", "wrist_quat_wxyz")


def hand_of_arrays(
    path: Path, arrays: dict[str, np.ndarray], side: Side, *, skin: RecordedSkin | None
) -> RecordedHand:
    """One hand from the arrays of a recording; see ``read_hand``."""
    theirs = recorded_names(path, arrays)
    ours = {name: other for name, other in joint_names("manipnet", side).items() if name != "wrist"}
    missing = [name for name in (*ours.values(), _THUMB_BASE) if name not in theirs]
    if missing:
        raise FileFormatError(f"{path}: joints {', '.join(missing)} are not in the recording.")
    wrist = wrist_poses(path, arrays, side)
    place = check_shape(path, arrays, f"{side}_joint_pos", (len(wrist), len(theirs), 3))
    names = list(ours)
    points = [place[:, [theirs.index(name) for name in (*ours.values(), _THUMB_BASE)]]]
    if skin is not None:
        motion = joint_motion(path, arrays, side)
        for digit, (joint, tip) in skin.fingertips().items():
            index = theirs.index(skin.joints[joint])
            points.append((motion.rotations[:, index] @ tip + motion.positions[:, index])[:, None])
            names.append(f"{digit}_tip")
    local = wrist.inverse()[:, None].apply(np.concatenate(points, axis=1))
    base = len(ours)
    return RecordedHand(
        side=side,
        fps=frame_rate(path, arrays),
        names=tuple(names),
        position=np.delete(local, base, axis=1),
        thumb_base=local[:, base],
    )


def recorded_names(path: Path, arrays: dict[str, np.ndarray]) -> list[str]:
    """Names of the recorded skeleton's joints, in the order of its arrays."""
    if "joint_names" not in arrays:
        raise FileFormatError(f"{path}: array joint_names is missing; expected {_KIND}.")
    return [str(name) for name in np.atleast_1d(arrays["joint_names"])]


def frame_rate(path: Path, arrays: dict[str, np.ndarray]) -> float:
    """Frames for each second of a recording."""
    value = arrays["fps"]
    if value.size != 1 or value.dtype.kind not in "fi" or not 1.0 <= float(value.item()) <= 1e4:
        raise FileFormatError(f"{path}: fps is {value}; expected one number from 1 to 10000.")
    return float(value.item())


def wrist_poses(path: Path, arrays: dict[str, np.ndarray], side: Side) -> Pose:
    """The wrist of this package's hand in the world of the file (Y up)."""
    place = check_shape(path, arrays, f"{side}_wrist_pos", (None, 3))
    key = f"{side}_wrist_quat_wxyz"
    turn = check_shape(path, arrays, key, (len(place), 4))
    wrist = Pose(place, unit_quaternions(path, key, turn))
    # Their left hand points along -x: half a turn about the back of the hand.
    return wrist @ Pose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])) if side == "left" else wrist


def joint_motion(path: Path, arrays: dict[str, np.ndarray], side: Side) -> JointMotion:
    """Frames of the recorded skeleton: wrist pose, then local turns and fixed offsets."""
    missing = [
        key
        for key in ("parents", f"{side}_local_quat_wxyz", f"{side}_offsets")
        if key not in arrays
    ]
    if missing:
        raise FileFormatError(f"{path}: arrays {', '.join(missing)} are missing; expected {_KIND}.")
    place = check_shape(path, arrays, f"{side}_wrist_pos", (None, 3))
    count, joints = len(place), len(recorded_names(path, arrays))
    parents = check_shape(path, arrays, "parents", (joints,))
    if parents[0] != -1 or np.any(parents[1:] < 0) or np.any(parents >= np.arange(joints)):
        raise FileFormatError(
            f"{path}: parents are {parents.tolist()}; expected -1, then joints listed before."
        )
    offsets = check_shape(path, arrays, f"{side}_offsets", (joints, 3))
    key = f"{side}_local_quat_wxyz"
    local = unit_quaternions(path, key, check_shape(path, arrays, key, (count, joints, 4)))
    key = f"{side}_wrist_quat_wxyz"
    wrist = unit_quaternions(path, key, check_shape(path, arrays, key, (count, 4)))
    turn = rotation.to_matrix(local)
    rotations, positions = np.zeros((count, joints, 3, 3)), np.zeros((count, joints, 3))
    rotations[:, 0], positions[:, 0] = rotation.to_matrix(wrist), place
    for joint in range(1, joints):
        parent = int(parents[joint])
        rotations[:, joint] = rotations[:, parent] @ turn[:, joint]
        positions[:, joint] = positions[:, parent] + rotations[:, parent] @ offsets[joint]
    return JointMotion(rotations, positions)


def matched_hand(recorded: RecordedHand) -> HandModel:
    """A human hand with the bones of a recorded subject."""
    mirror = np.array([1.0, -1.0 if recorded.side == "left" else 1.0, 1.0])
    joints = {name: recorded.position[:, n] * mirror for n, name in enumerate(recorded.names)}
    try:
        bones = bones_from_joints(joints, recorded.thumb_base * mirror)
        return human(recorded.side, bones=bones)
    except (InvalidValueError, FloatingPointError) as error:
        raise FileFormatError(
            f"The recorded {recorded.side} hand cannot be matched: {error} "
            "Are its joints in metres, and do they move?"
        ) from error


def reproduce(
    model: HandModel, recorded: RecordedHand, *, stride: int = 1
) -> tuple[Float[np.ndarray, "T J"], Float[np.ndarray, "T N"]]:
    """Joint values that follow a recording, and how far its joints are missed, m."""
    frame = [model.frames.index(name) for name in recorded.names]
    link, local = model.frames.link[frame], model.frames.position[frame]
    q, values, errors = model.pose("rest"), [], []
    for target in recorded.position[::stride]:
        goals = PointGoals(link, local, target, np.ones(len(link)))
        solved = solve_frames(model, q, points=goals, posture=1e-7, max_iterations=40)
        q = solved.q
        values.append(q)
        errors.append(solved.error)
    return np.array(values), np.array(errors)
