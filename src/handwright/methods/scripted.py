"""The trivial method: hands and bodies follow their tracks, and the fingers do as they are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.paper import Paper
from handwright.core.problem import Problem
from handwright.core.result import Result, Status, Watcher
from handwright.core.settings import setting
from handwright.methods.base import advice_on_goals, untracked


def _human_poses() -> list[str]:
    """Poses of the human hand; other hands have their own."""
    from handwright.hands import human

    return sorted(human().poses)


@dataclass(frozen=True, slots=True)
class Scripted:
    """Keeps the fingers in a named pose, or moves them evenly from one to another."""

    name: ClassVar[str] = "scripted"

    title: ClassVar[str] = "Scripted fingers"
    suited_to: ClassVar[str] = "Tracks of all wrists and bodies are given; fingers keep a pose."
    papers: ClassVar[tuple[Paper, ...]] = ()

    pose: str = setting(
        "rest",
        basic=True,
        suggestions=_human_poses,
        help="Named pose of the fingers in the first frame.",
    )
    end_pose: str | None = setting(
        None,
        basic=True,
        suggestions=_human_poses,
        help="Named pose of the fingers in the last frame; that of the first frame if left out.",
    )

    def solve(self, problem: Problem, seed: int, watcher: Watcher | None = None) -> Result:
        """Needs a track for every hand and body; nothing in it is random."""
        del seed, watcher
        missing = untracked(problem)
        if missing:
            return Result(
                (),
                Status.BAD_INPUT,
                f"The scripted method only follows tracks, and {', '.join(missing)} has none. "
                f"Add a track to the problem.{advice_on_goals(problem)}",
            )
        hands = {}
        share = np.linspace(0.0, 1.0, len(problem.times))[:, None]
        for name, model in problem.hands.items():
            start = model.pose(self.pose)
            end = model.pose(self.pose if self.end_pose is None else self.end_pose)
            q = start + share * (end - start)
            hands[name] = HandMotion(problem.track(name).at(problem.times), q)
        clip = Clip(
            problem=problem,
            times=problem.times,
            hands=hands,
            bodies={name: problem.track(name).at(problem.times) for name in problem.bodies},
            contacts=ContactTrack.empty(),
            provenance=Provenance(problem.name, self.name),
        )
        return Result((clip,), Status.SOLVED)
