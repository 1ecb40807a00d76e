"""The method: contact-invariant optimisation of whole motions from goals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from handwright.core.goal import XYZ
from handwright.core.problem import Problem
from handwright.core.settings import check_settings, setting
from handwright.methods.about import Paper
from handwright.methods.base import Method, num_workers_setting, time_budget_setting, untracked
from handwright.methods.trajopt.model.shape import CORNERS
from handwright.methods.trajopt.model.transcribe import (
    Transcription,
    TranscriptionSettings,
    phases_of,
    transcribe,
)
from handwright.methods.trajopt.optimisation import Optimisation
from handwright.methods.trajopt.schedule.search import AttemptSettings

# Near both ends of a phase, where contacts begin and end; cubics leave little room between.
_FINE_FRACTIONS = (0.01, 0.12, 0.35, 0.65, 0.88, 0.99)
# By how much of a turn a spin may miss whole ones: about 0.4 degrees.
_TURN_SLACK = 1e-3
_PAPER = Paper(
    key="MordatchPopovicTodorov2012",
    authors=("Igor Mordatch", "Zoran Popović", "Emanuel Todorov"),
    title="Contact-Invariant Optimization for Hand Manipulation",
    venue="Proceedings of the ACM SIGGRAPH/Eurographics Symposium on Computer Animation",
    year=2012,
    kind="inproceedings",
    doi="10.2312/SCA/SCA12/137-144",
    details=(("pages", "137--144"),),
)


@dataclass(frozen=True, slots=True)
class ContactInvariant(Method):
    """Motions of hands and a body from goals alone, by Mordatch, Popovic & Todorov 2012."""

    name: ClassVar[str] = "trajopt"

    title: ClassVar[str] = "Contact-invariant optimisation"
    suited_to: ClassVar[str] = "Goals say where one body is to be, and when; the rest is wanted."
    papers: ClassVar[tuple[Paper, ...]] = (_PAPER,)

    num_solutions: int = setting(
        1,
        at_least=1,
        label="Motions",
        basic=True,
        help="How many motions to look for; each has a start of its own.",
    )
    time_budget: float = time_budget_setting()
    max_attempts: int = setting(
        40, at_least=1, label="Attempts", help="Number of starts before it is given up."
    )
    phase_time: float = setting(
        0.5,
        unit="s",
        above=0.0,
        label="Time between keys",
        help="Time between key states, fitted to the length of the motion; contacts change at "
        "keys only.",
    )
    samples_per_phase: int = setting(
        10,
        at_least=4,
        label="Moments between keys",
        help="Moments of a phase at which the laws of motion and contact are asked for; the finer "
        "pass has six of its own in every half.",
    )
    squeeze: float = setting(
        1.5,
        unit="weights",
        at_least=0.0,
        help="Least force of a thumb that touches, in weights of the body; fingers press with a "
        "quarter of it. Makes hands grasp where they could balance; 0 for the paper's own costs.",
    )
    friction_margin: float = setting(
        0.8,
        above=0.0,
        at_most=1.0,
        label="Share of friction used",
        help="Share of the friction that plans may use.",
    )
    pushes: int = setting(
        0,
        choices=tuple(CORNERS),
        label="Ready for pushes",
        basic=True,
        help="Sets of forces with which contacts take pushes at the body's tip: 4, or 6 for less "
        "strong ones. Motions that cannot take them are not returned. 0 for no pushes.",
    )
    push_force: float = setting(
        0.25,
        unit="N",
        above=0.0,
        label="Strongest push",
        help="Force up to which the body may be pushed from any side while hands hold it in the "
        "second half; only with pushes.",
    )
    free_times: bool = setting(
        False,
        label="Keys may move in time",
        help="Whether phases may take half to twice as long as they would; phases between two "
        "times that goals, strokes or touch spans give share the time between them.",
    )
    coupled: bool = setting(
        True,
        label="Last joints bend together",
        help="Whether the last joints of fingers bend with those before them, as people's do.",
    )
    num_workers: int = num_workers_setting()

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def attempt_settings(self) -> AttemptSettings:
        """Settings that every attempt uses."""
        return AttemptSettings(self.squeeze, self.friction_margin)

    def ready(self, problem: Problem) -> tuple[Transcription, Transcription]:
        """The problem as arrays, with coarse and with fine keys."""
        settings = TranscriptionSettings(
            num_phases=phases_of(problem, self.phase_time),
            fractions=[(n + 0.5) / self.samples_per_phase for n in range(self.samples_per_phase)],
            is_coupled=self.coupled,
            num_pushes=self.pushes,
            push_size=self.push_force,
            has_free_times=self.free_times,
        )
        coarse = transcribe(problem, settings)
        denser = replace(settings, num_phases=2 * settings.num_phases, fractions=_FINE_FRACTIONS)
        fine = transcribe(problem, denser)
        return coarse, fine

    @classmethod
    def suits(cls, problem: Problem) -> float:
        """Problems with goals for things that have no tracks."""
        return 0.8 if problem.goals and untracked(problem) else 0.0

    def lacks(self, problem: Problem) -> str:
        """Needs one body, starts of it and of all hands, and goals."""
        lacks = _lacks(problem)
        return f"Contact-invariant optimisation {'; '.join(lacks)}." if lacks else ""

    def search(self, problem: Problem) -> Optimisation:
        """Attempts that each optimise a motion from a start of their own."""
        return Optimisation(problem, self)


def _lacks(problem: Problem) -> list[str]:
    lacks = []
    if not problem.hands:
        lacks.append("needs a hand. Add one to the problem")
    if len(problem.bodies) != 1:
        lacks.append(f"moves one body and was given {len(problem.bodies)}. Leave one")
    missing = [name for name in (*problem.hands, *problem.bodies) if name not in problem.start]
    if missing:
        lacks.append(f"needs start poses of {', '.join(missing)}. Add them to 'start'")
    if not problem.goals:
        lacks.append("needs goals: say where the body should be, and when")
    if len(problem.times) < 4:
        lacks.append(f"needs four frames or more and was given {len(problem.times)}")
    if not np.any(problem.gravity):
        lacks.append("counts forces in weights, and there is no gravity. Give a small one")
    return lacks + _rate_lacks(problem)


def _rate_lacks(problem: Problem) -> list[str]:
    """What is wrong with goals for velocities; turning on and on is prescribed, as it is."""
    if any(goal.axes != XYZ or goal.velocity is not None for goal in problem.goals):
        return [
            "goes for whole positions, not for single axes or velocities. Give position without "
            "axes and velocity, or use the method stepwise"
        ]
    if any(g.spin is not None and (g.wxyz is None or g.start == g.end) for g in problem.goals):
        return ["spins bodies from an orientation on. Give wxyz and a span of time with the spin"]
    spins = [
        g.spin for g in problem.goals if g.spin is not None and g.feature.owner in problem.bodies
    ]
    if not spins:
        return []
    if not problem.is_cyclic:
        return ["spins bodies in cyclic motions only. Say 'cyclic: true', or give goals of moments"]
    if any(not np.allclose(spin, spins[0]) for spin in spins):
        return [f"spins a body in one way and was given {len(spins)}. Leave one goal with a spin"]
    duration = float(problem.times[-1] - problem.times[0])
    rate = float(np.linalg.norm(spins[0]))
    turns = rate * duration / (2.0 * np.pi)
    if abs(turns - round(turns)) > _TURN_SLACK or round(turns) < 1:
        whole = 360.0 * max(round(turns), 1) / duration
        return [
            f"needs whole turns in a cycle: {np.degrees(rate):g} degrees/s for {duration:g} s are "
            f"{turns:.3g} turns. Spin with {whole:g} degrees/s, or change the duration"
        ]
    return []
