"""The method: a simulated arm throws things and catches them again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from handwright.core.problem import Problem
from handwright.core.settings import check_settings, setting
from handwright.core.tolerances import Tolerances
from handwright.methods.about import Paper
from handwright.methods.base import (
    Attempt,
    AttemptContext,
    Method,
    Search,
    num_workers_setting,
    time_budget_setting,
)
from handwright.methods.throwing.what_is_lacking import lacking

_PAPER = Paper(
    key="Luo2024",
    authors=("Yunhao Luo",),
    title="Can We Teach Computers Magic Tricks?",
    venue="McGill University",
    year=2024,
    kind="mastersthesis",
)
# What skin and flesh give way in a simulated catch: see docs/derivations/throwing.md.
_SOFT = Tolerances(
    force_residual=0.1,
    moment_residual=0.1,
    gap=5e-3,
    contact_distance=0.012,
    penetration=3e-3,
    soft_tissue=3e-3,
    skin_stretch=6e-3,
    static_drift=2e-3,
)


@dataclass(frozen=True, slots=True)
class CatchThrow(Method):
    """An arm with a hand, simulated, that throws things up or at a box and catches them again."""

    name: ClassVar[str] = "throwing"
    title: ClassVar[str] = "Catching and throwing"
    suited_to: ClassVar[str] = "Tosses say how high a thing goes, or at which box it is thrown."
    papers: ClassVar[tuple[Paper, ...]] = (_PAPER,)

    num_solutions: int = setting(
        1,
        at_least=1,
        at_most=1000,
        label="Motions",
        basic=True,
        help="How many motions to look for.",
    )
    time_budget: float = time_budget_setting()
    num_workers: int = num_workers_setting()
    drive: Literal["computed_torque", "pd"] = setting(
        "computed_torque",
        help="Whether joints get the torques that their planned motion takes, or are pulled along "
        "by springs alone, as in the thesis.",
    )
    practice: int = setting(
        6,
        at_least=0,
        at_most=50,
        basic=True,
        help="How often a toss that is too high, too low or dropped is tried again, from where the "
        "hand was, with another velocity.",
    )
    nearest: float = setting(
        0.003,
        unit="m",
        above=0.0,
        help="Error of the height up to which a toss is not tried again.",
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def suits(cls, problem: Problem) -> float:
        """Problems with tosses."""
        return 1.0 if problem.tosses else 0.0

    def tolerances(self, problem: Problem) -> Tolerances:
        """Soft contact: skin and flesh give way by millimetres where a hand catches."""
        del problem
        return _SOFT

    def lacks(self, problem: Problem) -> str:
        """Needs tosses, a hand with an arm, and a thing that it can throw."""
        missing = lacking(problem)
        return f"Throwing {'; '.join(missing)}." if missing else ""

    def search(self, problem: Problem) -> Tossing:
        """Attempts that each throw all of the tosses."""
        return Tossing(problem, self)


class Tossing(Search):
    """Motions that a problem's tosses give; hands throw a little differently in each."""

    stage = "throwing"
    max_attempts = 12

    def __init__(self, problem: Problem, method: CatchThrow) -> None:
        self._problem, self._method = problem, method

    def attempt(self, context: AttemptContext) -> Attempt:
        """All tosses, one after the other; as planned in the first attempt, and else varied."""
        # MuJoCo is loaded only where something is thrown.
        from handwright.methods.throwing.performance import perform
        from handwright.physics.throwing.arm import Gains
        from handwright.physics.throwing.machine import MachineSettings, varied

        method = self._method
        settings = MachineSettings()
        if context.number > 0:
            settings = varied(settings, context.rng())
        done = perform(
            self._problem,
            settings,
            Gains(drive=method.drive),
            rng=context.rng(1),
            practice=method.practice,
            nearest=method.nearest,
            tell=lambda number: context.tell({"tosses": float(number)}),
        )
        if done.cause:
            return Attempt(causes=Counter([done.cause]))
        errors = [abs(error) for error in done.errors]
        statistics = {
            "tosses": float(len(self._problem.tosses)),
            "tries": float(done.tries),
            "mean error mm": 1e3 * float(np.mean(errors)) if errors else 0.0,
        }
        return Attempt((done.clip,), Counter(), statistics)
