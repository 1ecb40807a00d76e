"""The method: interactive manipulation, one optimisation for each frame."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from handwright.core.paper import Paper
from handwright.core.problem import Problem
from handwright.core.result import Progress, Result, Status, Watcher
from handwright.deprecated import renamed_fields
from handwright.methods.stepwise.objectives.current_goals import goal_lacks
from handwright.methods.stepwise.objectives.holding import NoGripError
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
class Stepwise(Settings):
    """Hands that reach, grasp and manipulate frame by frame and react to pushes, by Liu 2008."""

    name: ClassVar[str] = "stepwise"
    title: ClassVar[str] = "Interactive stepping"
    suited_to: ClassVar[str] = "Grips say which hand takes which body; reacts to pushes."
    papers: ClassVar[tuple[Paper, ...]] = (_PAPER,)

    def solve(self, problem: Problem, seed: int, watcher: Watcher | None = None) -> Result:
        """Needs starts of all hands and bodies, and grips; goals say where bodies are to go."""
        lacks = _lacks(problem)
        if lacks:
            return Result((), Status.BAD_INPUT, "Stepping " + "; ".join(lacks) + ".")
        begin = time.monotonic()
        if watcher is not None:
            watcher(Progress("finding grasps, and compiling what is not compiled yet"))
        settings = Settings(**{item.name: getattr(self, item.name) for item in fields(Settings)})
        try:
            session = Session(problem, settings, seed=seed)
        except NoGripError as error:
            return Result((), Status.INFEASIBLE, str(error))
        start = time.monotonic()
        was_cancelled = False
        steps = np.diff(problem.times)
        try:
            for n, step in enumerate(steps):
                session.step(float(step))
                if watcher is not None and n % _TELL_EVERY == 0:
                    done = {"frames": float(n + 1), "frames to go": float(len(steps) - n - 1)}
                    watcher(Progress("stepping", done, time.monotonic() - start))
        except KeyboardInterrupt:
            was_cancelled = True
        tally = session.tally
        statistics = {
            "frames": float(tally.frames),
            "most contacts": float(tally.contacts_max),
            "frames without limits": float(tally.infeasible),
            "corrections": float(tally.corrections),
            "added energy J": tally.added_energy,
        }
        timings = {"preparation": start - begin, "stepping": time.monotonic() - start}
        status = Status.CANCELLED if was_cancelled else Status.SOLVED
        return Result((session.clip(self.name),), status, "", statistics, timings)


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
