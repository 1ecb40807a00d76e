"""Searches of learned fingers: a network's motions as they are, or as guides of a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from handwright.core.clip import Clip
from handwright.methods.base import Attempt, AttemptContext, AttemptLike, Search
from handwright.methods.workers import Crew

Maker = Callable[[int, int], Clip]
"""Makes the network's motion of a seed and a number from 0."""


class PlainMotions(Search):
    """The network's motions as they are.

    Args:
        make: Makes them.
        count: How many differ.
    """

    stage = "asking the network"

    def __init__(self, make: Maker, count: int) -> None:
        self._make = make
        self.max_attempts = count

    def attempt(self, context: AttemptContext) -> Attempt:
        """The motion of that number."""
        return Attempt((self._make(context.seed, context.number),))


@dataclass(frozen=True, slots=True)
class GuidedAttempt:
    """What an attempt with one of the guides came to."""

    guide: int
    inner: Any
    """The attempt of the search that was guided."""

    @property
    def found(self) -> list[tuple[int, Any]]:
        """Candidates, each with the number of its guide."""
        return [(self.guide, one) for one in self.inner.found]

    @property
    def timings(self) -> Mapping[str, float]:
        """s, by stage."""
        timings: Mapping[str, float] = self.inner.timings
        return timings

    def first(self, count: int) -> Self:
        """The attempt as if it had ended with so many candidates."""
        return type(self)(self.guide, self.inner.first(count))


class GuidedSearches(Search):
    """Searches around several motions of networks, which take turns.

    Args:
        make: Makes the guides.
        count: How many differ.
        guided: A search around a guide.
    """

    def __init__(self, make: Maker, count: int, guided: Callable[[Clip], Search]) -> None:
        self._make, self._count, self._guided = make, count, guided
        self._searches: dict[int, Search] = {}

    def _search(self, guide: int, seed: int = 0) -> Search:
        if guide not in self._searches:
            self._searches[guide] = self._guided(self._make(seed, guide))
        return self._searches[guide]

    @property
    def holds(self) -> Any:  # noqa: ANN401  families know each other by name only
        """Those of the search around the first guide, which workers compile with."""
        search: Any = self._search(0)
        return search.holds

    def start(self, crew: Crew) -> str:
        """As the search around the first guide does, which no seed changes."""
        return self._search(0).start(crew)

    def warm_up(self) -> None:
        """Loads what the first process has compiled."""
        self._search(0).warm_up()

    def attempt(self, context: AttemptContext) -> AttemptLike:
        """One motion around the guide whose turn it is."""
        guide = context.number % self._count
        search = self._search(guide, context.seed)
        left = max(context.seconds - context.used, 0.0)
        alone = AttemptContext(context.seed, context.number, 1, left, context.tell)
        return GuidedAttempt(guide, search.attempt(alone))

    def clip(self, found: tuple[int, Any]) -> Clip:
        """The motion of a candidate."""
        # Whatever the guide, a motion holds all that there is to say about it.
        return self._search(0).clip(found[1])

    def cost(self, found: tuple[int, Any]) -> float:
        """Sorts the motions as the searches do."""
        return self._search(0).cost(found[1])

    def statistics(self, attempts: Sequence[GuidedAttempt]) -> dict[str, float]:
        """Those of all searches together."""
        return self._search(0).statistics([attempt.inner for attempt in attempts])

    def cause(self, attempts: Sequence[GuidedAttempt]) -> str:
        """Why attempts found nothing, whatever their guides."""
        return self._search(0).cause([attempt.inner for attempt in attempts])
