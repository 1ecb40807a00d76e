"""The 2356 numbers that a network is given, and the 220 that it answers with (section 6.1).

Everything is seen in the frame of the wrist at the measured frame, in the form of a right hand.
Trajectory and ambient features do not depend on the fingers: ``fixed_features`` gives them for a
whole motion at once. All others do: ``finger_features`` gives them for given postures.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Float32, Int

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled
from handwright.kernels.packed import Packed
from handwright.kinematics.fk import checked_values
from handwright.kinematics.tree import Links
from handwright.methods.neural.sensing.body import SensedBody
from handwright.methods.neural.sensing.joints import NUM_JOINTS, NUM_SITES, SensedHand, sensed_hand
from handwright.methods.neural.sensing.motion import Motion, place_wrist
from handwright.methods.neural.sensing.sensors import (
    FINGER_SIZE,
    POSE_SIZE,
    Posed,
    pose_hand,
    write_ambient,
    write_distances,
    write_fingers,
    write_pose,
)
from handwright.methods.neural.sensing.table import (
    FARTHEST_TARGET,
    FEATURES,
    FIXED_SIZE,
    NUM_FEATURES,
    NUM_OUTPUTS,
    OUTPUTS,
    Feature,
)
from handwright.methods.neural.sensing.trajectory import TRAJECTORY_SIZE, write_trajectory

__all__ = [
    "FARTHEST_TARGET",
    "FEATURES",
    "FIXED_SIZE",
    "NUM_FEATURES",
    "NUM_OUTPUTS",
    "OUTPUTS",
    "Feature",
    "View",
    "assembled",
    "finger_features",
    "fixed_features",
    "pose_of",
    "targets",
]


class View(Protocol):
    """What is sensed: a ``HandView``, or a ``LiveView``."""

    @property
    def model(self) -> HandModel:
        """The hand."""

    @property
    def packed(self) -> tuple[Any, ...]:
        """Hand, body and motion for the kernels."""

    def __len__(self) -> int: ...


@compiled
def _posed(hand: SensedHand) -> Posed:
    """Room for a posed hand whose root is at the origin."""
    num_joints = hand.tree.parent.shape[0]
    turns = np.zeros((num_joints + 1, 3, 3))
    for i in range(3):
        turns[0, i, i] = 1.0
    links = Links(turns, np.zeros((num_joints + 1, 3)), np.zeros((num_joints, 3)))
    return Posed(
        links, np.zeros((NUM_JOINTS, 3)), np.zeros((NUM_SITES, 3)), np.zeros((NUM_SITES, 3))
    )


@compiled
def _measure_fixed(
    hand: SensedHand, body: SensedBody, motion: Motion, frames: np.ndarray, out: np.ndarray
) -> None:
    place = np.zeros((3, 3)), np.zeros(3)
    for n in range(frames.shape[0]):
        write_trajectory(motion, frames[n], hand.mirror, body.center, out[n])
        place_wrist(motion, frames[n], place[0], place[1])
        write_ambient(hand, body, place, out[n, TRAJECTORY_SIZE:])


@compiled
def _measure_fingers(
    hand: SensedHand,
    body: SensedBody,
    motion: Motion,
    frames: np.ndarray,
    q: np.ndarray,
    out: np.ndarray,
) -> None:
    posed, place = _posed(hand), (np.zeros((3, 3)), np.zeros(3))
    for n in range(frames.shape[0]):
        pose_hand(hand, q[n], posed)
        write_fingers(hand, body, motion, frames[n], posed, place, out[n])


@compiled
def _measure_targets(
    hand: SensedHand,
    body: SensedBody,
    motion: Motion,
    frames: np.ndarray,
    q: np.ndarray,
    out: np.ndarray,
) -> None:
    posed, place = _posed(hand), (np.zeros((3, 3)), np.zeros(3))
    for n in range(frames.shape[0]):
        pose_hand(hand, q[n], posed)
        write_pose(hand, posed, out[n])
        place_wrist(motion, frames[n], place[0], place[1])
        write_distances(body, posed, place, out[n, POSE_SIZE:])


@compiled
def _measure_pose(hand: SensedHand, q: np.ndarray, out: np.ndarray) -> None:
    posed = _posed(hand)
    for n in range(q.shape[0]):
        pose_hand(hand, q[n], posed)
        write_pose(hand, posed, out[n])


def _checked_frames(view: View, frames: Any) -> np.ndarray:  # noqa: ANN401  any integers
    frames = np.array(frames, dtype=np.int64)
    if frames.ndim != 1 or (len(frames) and not 0 <= frames.min() <= frames.max() < len(view)):
        span = f", {frames.min()} to {frames.max()}" if frames.size else ""
        raise InvalidValueError(
            f"Frames of shape {frames.shape}{span} are asked for; expected (N,) from 0 to "
            f"{len(view) - 1}."
        )
    return frames


def _checked_postures(model: HandModel, q: Any, count: int | None) -> np.ndarray:  # noqa: ANN401
    q = np.array(checked_values(model, q), order="C")
    if q.ndim != 2 or (count is not None and len(q) != count):
        wanted = "N" if count is None else str(count)
        raise InvalidValueError(
            f"Joint values have shape {q.shape}; expected ({wanted}, {model.num_joints}), one row "
            "for each frame."
        )
    return q


def fixed_features(
    view: View, frames: Int[np.ndarray, " N"] | None = None
) -> Float32[np.ndarray, "N 1336"]:
    """Features that do not depend on the fingers: trajectory, then ambient.

    Args:
        view: The hand and its object.
        frames: Measured frames; all if not given.
    """
    chosen = _checked_frames(view, np.arange(len(view)) if frames is None else frames)
    out = np.zeros((len(chosen), FIXED_SIZE), dtype=np.float32)
    _measure_fixed(*view.packed, chosen, out)
    return out


def finger_features(
    view: View, frames: Int[np.ndarray, " N"], q: Float[np.ndarray, "N J"]
) -> Float32[np.ndarray, "N 1020"]:
    """Features that depend on the fingers: pose, proximity, signed distances, normals.

    Args:
        view: The hand and its object.
        frames: Measured frames.
        q: Joint values at these frames, rad.
    """
    chosen = _checked_frames(view, frames)
    postures = _checked_postures(view.model, q, len(chosen))
    out = np.zeros((len(chosen), FINGER_SIZE), dtype=np.float32)
    _measure_fingers(*view.packed, chosen, postures, out)
    return out


def assembled(
    fixed: Float32[np.ndarray, "N 1336"], finger: Float32[np.ndarray, "N 1020"]
) -> Float32[np.ndarray, "N 2356"]:
    """All features in the order of the table."""
    return np.concatenate([finger[:, :POSE_SIZE], fixed, finger[:, POSE_SIZE:]], axis=1)


def targets(
    view: View, frames: Int[np.ndarray, " N"], q: Float[np.ndarray, "N J"]
) -> Float32[np.ndarray, "N 220"]:
    """What a network is to answer with: pose at these frames, and clamped distances.

    Args:
        view: The hand and its object.
        frames: Frames of the postures, each one later than the frame that was measured for it.
        q: Joint values at these frames, rad.
    """
    chosen = _checked_frames(view, frames)
    postures = _checked_postures(view.model, q, len(chosen))
    out = np.zeros((len(chosen), NUM_OUTPUTS), dtype=np.float32)
    _measure_targets(*view.packed, chosen, postures, out)
    np.clip(out[:, POSE_SIZE:], 0.0, FARTHEST_TARGET, out=out[:, POSE_SIZE:])
    return out


def pose_of(model: HandModel, q: Float[np.ndarray, "N J"]) -> Float32[np.ndarray, "N 198"]:
    """Places and directions of the 22 joints in the wrist frame, as a right hand has them.

    Args:
        model: The hand.
        q: Joint values, rad.
    """
    postures = _checked_postures(model, q, None)
    out = np.zeros((len(postures), POSE_SIZE), dtype=np.float32)
    _measure_pose(Packed(sensed_hand(model)), postures, out)
    return out
