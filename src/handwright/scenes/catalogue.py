"""The scenes that come with the package: problem files in ``data``, listed and loaded by name."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from handwright.core.problem import Problem
from handwright.errors import UnknownNameError
from handwright.io.goals.schema import ProblemFile
from handwright.io.goals.strict_yaml import read_yaml
from handwright.io.goals.tracks import read_poses
from handwright.scenes.problem_file import read_problem

TRACKS = Path(__file__).parent / "data" / "tracks"
"""Problem files with tracks, and the tracks."""
GOALS = Path(__file__).parent / "data" / "goals"
"""Problem files with goals."""
TOSSES = Path(__file__).parent / "data" / "tosses"
"""Problem files in which things are thrown and caught."""
TRACK_SCENES = (
    "milk_box_turn",
    "milk_box_pickup",
    "spatula",
    "wine_pot",
    "small_box_two_hands",
    "bottle_turn_on_table",
    "paper_cup_twirl",
    "big_box_two_hands",
    "bunny_like",
    "mug",
    "mug_by_handle",
    "beaker_by_rim",
    "cooking",
)
"""Names of the scenes with tracks in the order of lists: the first is what most people try."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a problem file holds, for lists."""

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
def track_scenes() -> dict[str, Scene]:
    """All scenes with tracks, by name."""
    return {name: _scene(TRACKS / f"{name}.yaml") for name in TRACK_SCENES}


@functools.cache
def goal_scenes() -> dict[str, Scene]:
    """All scenes with goals, by name."""
    return {path.stem: _scene(path) for path in sorted(GOALS.glob("*.yaml"))}


@functools.cache
def toss_scenes() -> dict[str, Scene]:
    """All scenes in which things are thrown and caught, by name."""
    return {path.stem: _scene(path) for path in sorted(TOSSES.glob("*.yaml"))}


def load_scene(name: str) -> Problem:
    """A named problem: wrists and bodies move as given, or goals are; the rest is wanted.

    Thirty frames a second with tracks; Z is up; the table top is at 0.75 m. The person is at the
    near edge, towards -y, and looks along +y.

    Raises:
        UnknownNameError: There is no such scene.
    """
    for folder in (TRACKS, GOALS, TOSSES):
        # Names are looked up in a listing, so that one with a slash leads nowhere else.
        if name in {path.stem for path in folder.glob("*.yaml")}:
            return read_problem(folder / f"{name}.yaml")
    raise UnknownNameError("scene", name, (*track_scenes(), *goal_scenes(), *toss_scenes()))


def _scene(path: Path) -> Scene:
    file = ProblemFile.model_validate(read_yaml(path).value)
    num_tracked = 0
    if file.tracks is not None:
        num_tracked = len(next(iter(read_poses(path.parent / file.tracks).values())))
    return Scene(
        path.stem,
        file.summary or "",
        len(file.times(num_tracked)),
        tuple(file.hands),
        tuple(file.bodies),
        path,
        bool(file.grips),
    )
