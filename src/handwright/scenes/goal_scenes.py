"""Scenes that say what should become true: files of goals that come with the package."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from handwright.io.goals.schema import GoalsFile
from handwright.io.goals.strict_yaml import read_yaml
from handwright.scenes.files import DATA

GOALS = DATA / "goals"
"""Where the files are."""


@dataclass(frozen=True, slots=True)
class GoalScene:
    """What a file of goals holds, for lists."""

    name: str
    summary: str
    """One line."""
    num_frames: int
    hands: tuple[str, ...]
    """Names."""
    bodies: tuple[str, ...]
    """Names."""
    path: Path
    has_grips: bool
    """Whether it says how hands take bodies, for the method ``stepwise``."""


@functools.cache
def goal_scenes() -> dict[str, GoalScene]:
    """All scenes with goals, by name."""
    scenes = {}
    for path in sorted(GOALS.glob("*.yaml")):
        file = GoalsFile.model_validate(read_yaml(path).value)
        scenes[path.stem] = GoalScene(
            path.stem,
            file.summary or "",
            len(file.times),
            tuple(file.hands),
            tuple(file.bodies),
            path,
            bool(file.grips),
        )
    return scenes
