"""Where motions to learn from come from: a folder of taught ones, or recordings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.errors import InvalidValueError
from handwright.io.input_files import check_folder
from handwright.io.manipnet.dataset import is_recording, read_recording
from handwright.methods.neural.sensing.motion import RATE

if TYPE_CHECKING:
    from handwright.learning.data import Split

PARTS: tuple[tuple[float, float, Split], ...] = (
    (0.0, 0.36, "train"),
    (0.36, 0.44, "validation"),
    (0.44, 0.8, "train"),
    (0.8, 1.0, "test"),
)
"""Shares of each recording, and what they are for."""
GAP = 0.5
"""Left out at the start of all parts but the first, s: as far as features look ahead."""


def taught_motions(folder: str | Path) -> list[tuple[Clip, Split]]:
    """Motions that ``handwright data make`` has made, with their splits.

    Args:
        folder: Where they are.
    """
    from handwright.learning.data import load_motions

    found = [(motion.clip, motion.split) for motion in load_motions(folder)]
    if not found:
        raise InvalidValueError(
            f"{folder}: holds no taught motions. Make some: handwright data make."
        )
    return found


def recorded_motions(folder: str | Path) -> list[tuple[Clip, Split]]:
    """Recordings of the ManipNet data set, each cut into the three splits.

    They are for evaluation: what is trained on them may not be distributed. A recording at 120
    frames a second gives two motions at 60, one of every other frame each.

    Args:
        folder: With recordings (.npz), or with a folder ``sequences`` that has them.
    """
    folder = Path(folder)
    check_folder(folder, "a folder of recordings (.npz) of the ManipNet data set")
    inner = folder / "sequences"
    files = sorted((inner if inner.is_dir() else folder).glob("*.npz"))
    files = [file for file in files if is_recording(file)]
    if not files:
        raise InvalidValueError(
            f"{folder}: holds no recordings; expected .npz files of the ManipNet data set, there "
            "or in its folder 'sequences'."
        )
    found: list[tuple[Clip, Split]] = []
    for file in files:
        recording = read_recording(file)
        phases = range(round(recording.fps / RATE))
        for phase in phases:
            clip = recording.clip(recording.start + phase, fps=RATE)
            # Both phases of a tail would be measured twice for nothing.
            found += [part for part in split_clip(clip) if phase == 0 or part[1] == "train"]
    return found


def split_clip(clip: Clip) -> list[tuple[Clip, Split]]:
    """The parts of a motion for training, validation and tests, in the order of time.

    Args:
        clip: At 60 frames a second.
    """
    count, gap = clip.num_frames, round(GAP * RATE)
    spans = [
        (slice(round(begin * count) + (gap if begin else 0), round(end * count)), split)
        for begin, end, split in PARTS
    ]
    if min(frames.stop - frames.start for frames, _ in spans) < 2:
        raise InvalidValueError(
            f"Clip of '{clip.problem.name}' has {count} frames, too few to be cut into parts with "
            f"{GAP:g} s between them. Give a longer one."
        )
    return [(_cut(clip, frames), split) for frames, split in spans]


def _cut(clip: Clip, frames: slice) -> Clip:
    """Some frames of a motion that follow each other, from time zero on."""
    times = clip.times[frames] - clip.times[frames][0]
    return with_frames(clip, frames, times, f"{clip.problem.name} from frame {frames.start}")


def with_frames(
    clip: Clip, frames: slice | Int[np.ndarray, " N"], times: Float[np.ndarray, " N"], name: str
) -> Clip:
    """Some frames of a motion at times of their own, without contacts and goals.

    Args:
        clip: The motion.
        frames: Of it, in any order.
        times: When they come, s.
        name: Of the new problem.
    """
    hands = {name: HandMotion(one.root[frames], one.q[frames]) for name, one in clip.hands.items()}
    bodies = {name: pose[frames] for name, pose in clip.bodies.items()}
    tracks = {name: Track(times, one.root) for name, one in hands.items()}
    tracks |= {name: Track(times, pose) for name, pose in bodies.items()}
    asked = clip.problem
    problem = Problem(
        name, times, asked.hands, asked.bodies, tracks=tracks, environment=asked.environment
    )
    return replace(
        clip,
        problem=problem,
        times=times,
        hands=hands,
        bodies=bodies,
        contacts=ContactTrack.empty(),
    )
