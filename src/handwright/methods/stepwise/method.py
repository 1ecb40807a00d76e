"""The method: interactive manipulation, one optimisation for each frame."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.tolerances import GoalTolerances
from handwright.deprecated import renamed_fields
from handwright.methods.base import Attempt, AttemptContext, Method, Search
from handwright.methods.paper import Paper
from handwright.methods.stepwise.objectives.current_goals import goal_lacks
from handwright.methods.stepwise.objectives.planned_grasps import NoGripError
from handwright.methods.stepwise.recording import Moment, make_clip
from handwright.methods.stepwise.session import MAX_STEP, Session
from handwright.methods.stepwise.settings import Settings

# How often a watcher is told, in frames.
_TELL_EVERY = 15
# Frames are this evenly spaced, s.
_EVEN = 1e-6
_PAPER = Paper(
    key="Liu2008",
    authors=("C. Karen Liu",),
    title="Synthesis of Interactive Hand Manipulation",
    venue="Proceedings of the ACM SIGGRAPH/Eurographics Symposium on Computer Animation",
    year=2008,
    kind="inproceedings",
    doi="10.2312/SCA/SCA08/163-171",
    details=(("pages", "163--171"),),
)


@renamed_fields
@dataclass(frozen=True, slots=True)
class Stepwise(Settings, Method):
    """Hands that grasp and manipulate frame by frame and react to pushes, by Liu 2008."""

    name: ClassVar[str] = "stepwise"
    title: ClassVar[str] = "Interactive stepping"
    suited_to: ClassVar[str] = "Grips say which hand takes which body; reacts to pushes."
    papers: ClassVar[tuple[Paper, ...]] = (_PAPER,)

    @classmethod
    def suits(cls, problem: Problem) -> float:
        """Problems that say which hand takes which body."""
        return 1.0 if problem.grips else 0.0

    def goal_tolerances(self, problem: Problem) -> GoalTolerances:
        """Hands that react may be late and may be pushed away: what counts is where goals end."""
        del problem
        return GoalTolerances(position=0.02, angle=math.radians(10.0), at_end=True)

    def lacks(self, problem: Problem) -> str:
        """Needs starts of all hands and bodies, and grips; goals say where bodies are to go."""
        lacks = _lacks(problem)
        return f"Stepping {'; '.join(lacks)}." if lacks else ""

    def search(self, problem: Problem) -> Stepping:
        """One motion, frame by frame."""
        return Stepping(problem, self)


class Stepping(Search):
    """The one motion that a seed gives, frame by frame."""

    stage = "stepping"
    max_attempts = 1

    def __init__(self, problem: Problem, method: Stepwise) -> None:
        self._problem, self._method = problem, method
        self._moments: deque[Moment] = deque()
        self._num_done = 0

    def attempt(self, context: AttemptContext) -> Attempt:
        """Finds grasps, and steps through all frames."""
        method, begin = self._method, time.perf_counter()
        settings = Settings(**{item.name: getattr(method, item.name) for item in fields(Settings)})
        try:
            session = Session(self._problem, settings, seed=context.seed)
        except NoGripError as error:
            return Attempt(causes=Counter([str(error)]))
        start = time.perf_counter()
        steps = np.diff(self._problem.times)
        self._moments = session.moments
        for n, step in enumerate(steps):
            session.step(float(step))
            self._num_done = n + 1
            if n % _TELL_EVERY == 0:
                context.tell({"frames": n + 1.0, "frames to go": len(steps) - n - 1.0})
        tally = session.tally
        statistics = {
            "frames": float(tally.frames),
            "most contacts": float(tally.contacts_max),
            "frames without limits": float(tally.infeasible),
            "corrections": float(tally.corrections),
            "added energy J": tally.added_energy,
        }
        timings = {"grasps": start - begin, "stepping": time.perf_counter() - start}
        return Attempt((session.clip(method.name),), Counter(), statistics, timings)

    def unfinished(self) -> Sequence[Clip]:
        """The frames so far; an interrupted one may have left more, which do not count."""
        if self._num_done == 0:
            return ()
        moments = list(self._moments)[: self._num_done + 1]
        return (make_clip(self._problem, moments, self._method.name, first=0),)

    def cause(self, attempts: Sequence[Attempt]) -> str:
        """Why no grasp was found, if none was."""
        return " ".join(cause for attempt in attempts for cause in attempt.causes)


def _lacks(problem: Problem) -> list[str]:
    """What is missing for stepping."""
    lacks = []
    placed = {*problem.start, *problem.tracks}
    missing = [name for name in (*problem.hands, *problem.bodies) if name not in placed]
    if missing:
        lacks.append(f"needs a start of {', '.join(missing)}")
    if not problem.bodies:
        lacks.append("needs a body")
    if not problem.grips and not any(goal.feature.owner in problem.hands for goal in problem.goals):
        lacks.append(
            "needs grips, which hand takes which body, and in what style; or goals for a hand"
        )
    lacks += goal_lacks(problem.goals)
    steps = np.diff(problem.times)
    if len(steps) == 0 or np.ptp(steps) > _EVEN or steps[0] > MAX_STEP:
        lacks.append(f"needs evenly spaced frames, at most {MAX_STEP} s apart")
    if problem.is_cyclic:
        lacks.append("does not make cyclic motions")
    return lacks
