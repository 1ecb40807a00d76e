"""What every method is: a frozen dataclass of settings that turns a problem into a result."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar, Protocol, runtime_checkable

from handwright.core.clip import Clip, Provenance
from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Progress, Result, Watcher
from handwright.deprecated import renamed_attributes, renamed_keywords
from handwright.errors import InvalidValueError
from handwright.methods.provenance import provenance_of


@runtime_checkable
class Method(Protocol):
    """Settings of a method; implementations are frozen dataclasses."""

    name: ClassVar[str]
    """Name in ``METHODS`` and on the command line."""

    def solve(self, problem: Problem, seed: int, watcher: Watcher | None = None) -> Result:
        """Answers a problem; the same seed gives the same bytes on the same machine.

        A method that takes long tells the watcher now and then how far it has come; others need
        not. Being watched changes nothing in the answer.
        """


@renamed_keywords(watcher="on_progress")
def synthesize(
    problem: Problem,
    method: Method,
    *,
    seed: int = 0,
    throw: bool = False,
    on_progress: Watcher | None = None,
) -> Result:
    """Turns a problem into clips: the one verb of the package.

    Args:
        problem: Hands, bodies, tracks and goals.
        method: Settings of the method to use.
        seed: Random seed; the same seed gives the same result.
        throw: Raise ``NoSolutionError``, with the result attached, unless the method succeeds.
        on_progress: Called now and then with the ``Progress`` of methods that tell it, and with the
            clips of the result as they are found.

    Returns:
        Clips, best first, each stamped with how it was made; and the outcome.
    """
    if not isinstance(method, Method):
        raise InvalidValueError(
            f"synthesize was given {method!r} as the method; expected an object such as "
            "ContactSampling() or Scripted()."
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidValueError(f"Seed is {seed!r}; expected a whole number of 0 or more.")
    start = time.perf_counter()
    stamp = provenance_of(problem, method, seed)
    stamper = _Stamper(stamp, on_progress)
    result = method.solve(problem, seed, None if on_progress is None else stamper.watch)
    result = replace(
        result,
        clips=stamper.stamped(result.clips),
        timings={**result.timings, "total": time.perf_counter() - start},
    )
    stamper.tell_rest(result)
    if throw and not result.status.is_success:
        raise NoSolutionError(result)
    return result


class _Stamper:
    """Stamps clips with how they were made, and sees to it that watchers are told of each once."""

    def __init__(self, stamp: Provenance, watcher: Watcher | None) -> None:
        self._stamp, self._watcher = stamp, watcher
        # The clips themselves are kept too: the id of one that is gone may be another's.
        self._known: dict[int, tuple[Clip, Clip]] = {}
        self._told: set[int] = set()

    def watch(self, progress: Progress) -> None:
        """Passes on what a method tells."""
        assert self._watcher is not None  # else methods are given none
        clips = self.stamped(progress.clips)
        self._told |= {id(clip) for clip in clips}
        self._watcher(replace(progress, clips=clips))

    def stamped(self, clips: tuple[Clip, ...]) -> tuple[Clip, ...]:
        """The clips with their provenance; for the same clip always the same one."""
        for clip in clips:
            if id(clip) not in self._known:
                self._known[id(clip)] = clip, replace(clip, provenance=self._stamp)
        return tuple(self._known[id(clip)][1] for clip in clips)

    def tell_rest(self, result: Result) -> None:
        """Tells of the clips that the method did not tell of."""
        rest = tuple(clip for clip in result.clips if id(clip) not in self._told)
        if self._watcher is not None and rest:
            self._watcher(Progress("done", result.statistics, clips=rest))


def untracked(problem: Problem) -> list[str]:
    """Names of the hands and bodies of a problem that have no track."""
    return [name for name in (*problem.hands, *problem.bodies) if name not in problem.tracks]


def default_method(problem: Problem) -> str:
    """Name of the method that suits what a problem gives: grips, goals, or tracks of everything."""
    if problem.grips:
        return "stepwise"
    return "trajopt" if problem.goals and untracked(problem) else "sampling"


def advice_on_goals(problem: Problem) -> str:
    """What to do with a problem that gives goals, for the message of a method that takes none."""
    if default_method(problem) != "trajopt":
        return ""
    return " The problem gives goals instead: use the method 'trajopt', which works from them."


__getattr__ = renamed_attributes(__name__, {"usual_method": "handwright.methods.default_method"})
