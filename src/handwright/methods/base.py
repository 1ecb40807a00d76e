"""What every method is: frozen settings, and searches that make attempts at a problem."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.tolerances import GoalTolerances, Tolerances
from handwright.deprecated import renamed_attributes

if TYPE_CHECKING:
    from handwright.methods.workers import Crew


class Method(ABC):
    """Settings of a method; implementations are frozen dataclasses.

    ``num_solutions``, ``time_budget`` and ``num_workers`` are settings that the driver knows: a
    method that has no use for one of them leaves it out.
    """

    __slots__ = ()

    name: ClassVar[str]
    """Name in ``METHODS`` and on the command line."""

    @classmethod
    def suits(cls, problem: Problem) -> float:
        """How well the method suits what a problem gives, from 0 (not at all) to 1."""
        del problem
        return 0.0

    def tolerances(self, problem: Problem) -> Tolerances:
        """What the certificate has to allow, given these settings; only what they imply."""
        del problem
        return Tolerances()

    def goal_tolerances(self, problem: Problem) -> GoalTolerances:
        """How far motions may be from the goals of the problem."""
        del problem
        return GoalTolerances()

    def lacks(self, problem: Problem) -> str:
        """What the method cannot do without, in a sentence with the remedy; empty if nothing."""
        del problem
        return ""

    @abstractmethod
    def search(self, problem: Problem) -> Search:
        """A search for motions of a problem, made once in every process that makes attempts."""


class Search(ABC):
    """Attempts of a method at a problem."""

    stage: str = "searching"
    """What it does, for those who watch."""
    max_attempts: int | None = None
    """Attempts after which it gives up; None for as many as the time allows."""

    def start(self, crew: Crew) -> str:
        """Prepares the first process, which also compiles; the time budget is not charged.

        Returns:
            A sentence that says why no motion can do what the problem asks for; empty if one may.
        """
        del crew
        self.warm_up()
        return ""

    def warm_up(self) -> None:  # noqa: B027  many need nothing
        """Prepares any other process before its first attempt, as by loading what is compiled."""

    @abstractmethod
    def attempt(self, context: AttemptContext) -> AttemptLike:
        """What the attempt with this seed and number comes to, whatever came before it.

        It ends when the time of its context is up, with what it has found by then.
        """

    def unfinished(self) -> Sequence[Any]:
        """Candidates of an attempt that was interrupted: motions that end where it had come to."""
        return ()

    def clip(self, found: Any) -> Clip:  # noqa: ANN401  whatever the attempt has found
        """The motion of a candidate, which may be a clip already."""
        clip: Clip = found
        return clip

    def cost(self, found: Any) -> float:  # noqa: ANN401  whatever the attempt has found
        """Sorts the motions of a result, the smallest cost first."""
        del found
        return 0.0

    def statistics(self, attempts: Sequence[Any]) -> dict[str, float]:
        """Counts and ratios over all attempts; sums of their own unless there is more to say."""
        total: Counter[str] = Counter()
        for attempt in attempts:
            total.update(attempt.statistics)
        return dict(total)

    def cause(self, attempts: Sequence[Any]) -> str:
        """Why attempts found nothing, in a sentence: the most frequent cause, and an example."""
        causes: Counter[str] = Counter()
        for attempt in attempts:
            causes.update(attempt.causes)
        return most_frequent(causes)


class AttemptLike(Protocol):
    """What the driver asks of an attempt; see ``Attempt``, which does for most methods."""

    @property
    def found(self) -> Sequence[Any]:
        """Candidates, which ``Search.clip`` turns into clips."""

    @property
    def timings(self) -> Mapping[str, float]:
        """s, by stage."""

    def first(self, count: int) -> Self:
        """The attempt as if it had ended with so many candidates."""


@dataclass(slots=True)
class Attempt:
    """What one attempt came to; it is sent from process to process."""

    found: Sequence[Any] = ()
    """Candidates, which ``Search.clip`` turns into clips."""
    causes: Counter[str] = field(default_factory=Counter)
    """Why other candidates came to nothing, in sentences, with how often."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """Counts by name."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """s, by stage."""

    def first(self, count: int) -> Self:
        """The attempt as if it had ended with so many candidates."""
        return replace(self, found=self.found[:count])


class AttemptContext:
    """What an attempt may use: its random numbers and its processor time.

    Args:
        seed: Seed of the run.
        number: Number of the attempt, from 0.
        wanted: Candidates after which the attempt may end.
        seconds: Processor time that it may take, s.
        tell: Called with counts by those who want to show them.
    """

    __slots__ = ("_begin", "_tell", "number", "seconds", "seed", "wanted")

    def __init__(
        self,
        seed: int,
        number: int,
        wanted: int,
        seconds: float,
        tell: Callable[[Mapping[str, float]], None] | None = None,
    ) -> None:
        self.seed, self.number, self.wanted, self.seconds = seed, number, wanted, seconds
        self._tell = tell
        self._begin = time.thread_time()

    @property
    def used(self) -> float:
        """Processor time of this thread since the attempt began, s."""
        return time.thread_time() - self._begin

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.used >= self.seconds

    def rng(self, *parts: int) -> np.random.Generator:
        """Random numbers of this attempt, or of a part of it; the only source of chance."""
        return np.random.default_rng([self.seed, self.number, *parts])

    def tell(self, statistics: Mapping[str, float]) -> None:
        """Shows counts while the attempt lasts, if anybody watches."""
        if self._tell is not None:
            self._tell(statistics)


def most_frequent(causes: Mapping[str, int]) -> str:
    """The most frequent kind of cause, with how often it occurred and an example of it.

    One cause is written with many frames, joints and bodies, which are left out of account.
    """
    if not causes:
        return ""
    kinds: Counter[str] = Counter()
    for cause, count in causes.items():
        kinds[_kind_of(cause)] += count
    kind, count = kinds.most_common(1)[0]
    example = max((c for c in causes if _kind_of(c) == kind), key=lambda c: causes[c])
    return f"Most often ({'once' if count == 1 else f'{count} times'}): {example}"


def untracked(problem: Problem) -> list[str]:
    """Names of the hands and bodies of a problem that have no track."""
    return [name for name in (*problem.hands, *problem.bodies) if name not in problem.tracks]


def advice_on_goals(problem: Problem) -> str:
    """What to do with a problem that gives goals, for the message of a method that takes none."""
    if problem.grips or not problem.goals or not untracked(problem):
        return ""
    return " The problem gives goals instead: use the method 'trajopt', which works from them."


def _kind_of(cause: str) -> str:
    return re.sub(r"\d+|'[^']*'", "", cause)


__getattr__ = renamed_attributes(__name__, {"usual_method": "handwright.methods.default_method"})
