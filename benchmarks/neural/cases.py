"""Motions that fingers are tried on, with the fingers of a teacher beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from handwright.core.clip import Clip
from handwright.errors import InvalidValueError
from handwright.learning.data.motion import TaughtMotion, load_motions
from handwright.learning.data.shapes import is_held_out
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


def own_trial(folder: Path, most: int | None = None) -> Trial:
    """The test split of motions that 'handwright data make' has made.

    Args:
        folder: Where they are.
        most: How many of each group are tried, the first by name; all if not given.
    """
    if most is not None and most < 1:
        raise InvalidValueError(f"--cases {most}: expected 1 or more, or nothing for all.")
    motions = list(load_motions(folder))
    if not any(motion.split == "test" for motion in motions):
        raise InvalidValueError(
            f"{folder}: holds no motions of a test split. Make some: handwright data make."
        )
    tried = [_case(motion) for motion in motions if motion.split == "test"]
    cases = [one for group in (SEEN, HELD_OUT) for one in _first(tried, group, most)]
    return Trial(cases, [one.clip for one in motions if one.split == "train"])


def _case(motion: TaughtMotion) -> Case:
    return Case(motion.name, HELD_OUT if is_held_out(motion.shape) else SEEN, motion.clip)


def _first(cases: Iterable[Case], group: str, most: int | None) -> list[Case]:
    return [case for case in cases if case.group == group][:most]
