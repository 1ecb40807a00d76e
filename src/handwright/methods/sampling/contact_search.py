"""The search of contact sampling: preparation, attempts, clips and statistics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.methods.base import AttemptContext, Search
from handwright.methods.sampling.attempt import HoldMotion, TreeAttempt, run_attempt
from handwright.methods.sampling.constraints.checking import limiting_settings
from handwright.methods.sampling.finish.clips import assemble_clip
from handwright.methods.sampling.setup.feasibility import (
    find_infeasibility,
    find_search_infeasibility,
)
from handwright.methods.sampling.setup.prepare import HoldSearch, prepare
from handwright.methods.sampling.warm_up import compile_early, warm_up
from handwright.methods.workers import Crew

if TYPE_CHECKING:
    from handwright.methods.sampling.method import ContactSampling


class ContactSearch(Search):
    """Attempts that each grow a tree of contacts for every hold of a problem."""

    def __init__(self, problem: Problem, method: ContactSampling) -> None:
        self._problem, self._method = problem, method

    @cached_property
    def holds(self) -> list[HoldSearch]:
        """The holds of the problem, ready to be searched."""
        return prepare(self._problem, self._method)

    def start(self, crew: Crew) -> str:
        """Says why the problem cannot be solved, or compiles with the help of the workers."""
        early, method = compile_early(crew), self._method
        infeasibility = find_infeasibility(
            self._problem, cutoff_hz=method.smoothing_hz, max_force=method.max_force
        )
        if infeasibility is None:
            infeasibility = find_search_infeasibility(
                self.holds, settings=limiting_settings(method)
            )
        if infeasibility is not None:
            return infeasibility
        warm_up(self.holds[0], crew, early)
        return ""

    def warm_up(self) -> None:
        """Loads what the first process has compiled."""
        warm_up(self.holds[0])

    def attempt(self, context: AttemptContext) -> TreeAttempt:
        """Motions from one tree for each hold."""
        return run_attempt(self.holds, self._method, context)

    def clip(self, found: tuple[HoldMotion, ...]) -> Clip:
        """The motions of all holds, put together."""
        return assemble_clip(self._problem, self.holds, found, self._method.name)

    def cost(self, found: tuple[HoldMotion, ...]) -> float:
        """The strain of all motions: the least strained solution is the best."""
        return sum(part.strain for part in found)

    def statistics(self, attempts: Sequence[TreeAttempt]) -> dict[str, float]:
        """The columns of the paper's Table 1."""
        solutions = sum(len(attempt.solutions) for attempt in attempts)
        efforts = [attempt.effort for attempt in attempts]
        total = sum(effort.frames for effort in efforts)
        dead_ends = sum(effort.dead_ends for effort in efforts)
        success = sum(attempt.success_frames for attempt in attempts)
        return {
            "dead_ends": float(dead_ends),
            "total_frames": float(total),
            "success_frames": float(success),
            "success_ratio": success / total if total else 0.0,
            "solution_ratio": solutions / (solutions + dead_ends) if solutions + dead_ends else 0.0,
            "dropped": float(sum(effort.dropped for effort in efforts)),
        }
