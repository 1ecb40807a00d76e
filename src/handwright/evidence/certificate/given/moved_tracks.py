"""Tracks that a motion does not follow: they were corrected, or left for another reason.

A clip keeps the problem as it was given, with its raw tracks. What its motion makes of them is seen
by comparing the two, whatever a method says of itself.
"""

from __future__ import annotations

import math

import numpy as np

from handwright.core.clip import Clip
from handwright.math import rotation

# Moves and turns up to these, m and rad, come from rounding in files.
_SAME_PLACE, _SAME_TURN = 1e-5, 1e-4


def moved_tracks(clip: Clip) -> list[str]:
    """How far wrists and bodies are from their given tracks, in words; nothing of those on them.

    Of a body the centre of mass counts, of a hand the root. Frames outside the times of a track are
    not looked at.
    """
    problem, found = clip.problem, []
    moving = {**clip.bodies, **{name: motion.root for name, motion in clip.hands.items()}}
    for name, track in problem.tracks.items():
        frames = (clip.times >= track.times[0] - 1e-9) & (clip.times <= track.times[-1] + 1e-9)
        if not frames.any():
            continue
        given, pose = track.at(clip.times[frames]), moving[name][frames]
        center = problem.bodies[name].center if name in problem.bodies else np.zeros(3)
        shift = np.linalg.norm(pose.apply(center) - given.apply(center), axis=1).max()
        turn = np.asarray(rotation.angle(pose.wxyz, given.wxyz)).max()
        if shift > _SAME_PLACE or turn > _SAME_TURN:
            what = "body" if name in problem.bodies else "wrist"
            found.append(
                f"{what} '{name}' moved by at most {_upwards(1e3 * shift)} mm and "
                f"{_upwards(np.degrees(turn))} degrees from its track"
            )
    return found


def _upwards(value: float) -> str:
    """A number with one decimal that is not below it, but for a thousandth."""
    return f"{max(math.ceil(10.0 * value - 1e-2), 0) / 10.0:.1f}"
