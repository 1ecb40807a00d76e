"""Named problems: wrists and bodies move as given, or goals are, and the rest is wanted.

Z is up. The person is at the table's near edge, towards -y, and looks along +y, so that +x is to
the right.
"""

from __future__ import annotations

from typing import Any

from handwright.scenes.catalogue import (
    Scene,
    goal_scenes,
    load_scene,
    toss_scenes,
    track_scenes,
)
from handwright.scenes.problem_file import from_recording, read_problem

SCENES: dict[str, Scene]
"""Every scene with tracks by its name, read when it is first asked for; see ``goal_scenes`` too."""

__all__ = [
    "SCENES",
    "Scene",
    "from_recording",
    "goal_scenes",
    "load_scene",
    "read_problem",
    "toss_scenes",
    "track_scenes",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  as modules have it
    if name == "SCENES":
        return track_scenes()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
