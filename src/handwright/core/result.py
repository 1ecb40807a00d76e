"""What a method gives back: clips, how it went, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from handwright.core.certificate import Certificate
from handwright.core.clip import Clip
from handwright.errors import HandwrightError


class Status(Enum):
    """How a method ended; the text says what to change."""

    SOLVED = "solved"
    PARTLY_SOLVED = (
        "fewer solutions than asked for: raise the time budget, or ask for fewer, or less diverse, "
        "solutions"
    )
    TIME_BUDGET = "the time budget ran out before a solution: raise it"
    GOALS_MISSED = (
        "the motion is certified, but does not meet its goals: see the message for the first of "
        "them; it is returned all the same"
    )
    REFUSED = (
        "motions were found, but the certificate refused them: see the message for the reasons"
    )
    INFEASIBLE = "no motion can do this: see the message for the frame and the cause"
    BAD_INPUT = "the method cannot take this problem: see the message for what is missing"
    CANCELLED = "stopped by the user; what had been found is returned"

    @property
    def is_success(self) -> bool:
        """Whether there is at least one clip that answers the problem."""
        return self in (Status.SOLVED, Status.PARTLY_SOLVED)


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far a method has come, for those who watch it."""

    stage: str
    """What it does, as in "searching"."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """The counts and ratios of the result, so far."""
    seconds: float = 0.0
    """s of processor time that the stage has taken so far."""
    budget: float | None = None
    """s of processor time that the stage may take; None if nobody knows."""
    clips: tuple[Clip, ...] = ()
    """Found since this was last told. A watcher of ``synthesize`` is told every clip of the result
    once, as soon as it is certified."""
    certificates: tuple[Certificate, ...] = ()
    """Certificates of these clips, in their order; empty if nobody judges them."""
    refused_clips: tuple[Clip, ...] = ()
    """Motions that the certificate has refused since this was last told, for those who want to see
    what is wrong with them. No result holds them."""
    refused_certificates: tuple[Certificate, ...] = ()
    """Certificates of the refused, in their order."""

    @property
    def judged_clips(self) -> Iterator[tuple[Clip, Certificate | None]]:
        """The clips, each with its certificate, or None if nobody judges them."""
        return _judged(self.clips, self.certificates)

    @property
    def judged_refusals(self) -> Iterator[tuple[Clip, Certificate | None]]:
        """The refused, each with its certificate, or None if it has none."""
        return _judged(self.refused_clips, self.refused_certificates)


def _judged(
    clips: tuple[Clip, ...], certificates: tuple[Certificate, ...]
) -> Iterator[tuple[Clip, Certificate | None]]:
    return zip(clips, certificates or (None,) * len(clips), strict=True)


Watcher = Callable[[Progress], None]
"""Called by a method now and then. It must be quick: the method waits for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Clips, best first, with the outcome and statistics of the run."""

    clips: tuple[Clip, ...]
    status: Status
    message: str = ""
    """What failed, where, and what to change; empty when all went well."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """Counts and ratios by name."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """s, by stage; ``certification`` is processor time, as budgets are."""
    certificates: tuple[Certificate, ...] = ()
    """Certificates of the clips, in their order; empty with ``certify=False``."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Number of motions that were found and not returned, by reason: names of checks of the
    certificate, or ``goals``. A motion with several faults is counted under each of them."""

    def __repr__(self) -> str:
        text = f"Result({self.status.name}, {len(self.clips)} clips"
        return f"{text}, {self.message!r})" if self.message else f"{text})"

    @property
    def best(self) -> Clip:
        """The best clip."""
        if not self.clips:
            raise NoSolutionError(self)
        return self.clips[0]


class NoSolutionError(HandwrightError, RuntimeError):
    """A method that found nothing; the result is attached as ``result``."""

    def __init__(self, result: Result) -> None:
        self.result = result
        text = f"{result.status.name}: {result.status.value}"
        super().__init__(f"{text}. {result.message}" if result.message else f"{text}.")
