"""Contact sampling as data is made with it: counted attempts, and fingers of two hands joined.

A search is limited by a number of attempts and never by time, so that the same motions come out on
every machine, however busy it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.result import Result
from handwright.core.settings import data_field
from handwright.learning.data.guides import guide_of
from handwright.learning.data.play import Play
from handwright.methods.base import Attempt, AttemptContext, Search
from handwright.methods.sampling.contact_search import ContactSearch
from handwright.methods.sampling.method import ContactSampling
from handwright.synthesis import synthesize

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


METHOD = CountedSampling(
    num_solutions=1, time_budget=_NO_LIMIT, window=20, max_frames=1500, treat_as_solid=True
)
"""Digits keep a strategy for some 20 frames, which is a third of a second."""


@dataclass(frozen=True, slots=True)
class JoinedFingers(CountedSampling):
    """Fingers that were sampled for each hand and what it holds, put together to be judged."""

    fingers: tuple[tuple[str, Float[np.ndarray, "T J"]], ...] = data_field(())
    """Joint values of each hand, rad."""

    def search(self, problem: Problem) -> Search:  # type: ignore[override]
        """The one motion that they make."""
        return _Joined(problem, dict(self.fingers))


class _Joined(Search):
    stage = "joining"
    max_attempts = 1

    def __init__(self, problem: Problem, fingers: Mapping[str, Float[np.ndarray, "T J"]]) -> None:
        self._problem, self._fingers = problem, fingers

    def attempt(self, context: AttemptContext) -> Attempt:
        """The motion, whatever the seed."""
        del context
        problem, times = self._problem, self._problem.times
        hands = {
            side: HandMotion(problem.track(side).at(times), q) for side, q in self._fingers.items()
        }
        bodies = {name: problem.track(name).at(times) for name in problem.bodies}
        made = Provenance(problem.name, ContactSampling.name)
        clip = Clip(problem, times, hands, bodies, ContactTrack.empty(), made)
        return Attempt((clip,))


def solve(problem: Problem, play: Play, *, seed: int) -> Result:
    """Certified fingers for tracks, or why there are none.

    Hands with a body each are searched one by one, and then judged together.

    Args:
        problem: With tracks for all hands and bodies.
        play: What it was made from, which says what fingers are meant to do.
        seed: Of the search.
    """
    if len(problem.bodies) == 1:
        return synthesize(problem, METHOD.guided_by(guide_of(play, problem)), seed=seed)
    fingers = {}
    for side, name in play.held().items():
        own = replace(
            problem,
            hands={side: problem.hands[side]},
            bodies={name: problem.bodies[name]},
            tracks={key: problem.tracks[key] for key in (side, name)},
        )
        result = synthesize(own, METHOD.guided_by(guide_of(play, own)), seed=seed)
        if not result.status.is_success:
            return result
        fingers[side] = result.best.hands[side].q
    joined = JoinedFingers(
        num_solutions=1,
        time_budget=METHOD.time_budget,
        window=METHOD.window,
        fingers=tuple(fingers.items()),
    )
    return synthesize(problem, joined, seed=seed)
