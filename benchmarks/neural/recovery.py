"""Half a minute in closed loop, from a wrong pose: how soon it is made good, and whether it lasts.

Motions that are shorter are played forward and backward again and again; a wrist and an object
that go back the way they came are as smooth as before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.neural.figures import FPS, moving_joints
from handwright.core.clip import Clip
from handwright.learning.training.lessons.sources import with_frames
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.view import hand_views

SECONDS = 30.0
"""How long a roll-out is."""
NEAR = 0.005
"""Mean distance of joints below which two roll-outs count as one, m."""
# Of each joint's range: a hand that is nearly a fist, which no reach begins with.
_FIST = 0.85
_MOST = 8


def prolonged(clip: Clip, seconds: float = SECONDS) -> Clip:
    """A motion played to and fro until it is so long.

    Args:
        clip: At 60 frames a second.
        seconds: How long.
    """
    count = clip.num_frames
    there_and_back = np.concatenate([np.arange(count), np.arange(count - 2, 0, -1)])
    frames = np.resize(there_and_back, round(seconds * FPS) + 1)
    return with_frames(clip, frames, np.arange(len(frames)) / FPS, clip.problem.name)


def recoveries(network: Network | WindowedNetwork, clips: Sequence[Clip]) -> dict[str, Any]:
    """Figures of the worst of some motions.

    Args:
        network: To try.
        clips: Motions of teachers; the longest are taken.
    """
    longest = sorted(clips, key=lambda clip: -clip.num_frames)[:_MOST]
    found = [_recovery(network, prolonged(clip)) for clip in longest]
    return {
        "motions": len(found),
        "back_after": max(back for back, _ in found),
        "growth": max(growth for _, growth in found),
        "each": [{"back_after": back, "growth": growth} for back, growth in found],
    }


def _recovery(network: Network | WindowedNetwork, clip: Clip) -> tuple[float, float]:
    """When a wrong start is forgotten, s, and the error of the last third over the first."""
    views = hand_views(clip.problem)
    start = {
        name: model.joints.lower + _FIST * (model.joints.upper - model.joints.lower)
        for name, model in clip.problem.hands.items()
    }
    good, wrong = rolled_out(network, views), rolled_out(network, views, start=start)
    apart, error = np.zeros(clip.num_frames), np.zeros(clip.num_frames)
    for name, model in clip.problem.hands.items():
        joints = moving_joints(model, wrong[name])
        there, taught = moving_joints(model, good[name]), moving_joints(model, clip.hands[name].q)
        apart = np.maximum(apart, np.linalg.norm(joints - there, axis=-1).mean(axis=1))
        error += np.linalg.norm(joints - taught, axis=-1).mean(axis=1)
    # Motions that return on themselves can part again where they are ambiguous; what is asked is
    # when the wrong start is first forgotten, and that nothing grows.
    near = np.flatnonzero(apart < NEAR)
    back = float(near[0] / FPS) if len(near) else SECONDS
    second, third = round(FPS), clip.num_frames // 3
    return back, float(error[-third:].mean() / error[second:third].mean())
