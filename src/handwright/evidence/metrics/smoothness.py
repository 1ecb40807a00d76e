"""How smoothly the joints of a hand move."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.hand import HandModel
from handwright.evidence.metrics.realism import thinned
from handwright.kinematics.fk import frame_poses, link_poses

# The published metric is over 22 joints: those that flex, the tips, the wrist, and two at the base
# of the thumb. Of ours the metacarpal bones of the fingers, which hardly move, are not among them.
_LEFT_OUT = (
    "palm",
    "index_metacarpal",
    "middle_metacarpal",
    "ring_metacarpal",
    "little_metacarpal",
)
_TWICE = "thumb_metacarpal"


class Smoothness(NamedTuple):
    """Means over joints and frames, in the frame of the wrist."""

    acceleration: float
    """cm/s^2."""
    jerk: float
    """cm/s^3."""


def joints_in_wrist(model: HandModel, q: Float[np.ndarray, "T J"]) -> Float[np.ndarray, "T N 3"]:
    """Positions of the named joints of the digits in the wrist's frame, m."""
    names = model.frames.names
    keep = [n for n, name in enumerate(names) if name not in _LEFT_OUT]
    keep += [n for n, name in enumerate(names) if name == _TWICE]
    position = frame_poses(model, q).position[:, keep]
    rotations, places = link_poses(model, q)
    wrist_turn, wrist_place = rotations[:, model.wrist_link], places[:, model.wrist_link]
    return np.einsum("tji,tnj->tni", wrist_turn, position - wrist_place[:, None])


def smoothness_of(
    positions: Float[np.ndarray, "T N 3"], times: Float[np.ndarray, " T"]
) -> Smoothness:
    """Mean length of second and third differences over the frame time, cm/s^2 and cm/s^3."""
    if len(times) < 4:
        return Smoothness(0.0, 0.0)
    step = float(np.mean(np.diff(times)))
    second = np.diff(positions, n=2, axis=0) / step**2
    third = np.diff(positions, n=3, axis=0) / step**3
    return Smoothness(
        1e2 * float(np.linalg.norm(second, axis=-1).mean()),
        1e2 * float(np.linalg.norm(third, axis=-1).mean()),
    )


def smoothness(clip: Clip, *, fps: float = 60.0) -> Smoothness:
    """Acceleration and jerk of the finger joints of all hands, at a stated frame rate."""
    thin = thinned(clip, fps)
    parts = [
        joints_in_wrist(thin.problem.hands[name], motion.q) for name, motion in thin.hands.items()
    ]
    if not parts:
        return Smoothness(0.0, 0.0)
    return smoothness_of(np.concatenate(parts, axis=1), thin.times)
