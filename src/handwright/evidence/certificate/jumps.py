"""Frames in which a body, a wrist or a joint leaps, rather than moves; see ``mechanics.leaps``."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from handwright.contact.leaps import jumping_steps, pose_speeds
from handwright.core.clip import Clip


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
