"""Fingers for tracks: contact sampling, and the certificate decides.

The search is limited by a number of attempts and never by time, so that the same motions come out
on every machine, however busy it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from handwright.core.problem import Problem
from handwright.core.result import Result
from handwright.core.settings import data_field
from handwright.learning.data.choreography import stage_script
from handwright.learning.data.guides import guide_of
from handwright.learning.data.motion import TaughtMotion
from handwright.learning.data.play import Play
from handwright.learning.data.problems import problem_of
from handwright.learning.data.script import Script, draw_script, generator
from handwright.learning.data.stage import UnnaturalError
from handwright.methods.sampling.contact_search import ContactSearch
from handwright.methods.sampling.method import ContactSampling
from handwright.synthesis import synthesize

# Plays that are thought out until one is natural.
_PLAYS = 8
# Processor time that no search comes near, s.
_NO_LIMIT = 1e6


@dataclass(frozen=True, slots=True)
class CountedSampling(ContactSampling):
    """Contact sampling that gives up after some attempts, whatever their time."""

    num_attempts: int = data_field(3)

    def search(self, problem: Problem) -> ContactSearch:
        """Attempts, but not more than so many."""
        search = ContactSearch(problem, self)
        search.max_attempts = self.num_attempts
        return search


METHOD = CountedSampling(num_solutions=1, time_budget=_NO_LIMIT, window=20, max_frames=2500)
"""Digits keep a strategy for some 20 frames, which is a third of a second."""


@dataclass(frozen=True, slots=True)
class Unsolved:
    """Tracks that got no certified fingers, and why: data, too."""

    name: str
    split: str
    shape: str
    acts: Sequence[str]
    """What should have been done."""
    num_frames: int
    """0 if no natural tracks were found."""
    reason: str
    """``unnatural``, a name of ``Status``, or the checks of the certificate that refused it."""
    message: str
    """In a sentence."""

    def as_row(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"acts": list(self.acts)}


def make_motion(
    set_name: str, seed: int, number: int, holds: FilePath
) -> TaughtMotion | Unsolved:
    """The motion of a number, or why there is none.

    Args:
        set_name: Of the shapes.
        seed: Of the run.
        number: Of the motion.
        holds: Folder in which holds are kept.
    """
    script = draw_script(set_name, seed, number)
    name = f"{set_name}_s{seed}_{number:06d}"
    play, why = None, ""
    for part in range(1, _PLAYS + 1):
        try:
            play = stage_script(script, holds, generator(seed, number, part))
            problem = problem_of(play, name)
            break
        except UnnaturalError as error:
            play, why = None, str(error)
    if play is None:
        return Unsolved(name, script.split, script.shape, script.acts, 0, "unnatural", why)
    result = synthesize(problem, METHOD.guided_by(guide_of(play, problem)), seed=seed)
    if not result.status.is_success:
        return _unsolved(script, name, problem, result)
    return _taught(script, name, play, result)


def _unsolved(script: Script, name: str, problem: Problem, result: Result) -> Unsolved:
    refused = "+".join(sorted(result.refused))
    return Unsolved(
        name,
        script.split,
        script.shape,
        script.acts,
        len(problem.times),
        refused or result.status.name.lower(),
        result.message,
    )


def _taught(script: Script, name: str, play: Play, result: Result) -> TaughtMotion:
    things = {key: prop.thing for key, prop in play.props.items()}
    return TaughtMotion(name, result.best, tuple(play.activities()), things, script.split)
