"""Frames in which a body, a wrist or a joint leaps, rather than moves.

A step is a leap if it is faster than three times the median of the steps around it, and by a
stated speed faster than that. A hit or a throw is none: the speed stays after it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.math import rotation
from handwright.math.pose import Pose

_WINDOW = 0.05
_MIN_FRAMES = 3
_FACTOR = 3.0


def jumping_steps(
    speed: Float[np.ndarray, "S"], times: Float[np.ndarray, " T"], threshold: float
) -> Bool[np.ndarray, "S"]:
    """Which of the steps between frames are leaps.

    Args:
        speed: Of each step.
        times: Of the frames, one more than steps, s.
        threshold: In the unit of ``speed``.
    """
    if len(speed) < 3:
        return np.zeros(len(speed), dtype=bool)
    reach = max(_MIN_FRAMES, round(_WINDOW / float(np.median(np.diff(times)))))
    padded = np.pad(speed, reach, mode="reflect" if len(speed) > reach else "edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
    return speed > _FACTOR * np.median(windows, axis=1) + threshold


def pose_speeds(
    pose: Pose, times: Float[np.ndarray, " T"], radius: float
) -> Float[np.ndarray, " S"]:
    """Speeds of the fastest point within ``radius`` (m) of a moving frame, m/s."""
    step = np.diff(times)
    straight = np.linalg.norm(np.diff(pose.position, axis=0), axis=1)
    return (straight + radius * rotation.angle(pose.wxyz[1:], pose.wxyz[:-1])) / step


def jump_excess(
    clip: Clip, *, speed: float, joint_speed: float
) -> tuple[Bool[np.ndarray, " T"], dict[str, list[int]]]:
    """Frames next to a leap, and for each thing that leaps the frames that it leaps into."""
    times = clip.times
    near = np.zeros(len(times), dtype=bool)
    leaps: dict[str, list[int]] = {}
    series: list[tuple[str, np.ndarray, float]] = []
    for name, pose in clip.bodies.items():
        radius = float(np.linalg.norm(clip.problem.bodies[name].vertices, axis=1).max())
        series.append((name, pose_speeds(pose, times, radius), speed))
    for name, motion in clip.hands.items():
        series.append((name, pose_speeds(motion.root, times, 0.1), speed))
        rates = np.abs(np.diff(motion.q, axis=0)) / np.diff(times)[:, None]
        names = clip.problem.hands[name].joints.names
        series += [(f"{name}.{n}", rates[:, j], joint_speed) for j, n in enumerate(names)]
    for name, values, threshold in series:
        steps = np.flatnonzero(jumping_steps(values, times, threshold))
        if steps.size:
            leaps[name] = [int(step) + 1 for step in steps]
        for step in steps:
            # Central differences reach one frame further than the two frames of the step.
            near[max(step - 1, 0) : step + 3] = True
    return near, leaps
