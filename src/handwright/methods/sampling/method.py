"""The method: contact sampling for given wrist and body tracks."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from handwright.core.clip import Clip
from handwright.core.kept import KeptDigit
from handwright.core.paper import Paper
from handwright.core.problem import Problem
from handwright.core.result import Progress, Result, Status, Watcher
from handwright.core.settings import check_settings, data_field, setting
from handwright.deprecated import renamed_fields
from handwright.methods.base import advice_on_goals, untracked
from handwright.methods.sampling.attempt import Attempt
from handwright.methods.sampling.attempts import (
    compile_early,
    run_attempts,
    start_worker,
    warm_up,
)
from handwright.methods.sampling.constraints.checking import check_names, wishes_in
from handwright.methods.sampling.constraints.kept import kept_parts
from handwright.methods.sampling.constraints.preferences import (
    RELOCATION_TIME,
    FixedJoint,
    ForbiddenBall,
    GraspRegion,
    Grip,
    Hold,
    NoContact,
    Pin,
    Preference,
    Strategy,
)
from handwright.methods.sampling.finish.clips import assemble_clip
from handwright.methods.sampling.setup.feasibility import why_impossible, why_not
from handwright.methods.sampling.setup.prepare import Prepared, prepare
from handwright.methods.search_settings import num_workers_setting, time_budget_setting
from handwright.methods.workers import started_workers

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_MIN_FRAMES = 4
_PAPER = Paper(
    key="YeLiu2012",
    authors=("Yuting Ye", "C. Karen Liu"),
    title="Synthesis of Detailed Hand Manipulations Using Contact Sampling",
    venue="ACM Transactions on Graphics",
    year=2012,
    doi="10.1145/2185520.2185537",
    details=(("volume", "31"), ("number", "4"), ("articleno", "41")),
)


@renamed_fields
@dataclass(frozen=True, slots=True)
class ContactSampling:
    """Finger motions for given tracks of wrists and bodies, by Ye & Liu 2012."""

    name: ClassVar[str] = "sampling"

    title: ClassVar[str] = "Contact sampling"
    suited_to: ClassVar[str] = "Tracks of all wrists and bodies are given; the fingers are wanted."
    papers: ClassVar[tuple[Paper, ...]] = (_PAPER,)

    num_solutions: int = setting(
        10, at_least=1, label="Motions", basic=True, help="How many different motions to look for."
    )
    time_budget: float = time_budget_setting()
    window: int = setting(
        10,
        unit="frames",
        at_least=1,
        label="Time between changes",
        help="Expected number of frames for which digits keep a strategy (epsilon of the paper).",
    )
    strategy: Strategy = setting(
        "mixed",
        basic=True,
        help="What digits do where the forces leave a choice: hold, slide, or move elsewhere.",
    )
    preferences: tuple[Preference, ...] = setting(
        (), help="Strategies for single digits or spans of time; later ones win."
    )
    no_contact: tuple[NoContact, ...] = setting(
        (),
        was="keep_off",
        from_words=lambda digits: (NoContact(digits),),
        words="DIGIT",
        help="Digits that must not press on bodies, as in: little ring, or left.little.",
    )
    forbidden: tuple[ForbiddenBall, ...] = setting(
        (), help="Regions of bodies that digits must not touch."
    )
    fixed_joints: tuple[FixedJoint, ...] = setting(
        (), help="Joints that keep an angle over some time."
    )
    pins: tuple[Pin, ...] = setting((), help="Points that digits must touch.")
    grip: Grip = setting(
        "any",
        basic=True,
        help="With palm, near phalanges and all fingers (power), or with few fingertips "
        "(precision).",
    )
    grasp_region: Hold = setting(
        "anywhere",
        was="hold",
        label="Held by",
        basic=True,
        help="Where bodies are held: by the handle, from outside, or from inside, which is with "
        "thumb or fingers in the hollow, whichever reach into it, and the others across the wall "
        "or inside too.",
    )
    grasp_regions: tuple[GraspRegion, ...] = setting(
        (),
        was="held_by",
        help="Where single digits hold, or single bodies are held, with regions of one's own; "
        "goes before grasp_region.",
    )
    kept: tuple[KeptDigit, ...] = data_field(())
    """Parts of a motion that stay as they are; see ``keeping``."""
    idle_finger_probability: float = setting(
        0.15,
        was="leave_free",
        at_least=0.0,
        at_most=1.0,
        label="Chance of an idle finger",
        help="Probability that a finger takes no part in the first grasp.",
    )
    comfort: float = setting(
        2.0,
        at_least=0.0,
        help="Weight of relaxed postures when digits choose where to touch; 0 for none.",
    )
    idle_force_weight: float = setting(
        1.0,
        was="idle_force_price",
        at_least=0.0,
        label="Weight of idle fingers' force",
        help="Weight of the force of digits that carried none, relative to the others; above 1 "
        "idle digits stay idle and relocate more.",
    )
    max_force: float = setting(
        8.0,
        unit="weights",
        above=0.0,
        label="Largest force",
        help="Largest sum of the normal forces of all hands, in weights of the body; 25 N are "
        "always allowed.",
    )
    finger_speed: float = setting(
        9.0, unit="rad/s", above=0.0, label="Fastest joint", help="Largest joint speed."
    )
    relocation_time: float = setting(
        RELOCATION_TIME,
        unit="s",
        at_least=0.02,
        at_most=2.0,
        help="Least time from lift-off to landing of a digit that moves to another position. "
        "Hands that turn bodies quickly need less.",
    )
    friction_margin: float = setting(
        0.95,
        above=0.0,
        at_most=1.0,
        label="Share of friction used",
        help="Share of the friction that plans may use.",
    )
    soft_tissue: float = setting(
        0.0,
        unit="m",
        at_least=0.0,
        at_most=0.02,
        help="Depth to which pads may sink in beyond the certificate's limit; for recorded tracks.",
    )
    skin_stretch: float = setting(
        0.0,
        was="skin_shear",
        unit="m",
        at_least=0.0,
        at_most=0.01,
        help="Tangential stretch of the skin before a contact counts as sliding; for recorded "
        "tracks.",
    )
    treat_as_solid: bool = setting(
        False,
        was="fills_hollows",
        label="Hollows count as solid",
        help="Whether mugs, cups and the like are held from outside only, as if they were solid. "
        "Otherwise fingers that may sink in by as much as a wall is thick come out inside.",
    )
    smoothing_hz: float | None = setting(
        None,
        unit="Hz",
        above=0.0,
        label="Smoothing",
        help="Cut-off of a low-pass for the accelerations of noisy body tracks; 8 Hz suits motion "
        "capture.",
    )
    max_frames: int = setting(
        3000,
        unit="frames",
        at_least=1,
        label="Frames of an attempt",
        help="Frames explored by one attempt before it is given up.",
    )
    baseline: bool = setting(
        False,
        label="Plain search of the paper",
        help="The plain search of the paper's section 4, for comparison: windows of one frame, "
        "blind backtracking, no look-ahead.",
    )
    num_workers: int = num_workers_setting()

    def __post_init__(self) -> None:
        check_settings(self)

    def keeping(
        self,
        clip: Clip,
        digits: Sequence[str] = (),
        start: float | None = None,
        end: float | None = None,
    ) -> ContactSampling:
        """The same settings, with a part of a solution kept while the rest is solved anew.

        Args:
            clip: A solution of the same problem, which may have been edited since.
            digits: That are kept, such as ``index`` or ``left.index``; all if empty.
            start: s; from the first frame on if None.
            end: s; to the last frame if None.
        """
        return replace(self, kept=(*self.kept, *kept_parts(clip, digits, start, end)))

    def solve(self, problem: Problem, seed: int, watcher: Watcher | None = None) -> Result:
        """Needs tracks for all hands and bodies."""
        missing = untracked(problem)
        if missing or not problem.hands or len(problem.times) < _MIN_FRAMES:
            lacks = [f"a track of '{name}'" for name in missing]
            lacks += [] if problem.hands else ["a hand"]
            lacks += [] if len(problem.times) >= _MIN_FRAMES else [f"{_MIN_FRAMES} frames or more"]
            needs = f"Contact sampling needs {', '.join(lacks)}. Add it."
            return Result((), Status.BAD_INPUT, needs + advice_on_goals(problem))
        limit = 0.5 / float(np.diff(problem.times).mean())
        if self.smoothing_hz is not None and self.smoothing_hz >= limit:
            return Result(
                (),
                Status.BAD_INPUT,
                f"smoothing_hz is {self.smoothing_hz:g}; expected below {limit:g} Hz, half the "
                "frame rate of the problem. Lower it (8 Hz suits motion capture) or leave it out.",
            )
        check_names(problem, self)
        tell = _silent if watcher is None else watcher
        tell(Progress("preparing; the first run on a machine compiles for some minutes"))
        begin = time.perf_counter()
        with started_workers(self.num_workers, start_worker, (problem, self)) as pool:
            return self._solve_with(problem, seed, tell, pool, begin)

    def _solve_with(
        self,
        problem: Problem,
        seed: int,
        tell: Watcher,
        pool: ProcessPoolExecutor | None,
        begin: float,
    ) -> Result:
        early = compile_early(pool)
        trouble = why_impossible(problem, cutoff_hz=self.smoothing_hz, max_force=self.max_force)
        if trouble is not None:
            return Result((), Status.INFEASIBLE, trouble)
        prepared = prepare(problem, self)
        trouble = why_not(prepared, wishes=wishes_in(self))
        if trouble is not None:
            return Result((), Status.INFEASIBLE, trouble)
        tell(Progress("preparing the search, and compiling it if need be"))
        warm_up(prepared[0], pool, early)
        ready = time.perf_counter()
        deadline = time.monotonic() + self.time_budget
        motions = _Motions(problem, prepared, self)
        attempts, was_cancelled = self._collect(prepared, seed, deadline, tell, pool, motions)
        return self._result(motions, attempts, was_cancelled, ready - begin)

    def _collect(
        self,
        prepared: list[Prepared],
        seed: int,
        deadline: float,
        tell: Watcher,
        pool: ProcessPoolExecutor | None,
        motions: _Motions,
    ) -> tuple[list[Attempt], bool]:
        """Attempts in order, until enough motions are found; and whether the user stopped them."""
        attempts: list[Attempt] = []
        found = 0
        begin = time.monotonic()
        stream: Iterator[Attempt] = run_attempts(self, prepared, seed, deadline, pool)
        try:
            tell(Progress("searching", _statistics(attempts), 0.0, self.time_budget))
            for whole in stream:
                # Workers do not know how many are still wanted.
                attempt = whole.first(self.num_solutions - found)
                attempts.append(attempt)
                found += len(attempt.solutions)
                new, figures = motions.add(attempt), _statistics(attempts)
                passed = time.monotonic() - begin
                tell(Progress("searching", figures, passed, self.time_budget, new))
                if found >= self.num_solutions:
                    break
        except KeyboardInterrupt:
            return attempts, True
        return attempts, False

    def _result(
        self,
        motions: _Motions,
        attempts: list[Attempt],
        was_cancelled: bool,
        preparation: float,
    ) -> Result:
        clips = motions.best_first()
        statistics = _statistics(attempts)
        timings = {"preparation": preparation}
        timings |= {
            name: float(sum(attempt.seconds[name] for attempt in attempts))
            for name in ("search", "reconstruction", "judging")
        }
        if was_cancelled:
            return Result(clips, Status.CANCELLED, "", statistics, timings)
        if len(clips) >= self.num_solutions:
            return Result(clips, Status.SOLVED, "", statistics, timings)
        message = _shortfall(attempts, len(clips), self.num_solutions)
        status = Status.PARTLY_SOLVED if clips else Status.TIME_BUDGET
        return Result(clips, status, message, statistics, timings)


class _Motions:
    """The clips of all solutions, each made when it is found."""

    def __init__(self, problem: Problem, prepared: list[Prepared], method: ContactSampling) -> None:
        self._problem, self._prepared, self._method = problem, prepared, method
        self._made: list[tuple[float, Clip]] = []

    def add(self, attempt: Attempt) -> tuple[Clip, ...]:
        """The clips of an attempt."""
        new = [
            (
                sum(part.strain for part in parts),
                assemble_clip(self._problem, self._prepared, parts, self._method.name),
            )
            for parts in attempt.solutions
        ]
        self._made += new
        return tuple(clip for _, clip in new)

    def best_first(self) -> tuple[Clip, ...]:
        """All clips, the least strained first."""
        return tuple(clip for _, clip in sorted(self._made, key=lambda made: made[0]))


def _silent(_progress: Progress) -> None:
    """Nobody watches."""


def _statistics(attempts: list[Attempt]) -> dict[str, float]:
    """The columns of the paper's Table 1."""
    solutions = sum(len(attempt.solutions) for attempt in attempts)
    efforts = [attempt.effort for attempt in attempts]
    total = sum(effort.frames for effort in efforts)
    dead_ends = sum(effort.dead_ends for effort in efforts)
    success = sum(attempt.success_frames for attempt in attempts)
    return {
        "solutions": float(solutions),
        "dead_ends": float(dead_ends),
        "total_frames": float(total),
        "success_frames": float(success),
        "success_ratio": success / total if total else 0.0,
        "solution_ratio": solutions / (solutions + dead_ends) if solutions + dead_ends else 0.0,
        "dropped": float(sum(effort.dropped for effort in efforts)),
        "attempts": float(len(attempts)),
    }


def _shortfall(attempts: list[Attempt], found: int, wanted: int) -> str:
    """How much was found, and the cause that most others had; the frame is its most frequent."""
    causes: Counter[str] = Counter()
    for attempt in attempts:
        causes.update(attempt.causes)
    tries = "1 attempt" if len(attempts) == 1 else f"{len(attempts)} attempts"
    text = f"{found} of {wanted} motions after {tries}."
    if causes:
        # One cause is written with many frames, joints and bodies.
        kinds: Counter[str] = Counter()
        for cause, count in causes.items():
            kinds[_kind_of(cause)] += count
        kind, count = kinds.most_common(1)[0]
        example = max((c for c in causes if _kind_of(c) == kind), key=lambda c: causes[c])
        text += f" Most often ({'once' if count == 1 else f'{count} times'}): {example}"
    return text


def _kind_of(cause: str) -> str:
    return re.sub(r"\d+|'[^']*'", "", cause)
