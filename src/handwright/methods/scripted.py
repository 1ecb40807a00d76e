"""The trivial method: hands and bodies follow their tracks, and the fingers do as they are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.settings import setting
from handwright.methods.about import Paper
from handwright.methods.base import (
    Attempt,
    AttemptContext,
    Method,
    Search,
    advice_on_goals,
    untracked,
)


def _human_poses() -> list[str]:
    """Poses of the human hand; other hands have their own."""
    from handwright.hands import human

    return sorted(human().poses)


@dataclass(frozen=True, slots=True)
class Scripted(Method):
    """Keeps the fingers in a named pose, or moves them evenly from one to another.

    Nothing makes the fingers hold what they carry, so that ``synthesize`` refuses most such motions
    unless it is called with ``certify=False``.
    """

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

    def lacks(self, problem: Problem) -> str:
        """Needs a track for every hand and body."""
        missing = untracked(problem)
        if not missing:
            return ""
        return (
            f"The scripted method only follows tracks, and {', '.join(missing)} has none. "
            f"Add a track to the problem.{advice_on_goals(problem)}"
        )

    def search(self, problem: Problem) -> ScriptedMotion:
        """One motion; nothing in it is random."""
        return ScriptedMotion(problem, self)


class ScriptedMotion(Search):
    """The one motion that the tracks and the poses give."""

    stage = "following tracks"
    max_attempts = 1

    def __init__(self, problem: Problem, method: Scripted) -> None:
        self._problem, self._method = problem, method

    def attempt(self, context: AttemptContext) -> Attempt:
        """The motion, whatever the seed."""
        del context
        problem, method = self._problem, self._method
        hands = {}
        share = np.linspace(0.0, 1.0, len(problem.times))[:, None]
        for name, model in problem.hands.items():
            start = model.pose(method.pose)
            end = model.pose(method.pose if method.end_pose is None else method.end_pose)
            q = start + share * (end - start)
            hands[name] = HandMotion(problem.track(name).at(problem.times), q)
        clip = Clip(
            problem=problem,
            times=problem.times,
            hands=hands,
            bodies={name: problem.track(name).at(problem.times) for name in problem.bodies},
            contacts=ContactTrack.empty(),
            provenance=Provenance(problem.name, method.name),
        )
        return Attempt((clip,))
