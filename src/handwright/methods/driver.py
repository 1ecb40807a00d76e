"""The one driver of all methods: budget, workers, progress, interrupts, refusals, messages."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from handwright.core.certificate import Certificate
from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.result import Progress, Result, Status, Watcher
from handwright.methods.base import AttemptContext, AttemptLike, Method, Search, most_frequent
from handwright.methods.workers import Crew, own_attempt, started_crew

_PREPARING = "preparing; the first run on a machine compiles for a minute or more"


GOALS = "goals"
"""Reason of a judge for refusing a motion that is certified."""


class Judged(NamedTuple):
    """What a judge says of a candidate."""

    clip: Clip
    """The candidate, stamped with how it was made."""
    certificate: Certificate | None = None
    """None if nobody judged it."""
    reasons: tuple[str, ...] = ()
    """Short names of what is wrong with it; empty if it answers the problem. A motion with
    ``GOALS`` alone is certified and misses its goals: it is returned if nothing better is found."""
    detail: str = ""
    """What is wrong with it, in a sentence."""


Judge = Callable[[Clip], Judged]
"""Says whether a candidate may be returned. Methods know nothing about who judges, or how."""


class RunLimits(NamedTuple):
    """The settings of a method that the driver knows."""

    wanted: int
    """How many motions."""
    seconds: float
    """Processor time of all attempts, s."""
    num_workers: int

    @classmethod
    def of(cls, method: Method) -> RunLimits:
        """Settings of a method; those that it does not have are one motion, in any time, alone."""
        return cls(
            getattr(method, "num_solutions", 1),
            getattr(method, "time_budget", math.inf),
            getattr(method, "num_workers", 1),
        )


def drive(
    problem: Problem, method: Method, *, seed: int, judge: Judge, watcher: Watcher | None = None
) -> Result:
    """Has a method make attempts until enough candidates pass the judge, or the time is up.

    Attempts are counted in the order of their numbers, whoever makes them, so that the result does
    not depend on the number of workers. The time budget is processor time: that which each
    attempt takes in its own process, summed in the same order. A busy machine changes how long one
    waits, not what is found. An attempt begins while the sum of those before it is below the
    budget, and ends by itself at the budget; preparing, compiling and judging are not charged.

    Args:
        problem: What is to be done.
        method: Settings.
        seed: Random seed; the same seed gives the same result.
        judge: Says which candidates are returned.
        watcher: Told how far it has come, and of every clip that passes.
    """
    tell = watcher or _silent
    lacks = method.lacks(problem)
    if lacks:
        return Result((), Status.BAD_INPUT, lacks)
    run = _Run(RunLimits.of(method), seed, judge, tell)
    try:
        tell(Progress(_PREPARING))
        with started_crew(run.limits.num_workers, problem, method) as crew:
            search = method.search(problem)
            obstacle = search.start(crew)
            if obstacle:
                return Result((), Status.INFEASIBLE, obstacle)
            run.collect(search, crew)
    except KeyboardInterrupt:
        run.was_cancelled = True
        run.keep_unfinished()
    return run.result()


class _Accepted(NamedTuple):
    cost: float
    clip: Clip
    certificate: Certificate | None


@dataclass(slots=True)
class _Run:
    """What has been tried, found and refused so far."""

    limits: RunLimits
    seed: int
    judge: Judge
    tell: Watcher
    begin: float = field(default_factory=time.perf_counter)
    preparation: float | None = None
    """s, once it is over."""
    search: Search | None = None
    attempts: list[AttemptLike] = field(default_factory=list)
    seconds: float = 0.0
    """Processor time of all attempts, s."""
    accepted: list[_Accepted] = field(default_factory=list)
    missed: list[_Accepted] = field(default_factory=list)
    """Motions that are certified and do not meet their goals."""
    refused: Counter[str] = field(default_factory=Counter)
    num_refused: int = 0
    details: Counter[str] = field(default_factory=Counter)
    certification: float = 0.0
    """Processor time that the judge has taken, s."""
    was_cancelled: bool = False
    unfinished: str = ""
    """What became of an attempt that was interrupted, in sentences."""
    told: set[int] = field(default_factory=set)
    """Clips that the watcher has been told of, by ``id``."""

    @property
    def missing(self) -> int:
        """How many motions are still wanted."""
        return self.limits.wanted - len(self.accepted)

    def collect(self, search: Search, crew: Crew) -> None:
        """Attempts, until enough candidates have passed or the time is up."""
        self.search = search
        self.preparation = time.perf_counter() - self.begin
        self._show()
        stream = self._alone(search) if crew.is_alone else self._together(search, crew)
        for attempt, seconds in stream:
            # Workers do not know how many are still wanted.
            cut = attempt.first(self.missing)
            self.attempts.append(cut)
            self.seconds += seconds
            for found in cut.found:
                self._offer(search, found)
            if not cut.found:
                self._show()
            if self.missing <= 0:
                return

    def _numbers(self, search: Search) -> Iterator[int]:
        number = 0
        while self.seconds < self.limits.seconds and number != search.max_attempts:
            yield number
            number += 1

    def _alone(self, search: Search) -> Iterator[tuple[AttemptLike, float]]:
        for number in self._numbers(search):
            left = self.limits.seconds - self.seconds
            context = AttemptContext(self.seed, number, self.missing, left, self._show)
            attempt = search.attempt(context)
            yield attempt, context.used

    def _together(self, search: Search, crew: Crew) -> Iterator[tuple[AttemptLike, float]]:
        ahead: deque[Future[tuple[AttemptLike, float]]] = deque()
        for number in self._numbers(search):
            left = self.limits.seconds - self.seconds
            ahead.append(crew.submit(own_attempt, self.seed, number, left))
            if len(ahead) == 2 * crew.num_workers:
                yield ahead.popleft().result()
        while ahead and self.seconds < self.limits.seconds:
            yield ahead.popleft().result()

    def _offer(self, search: Search, found: object) -> None:
        """Has a candidate judged, and keeps and shows it if it passes."""
        judged = self._judged(search, found)
        kept = _Accepted(search.cost(found), judged.clip, judged.certificate)
        if judged.reasons:
            if judged.reasons == (GOALS,):
                self.missed.append(kept)
            self.refused.update(judged.reasons)
            self.num_refused += 1
            self.details[judged.detail] += 1
            # One that only misses its goals may still become the result.
            self._show(refused=() if judged.reasons == (GOALS,) else (kept,))
            return
        self.accepted.append(kept)
        self._show(new=(kept,))

    def _judged(self, search: Search, found: object) -> Judged:
        begin = time.process_time()
        judged = self.judge(search.clip(found))
        self.certification += time.process_time() - begin
        return judged

    def keep_unfinished(self) -> None:
        """Has what an interrupted attempt had come to judged, and keeps it if it is certified."""
        search = self.search
        if search is None:
            return
        # Whoever interrupts this, too, does not want to wait for it.
        with suppress(KeyboardInterrupt):
            for found in search.unfinished():
                judged = self._judged(search, found)
                clip, whole = judged.clip, len(judged.clip.problem.times)
                kept = _Accepted(search.cost(found), clip, judged.certificate)
                self.unfinished = f"It was interrupted after {len(clip.times)} of {whole} frames"
                if set(judged.reasons) <= {GOALS}:
                    self.missed.append(kept)
                    self.unfinished += ", which are kept as a clip."
                else:
                    self.unfinished += f", which are refused: {judged.detail}"
                    self._show(refused=(kept,))

    def _show(
        self,
        statistics: Mapping[str, float] | None = None,
        new: Sequence[_Accepted] = (),
        refused: Sequence[_Accepted] = (),
    ) -> None:
        assert self.search is not None
        self.told |= {id(one.clip) for one in new}
        budget = None if math.isinf(self.limits.seconds) else self.limits.seconds
        figures = self._statistics() | dict(statistics or {})
        self.tell(
            Progress(
                self.search.stage, figures, self.seconds, budget,
                tuple(one.clip for one in new), _certificates(new),
                tuple(one.clip for one in refused), _certificates(refused),
            )
        )  # fmt: skip

    def _statistics(self) -> dict[str, float]:
        found = {} if self.search is None else self.search.statistics(self.attempts)
        return found | {
            "attempts": float(len(self.attempts)),
            "solutions": float(len(self.accepted)),
            "refused": float(self.num_refused),
        }

    def result(self) -> Result:
        """What it came to."""
        found = self.accepted or self.missed[: self.limits.wanted]
        best_first = sorted(found, key=lambda one: one.cost)
        # An interrupt may have come between finding a clip and telling of it.
        untold = [one for one in best_first if id(one.clip) not in self.told]
        if untold:
            self._show(new=untold)
        status = self._status()
        messages = {Status.SOLVED: "", Status.CANCELLED: self.unfinished}
        return Result(
            tuple(one.clip for one in best_first),
            status,
            messages[status] if status in messages else self._shortfall(),
            self._statistics(),
            self._timings(),
            _certificates(best_first),
            dict(self.refused),
        )

    def _status(self) -> Status:
        if self.missing <= 0:
            return Status.SOLVED
        if self.was_cancelled:
            return Status.CANCELLED
        if self.accepted:
            return Status.PARTLY_SOLVED
        if self.missed:
            return Status.GOALS_MISSED
        if self.num_refused:
            return Status.REFUSED
        is_over = self.seconds >= self.limits.seconds
        return Status.TIME_BUDGET if is_over else Status.INFEASIBLE

    def _timings(self) -> dict[str, float]:
        since = time.perf_counter() - self.begin
        timings: Counter[str] = Counter()
        for attempt in self.attempts:
            timings.update(attempt.timings)
        return {
            "preparation": since if self.preparation is None else self.preparation,
            **timings,
            "certification": self.certification,
        }

    def _shortfall(self) -> str:
        """How much was found, what was refused, and why other attempts failed."""
        tries = "1 attempt" if len(self.attempts) == 1 else f"{len(self.attempts)} attempts"
        parts = [f"{len(self.accepted)} of {self.limits.wanted} motions after {tries}."]
        if self.num_refused:
            by = ", ".join(f"{name} {count}" for name, count in sorted(self.refused.items()))
            parts.append(f"Refused: {self.num_refused} ({by}). {most_frequent(self.details)}")
        cause = "" if self.search is None else self.search.cause(self.attempts)
        return " ".join([*parts, cause]).strip()


def _certificates(found: Sequence[_Accepted]) -> tuple[Certificate, ...]:
    return tuple(one.certificate for one in found if one.certificate is not None)


def _silent(_progress: Progress) -> None:
    """Nobody watches."""
