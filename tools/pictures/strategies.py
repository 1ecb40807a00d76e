"""Stills of the strategies of fingers: ``python -m tools.pictures.strategies FILE.png``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np
from jaxtyping import UInt8
from rich.progress import track

from handwright.core.clip import Clip
from handwright.evidence import certify
from handwright.evidence.metrics.strategies import StrategyEvent, strategy_events
from handwright.methods import ContactSampling
from handwright.methods.sampling.constraints.preferences import Strategy
from handwright.render.motion_sheet import pictures, spread
from handwright.render.scene import write_png
from handwright.render.sheet import contact_sheet
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

_SCENES = ("milk_box_turn", "milk_box_pickup", "bottle_turn_on_table")
_SHOWN = ("hold", "slide", "relocate")
_COLUMNS, _MOTIONS = 6, 3


def strategy_sheet(clips: Sequence[Clip]) -> UInt8[np.ndarray, "H W 3"]:
    """A row for each strategy that appears, with the event in which a finger gets farthest.

    Args:
        clips: To look through; holding is shown by the event that lasts longest.
    """
    images, labels = [], []
    for strategy in _SHOWN:
        found = [
            (clip, event)
            for clip in clips
            for event in strategy_events(clip)
            if event.strategy == strategy
        ]
        if not found:
            continue
        clip, event = max(found, key=lambda pair: _size(pair[1]))
        frames = spread(event.first, event.last, _COLUMNS)
        # Short events are shown with what comes before and after.
        while len(frames) < _COLUMNS:
            frames = [max(frames[0] - 1, 0), *frames, min(frames[-1] + 1, clip.num_frames - 1)]
        frames = frames[:_COLUMNS]
        images += pictures(clip, frames)
        title = f"{clip.problem.name}: {event.digit}, {strategy}"
        labels += [f"{title}, {clip.times[frame]:.2f} s" for frame in frames]
    return contact_sheet(images, _COLUMNS, labels)


def _size(event: StrategyEvent) -> float:
    return float(event.last - event.first) if event.strategy == "hold" else event.way


def main(path: Path) -> None:
    """Solves scenes with every preference and writes the sheet."""
    clips: list[Clip] = []
    jobs = [(scene, strategy) for scene in _SCENES for strategy in get_args(Strategy)]
    for scene, strategy in track(jobs, "Motions"):
        method = ContactSampling(num_solutions=_MOTIONS, strategy=strategy)
        found = synthesize(load_scene(scene), method, seed=0).clips
        clips += [clip for clip in found if certify(clip).passed]
    write_png(strategy_sheet(clips), path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images/strategies.png"))
