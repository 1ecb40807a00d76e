"""Steps of a motion that are leaps rather than movement.

A step is a leap if it is faster than three times the median of the steps around it, and by a
stated speed faster than that. A hit or a throw is none: the speed stays after it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.math import rotation
from handwright.math.pose import Pose

_WINDOW = 0.05
_MIN_FRAMES = 3
_FACTOR = 3.0


def jumping_steps(
    speed: Float[np.ndarray, "S *N"], times: Float[np.ndarray, " T"], threshold: float
) -> Bool[np.ndarray, "S *N"]:
    """Which of the steps between frames are leaps.

    Args:
        speed: Of each step, of one thing or of several side by side.
        times: Of the frames, one more than steps, s.
        threshold: In the unit of ``speed``.
    """
    if len(speed) < 3:
        return np.zeros(speed.shape, dtype=bool)
    reach = max(_MIN_FRAMES, round(_WINDOW / float(np.median(np.diff(times)))))
    around = [(reach, reach)] + [(0, 0)] * (speed.ndim - 1)
    padded = np.pad(speed, around, mode="reflect" if len(speed) > reach else "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0)
    # The middle one, for windows are of odd length.
    median = np.partition(windows, reach, axis=-1)[..., reach]
    return np.asarray(speed > _FACTOR * median + threshold)


def pose_speeds(
    pose: Pose, times: Float[np.ndarray, " T"], radius: float
) -> Float[np.ndarray, " S"]:
    """Speeds of the fastest point within ``radius`` (m) of a moving frame, m/s."""
    step = np.diff(times)
    straight = np.linalg.norm(np.diff(pose.position, axis=0), axis=1)
    return (straight + radius * rotation.angle(pose.wxyz[1:], pose.wxyz[:-1])) / step
