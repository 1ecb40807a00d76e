"""The method: contact-invariant optimisation of whole motions from goals."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool

from handwright.core.clip import Clip
from handwright.core.goal import XYZ
from handwright.core.paper import Paper
from handwright.core.problem import Problem
from handwright.core.result import Progress, Result, Status, Watcher
from handwright.core.settings import check_settings, setting
from handwright.methods.search_settings import num_workers_setting, time_budget_setting
from handwright.methods.trajopt.attempt import Outcome
from handwright.methods.trajopt.attempt_settings import AttemptSettings
from handwright.methods.trajopt.attempts import started_attempts, warm_up
from handwright.methods.trajopt.clips import make_clip
from handwright.methods.trajopt.model.model import with_radius
from handwright.methods.trajopt.model.scenarios import CORNERS
from handwright.methods.trajopt.model.transcribe import (
    KEY_SLACK,
    Transcription,
    TranscriptionSettings,
    phases_of,
    transcribe,
)
from handwright.methods.trajopt.solver.measures import LIMITS, MEASURES, UNITS

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
class ContactInvariant:
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

    def solve(self, problem: Problem, seed: int, watcher: Watcher | None = None) -> Result:
        """Needs one body, starts of it and of all hands, and goals."""
        lacks = _lacks(problem)
        if lacks:
            return Result(
                (), Status.BAD_INPUT, "Contact-invariant optimisation " + "; ".join(lacks) + "."
            )
        tell = _silent if watcher is None else watcher
        tell(Progress("preparing, and compiling what is not compiled yet"))
        begin = start = time.monotonic()
        outcomes: list[Outcome] = []
        good: list[Outcome] = []
        made: dict[int, Clip] = {}
        was_cancelled = False
        deadline = math.inf
        try:
            coarse, fine = self.ready(problem)
            allowed = allowed_contacts(problem, coarse)
            warm_up((coarse, fine), self.attempt_settings, allowed)
            # Ends with the block, so that no worker goes on when enough is found.
            with started_attempts(problem, self, (coarse, fine), allowed) as attempts:
                start = time.monotonic()
                deadline = start + self.time_budget
                for outcome in attempts.run(seed, deadline):
                    outcomes.append(outcome)
                    new: tuple[Clip, ...] = ()
                    if outcome.is_good:
                        new = (self._clip(problem, fine, outcome),)
                        made[id(outcome)] = new[0]
                        good.append(outcome)
                    figures, passed = _statistics(outcomes), time.monotonic() - start
                    tell(Progress("optimising", figures, passed, self.time_budget, new))
                    if len(good) >= self.num_solutions:
                        break
        except KeyboardInterrupt:
            was_cancelled = True
        chosen = sorted(good, key=lambda one: one.cost)[: self.num_solutions]
        clips = tuple(made[id(one)] for one in chosen)
        timings = {"preparation": start - begin, "optimisation": time.monotonic() - start}
        statistics = _statistics(outcomes)
        if was_cancelled:
            return Result(clips, Status.CANCELLED, "", statistics, timings)
        if len(clips) >= self.num_solutions:
            return Result(clips, Status.SOLVED, "", statistics, timings)
        ran_out = time.monotonic() >= deadline
        status = Status.TIME_BUDGET if ran_out else Status.INFEASIBLE
        status = Status.PARTLY_SOLVED if clips else status
        return Result(clips, status, _shortfall(outcomes, len(clips)), statistics, timings)

    def _clip(self, problem: Problem, fine: Transcription, outcome: Outcome) -> Clip:
        transcription = fine._replace(model=with_radius(fine.model, outcome.radius))
        return make_clip(problem, transcription, outcome.keys, self.name)


def allowed_contacts(problem: Problem, transcription: Transcription) -> Bool[np.ndarray, "P N"]:
    """Which contacts may be on in which phase.

    A hand with touch spans may touch only within them, and a stroke is where it has to be.
    """
    m = transcription.model
    phases = m.num_phases
    allowed = np.ones((phases, m.layout.num_contacts), dtype=bool)
    allowed[:, m.contacts.slides] = transcription.required[:, m.contacts.slides]
    begin = problem.times[0] + m.phase_time * np.arange(phases)
    slack = 1e-6 + KEY_SLACK * m.phase_time
    for h, hand in enumerate(transcription.hands):
        spans = [span for span in problem.touches if span.hand == hand.name]
        if spans:
            inside = np.zeros(phases, dtype=bool)
            for span in spans:
                inside |= (begin >= span.start - slack) & (begin + m.phase_time <= span.end + slack)
            allowed[:, transcription.contact_hand == h] = inside[:, None]
    if transcription.first_hold >= phases:
        # Nobody has to hold the body, so hands keep off but where goals ask them to touch it.
        hands = transcription.contact_hand >= 0
        allowed[:, hands] &= transcription.required[:, hands]
    return allowed


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


def _silent(_progress: Progress) -> None:
    """Nobody watches."""


def _statistics(outcomes: list[Outcome]) -> dict[str, float]:
    good = [one for one in outcomes if one.is_good]
    best = min(outcomes, key=lambda one: one.measured.excess, default=None)
    figures = {
        "solutions": float(len(good)),
        "attempts": float(len(outcomes)),
        "iterations": float(sum(one.iterations for one in outcomes)),
    }
    if best is not None:
        figures |= {f"best_{name}": best.measured.worst[name] for name in MEASURES}
    return figures


def _shortfall(outcomes: list[Outcome], found: int) -> str:
    told = f"{found} motions after {len(outcomes)} attempts."
    failed = [one for one in outcomes if not one.is_good]
    if not failed:
        return f"{told} Raise the time budget."
    best = min(failed, key=lambda one: one.measured.excess)
    name = best.cause
    if name not in MEASURES:
        return f"{told} In the best other, {name}."
    return (
        f"{told} The best other does not meet '{name}': "
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
