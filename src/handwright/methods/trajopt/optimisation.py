"""The search of contact-invariant optimisation: attempts from many starts, clips and messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.methods.base import AttemptContext, Search
from handwright.methods.trajopt.attempt import Outcome, attempt
from handwright.methods.trajopt.clips import make_clip
from handwright.methods.trajopt.model.model import with_radius
from handwright.methods.trajopt.model.transcribe import Transcription
from handwright.methods.trajopt.skin_fit import fit_skin
from handwright.methods.trajopt.solver.measures import LIMITS, MEASURES, UNITS
from handwright.methods.trajopt.stored_forces import settled

if TYPE_CHECKING:
    from handwright.methods.trajopt.method import ContactInvariant


@dataclass(frozen=True, slots=True)
class OneStart:
    """What the attempt from one start came to."""

    outcome: Outcome
    seconds: float

    @property
    def found(self) -> Sequence[Outcome]:
        """The motion, if it keeps the laws and meets its goals."""
        return (self.outcome,) if self.outcome.is_good else ()

    @property
    def timings(self) -> dict[str, float]:
        """s, by stage."""
        return {"optimisation": self.seconds}

    def first(self, count: int) -> Self:
        """The same; one start gives one motion at most."""
        del count
        return self


class Optimisation(Search):
    """Attempts that each optimise a motion from a start of their own."""

    stage = "optimising"

    def __init__(self, problem: Problem, method: ContactInvariant) -> None:
        self._problem, self._method = problem, method
        self.max_attempts = method.max_attempts

    @cached_property
    def transcriptions(self) -> tuple[Transcription, Transcription]:
        """The problem as arrays, with coarse and with fine keys."""
        return self._method.ready(self._problem)

    def warm_up(self) -> None:
        """Makes one short attempt, for which all kernels are compiled or loaded."""
        short = replace(
            self._method.attempt_settings,
            stage_iterations=1, tight_iterations=1, fine_iterations=1, max_repairs=0,
        )  # fmt: skip
        outcome = attempt(*self.transcriptions, 0, short)
        fit_skin(self.transcriptions[1], outcome.keys)

    def attempt(self, context: AttemptContext) -> OneStart:
        """One motion, good or not."""
        outcome = attempt(
            *self.transcriptions,
            (context.seed, context.number),
            self._method.attempt_settings,
            lambda: context.is_over,
        )
        return OneStart(outcome, context.used)

    def clip(self, found: Outcome) -> Clip:
        """The motion at the frames of the problem."""
        fine = self.transcriptions[1]
        transcription = fine._replace(model=with_radius(fine.model, found.radius))
        return settled(make_clip(transcription, found.keys, self._method.name))

    def cost(self, found: Outcome) -> float:
        """The cost of the optimisation."""
        return found.cost

    def statistics(self, attempts: Sequence[OneStart]) -> dict[str, float]:
        """Iterations, and the errors of the attempt that came nearest to its limits."""
        outcomes = [one.outcome for one in attempts]
        figures = {"iterations": float(sum(one.iterations for one in outcomes))}
        best = min(outcomes, key=lambda one: one.measured.excess, default=None)
        if best is not None:
            figures |= {f"best_{name}": best.measured.worst[name] for name in MEASURES}
        return figures

    def cause(self, attempts: Sequence[OneStart]) -> str:
        """What is wrong with the best of the attempts that were no good."""
        failed = [one.outcome for one in attempts if not one.outcome.is_good]
        if not failed:
            return ""
        best = min(failed, key=lambda one: one.measured.excess)
        name = best.cause
        if name not in MEASURES:
            return f"In the best other, {name}."
        return (
            f"The best other does not meet '{name}': "
            f"{best.measured.worst[name]:.3g} {UNITS[name]}, expected at most {LIMITS[name]:g}. "
            f"{_REMEDIES[name]}"
        )


_REMEDIES = {
    "gap": "Give the motion more time, so that hands can change their grip.",
    "slip": "Give the motion more time, or shorter phases (phase_time).",
    "force": "Ask for slower motion of the body, or let hands touch it for longer.",
    "moment": "Ask for slower turning of the body, or let hands touch it for longer.",
    "cone": "Raise the friction, or ask for slower motion.",
    "penetration": "See whether the goal or the start lies inside something.",
    "limit": "Move the goal to where the hand can reach it, or start the hand elsewhere.",
    "goal": "Move the goal to where the hand can bring the body, or give more time.",
    "strength": "Make the body lighter, or its friction higher.",
    "push": "Ask for weaker pushes (push_force), or raise the friction.",
}
