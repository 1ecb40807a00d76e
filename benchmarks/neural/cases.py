"""Motions that fingers are tried on, with the fingers of a teacher beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from handwright.core.clip import Clip
from handwright.errors import InvalidValueError
from handwright.learning.data.motion import TaughtMotion, load_motions
from handwright.learning.training.lessons.sources import recorded_motions

TAILS = "tails of recordings"
SEEN = "shapes seen"
HELD_OUT = "shapes held out"


class Case(NamedTuple):
    """One motion to try."""

    name: str
    group: str
    """Figures are means over a group."""
    teacher: Clip


class Trial(NamedTuple):
    """What is tried, and what those who have no network may look up."""

    cases: list[Case]
    taught: list[Clip]


def recorded_trial(data: Path) -> Trial:
    """The tails of recordings; what comes before them may be learned from.

    Args:
        data: Folder of the ManipNet recordings.
    """
    found = recorded_motions(data)
    return Trial(
        [Case(clip.problem.name, TAILS, clip) for clip, split in found if split == "test"],
        [clip for clip, split in found if split == "train"],
    )


def own_trial(folder: Path) -> Trial:
    """The test split of motions that 'handwright data make' has made.

    Args:
        folder: Where they are.
    """
    motions = list(load_motions(folder))
    if not any(motion.split == "test" for motion in motions):
        raise InvalidValueError(
            f"{folder}: holds no motions of a test split. Make some: handwright data make."
        )
    known = {motion.shape for motion in motions if motion.split == "train"}
    return Trial(
        list(_tried(motions, known)), [one.clip for one in motions if one.split == "train"]
    )


def _tried(motions: Iterable[TaughtMotion], known: set[str]) -> Iterable[Case]:
    for motion in motions:
        if motion.split == "test":
            group = SEEN if motion.shape in known else HELD_OUT
            yield Case(motion.name, group, motion.clip)
