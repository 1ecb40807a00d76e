"""Whether a clip shows enough to be judged: number of frames, frame times, turns of a step.

What happens between two frames cannot be seen. With few frames there are no accelerations, with
long steps anything could have happened between them, and a body that turns by half a turn in a
step could have turned either way.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.tolerances import Tolerances
from handwright.math import rotation

_EVEN = 1.01
"""Longest over shortest time between frames, up to which they count as even."""


def is_too_fine(clip: Clip, tolerances: Tolerances) -> bool:
    """Whether frames are so near each other that differences of them mean nothing."""
    # Written as times are, rounding may take a step over the limit.
    return float(_steps(clip).min()) < tolerances.shortest_step * (1.0 - 1e-6)


def coarse_faults(clip: Clip, tolerances: Tolerances) -> list[str]:
    """Why too little of a motion can be seen, in words."""
    faults = []
    if clip.num_frames < tolerances.least_frames:
        faults.append(
            f"there are {clip.num_frames} frames, expected at least {tolerances.least_frames:g}"
        )
    short, long = float(_steps(clip).min()), float(_steps(clip).max())
    if is_too_fine(clip, tolerances):
        faults.append(
            f"frames are {short:.3g} s apart, expected at least {tolerances.shortest_step:g} s"
        )
    if long > tolerances.longest_step * (1.0 + 1e-6):
        faults.append(
            f"frames are {long:.3g} s apart, expected at most {tolerances.longest_step:g} s"
        )
    if not faults and long > tolerances.most_uneven * short:
        faults.append(
            f"frames are {short:.3g} to {long:.3g} s apart, expected to differ by a factor of "
            f"{tolerances.most_uneven:g} at most"
        )
    poses = {**clip.bodies, **{name: motion.root for name, motion in clip.hands.items()}}
    for name, pose in poses.items():
        turn = rotation.angle(pose.wxyz[:-1], pose.wxyz[1:])
        if turn.max(initial=0.0) > tolerances.most_turn:
            faults.append(
                f"'{name}' turns by {turn.max():.3g} rad into frame {int(turn.argmax()) + 1}, "
                f"expected {tolerances.most_turn:g} rad a step at most"
            )
    return faults


def uneven_steps(clip: Clip) -> str | None:
    """Frame times in words, where they are not all the same."""
    step = _steps(clip)
    if float(step.max()) <= _EVEN * float(step.min()):
        return None
    return f"frames {1e3 * step.min():.3g} to {1e3 * step.max():.3g} ms apart"


def _steps(clip: Clip) -> Float[np.ndarray, " S"]:
    """Times between frames, s; of a single frame, one of usual length."""
    return np.diff(clip.times) if clip.num_frames > 1 else np.array([1.0 / 30.0])
