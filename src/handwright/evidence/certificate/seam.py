"""The seam of a motion that goes round: where its last frame leads on to its first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ContactTrack
from handwright.core.events import Push
from handwright.math import rotation
from handwright.math.pose import Pose

_REACH = 4
"""Frames before and after the seam that are judged with it."""
_RADIUS = 0.1
"""How far from the middle of a thing its points are that must come back, m."""


def seam_gap(clip: Clip) -> tuple[float, str]:
    """How far the end of a cyclic motion is from its start, m, and of what."""
    worst, whose = 0.0, ""
    poses = {**clip.bodies, **{name: motion.root for name, motion in clip.hands.items()}}
    for name, pose in poses.items():
        turned = float(rotation.angle(pose.wxyz[0], pose.wxyz[-1]))
        away = float(np.linalg.norm(pose.position[-1] - pose.position[0])) + _RADIUS * turned
        if name in clip.hands:
            bent = np.abs(clip.hands[name].q[-1] - clip.hands[name].q[0])
            radius = np.where(clip.problem.hands[name].joints.is_slide, 1.0, _RADIUS)
            away += float((radius * bent).max(initial=0.0))
        if away > worst:
            worst, whose = away, name
    return worst, whose


def around_seam(clip: Clip) -> Clip:
    """The last frames of a cyclic motion, and its first ones after them, as a motion of its own."""
    last = clip.num_frames - 1
    reach = min(_REACH, last)
    index = np.concatenate([np.arange(last - reach, last + 1), np.arange(1, reach + 1)])
    times = clip.times[index].copy()
    times[reach + 1 :] += clip.times[-1] - clip.times[0]

    def frames(pose: Pose) -> Pose:
        return Pose(pose.position[index], pose.wxyz[index])

    return replace(
        clip,
        problem=replace(clip.problem, is_cyclic=False, pushes=_repeated(clip)),
        times=times,
        hands={n: HandMotion(frames(m.root), m.q[index]) for n, m in clip.hands.items()},
        bodies={name: frames(pose) for name, pose in clip.bodies.items()},
        contacts=ContactTrack.empty(),
    )


def _repeated(clip: Clip) -> tuple[Push, ...]:
    """Pushes of a round, and the same of the next."""
    period = float(clip.times[-1] - clip.times[0])
    later = (
        replace(push, start=push.start + period, end=push.end + period)
        for push in clip.problem.pushes
    )
    return (*clip.problem.pushes, *later)
