"""How long a frame of both hands takes, sensors and inverse kinematics included."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.neural.baselines import NearestNeighbour
from handwright.core.clip import Clip
from handwright.methods.neural.network.runtime import Network, WindowedNetwork
from handwright.methods.neural.rollout import rolled_out
from handwright.methods.neural.sensing.view import hand_views

FRAME_MS = 1e3 / 60.0
"""Of real time, ms."""
_FRAMES = 180
_PASSES = 3


def speeds(
    found: Mapping[str, Network | WindowedNetwork], case: Clip, neighbour: NearestNeighbour
) -> dict[str, dict[str, Any]]:
    """Processor time of one frame of all hands of a motion, ms: the least of several passes.

    Args:
        found: Networks by name.
        case: A motion of two hands.
        neighbour: The baseline to compare with.
    """
    short = _first_frames(case, _FRAMES)
    views = hand_views(short.problem)
    base = _milliseconds(lambda: neighbour(short), short.num_frames)
    rows: dict[str, dict[str, Any]] = {"nearest neighbour": {"ms": base}}
    for name, network in found.items():

        def frames(network: Network | WindowedNetwork = network) -> None:
            rolled_out(network, views)

        rows[name] = {"ms": _milliseconds(frames, short.num_frames)}
    for row in rows.values():
        row["share_of_real_time"] = row["ms"] / FRAME_MS
        row["times_the_neighbour"] = row["ms"] / base
    return rows


def _milliseconds(work: Any, frames: int) -> float:
    work()
    taken = []
    for _ in range(_PASSES):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return 1e3 * float(np.min(taken)) / frames


def _first_frames(clip: Clip, count: int) -> Clip:
    """The problem of a motion, cut to some frames; its fingers are not looked at."""
    keep = slice(0, count)
    problem = replace(clip.problem, times=clip.times[keep])
    hands = {
        name: replace(motion, root=motion.root[keep], q=motion.q[keep])
        for name, motion in clip.hands.items()
    }
    bodies = {name: pose[keep] for name, pose in clip.bodies.items()}
    return replace(clip, problem=problem, times=clip.times[keep], hands=hands, bodies=bodies)
