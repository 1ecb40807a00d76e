"""Frames in which a body, a wrist or a joint leaps, rather than moves.

A step is a leap if it is faster than three times the median speed of the steps around it plus a
stated speed. A hit or a throw is none: the speed stays after it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float
from scipy.ndimage import median_filter

from handwright.core.clip import Clip
from handwright.math import rotation
from handwright.math.pose import Pose

_HALF_WINDOW = 0.05
"""How far before and after a step its neighbours are looked at, s."""
_LEAST_NEIGHBOURS = 3
"""Steps on each side that are looked at however long they last."""
_TIMES_FASTER = 3.0
_WRIST_RADIUS = 0.1
"""How far from the wrist the points of a hand are whose speed is judged, m."""


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
        series.append((name, fastest_point(pose, times, radius), speed))
    for name, motion in clip.hands.items():
        series.append((name, fastest_point(motion.root, times, _WRIST_RADIUS), speed))
        rates = np.abs(np.diff(motion.q, axis=0)) / np.diff(times)[:, None]
        names = clip.problem.hands[name].joints.names
        series += [(f"{name}.{n}", rates[:, j], joint_speed) for j, n in enumerate(names)]
    for name, values, threshold in series:
        steps = np.flatnonzero(_is_leap(values, times, threshold))
        if steps.size:
            leaps[name] = [int(step) + 1 for step in steps]
        for step in steps:
            # Central differences reach one frame further than the two frames of the step.
            near[max(step - 1, 0) : step + 3] = True
    return near, leaps


def fastest_point(
    pose: Pose, times: Float[np.ndarray, " T"], radius: float
) -> Float[np.ndarray, " S"]:
    """Speed of the fastest point within a radius (m) of a moving frame in each step, m/s."""
    moved = np.linalg.norm(pose.position[1:] - pose.position[:-1], axis=1)
    turned = rotation.angle(pose.wxyz[:-1], pose.wxyz[1:])
    return np.asarray((moved + radius * turned) / np.diff(times))


def _is_leap(
    speed: Float[np.ndarray, " S"], times: Float[np.ndarray, " T"], threshold: float
) -> Bool[np.ndarray, " S"]:
    """Which steps are leaps, by a running median that is reflected at both ends."""
    if len(speed) < _LEAST_NEIGHBOURS:
        return np.zeros(len(speed), dtype=bool)
    reach = max(_LEAST_NEIGHBOURS, round(_HALF_WINDOW / float(np.median(np.diff(times)))))
    reach = min(reach, len(speed))
    mode = "mirror" if len(speed) > reach else "nearest"
    usual = median_filter(speed, size=2 * reach + 1, mode=mode)
    return np.asarray(speed > _TIMES_FASTER * usual + threshold)
