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
from handwright.core.problem import Problem
from handwright.core.result import Progress, Result, Status, Watcher
from handwright.errors import InvalidValueError
from handwright.methods.base import advice_on_goals, untracked
from handwright.methods.sampling.attempt import Attempt
from handwright.methods.sampling.attempts import (
    compile_early,
    run_attempts,
    start_worker,
    warm_up,
)
from handwright.methods.sampling.constraints.checking import (
    check_names,
    limiting_settings,
    sequence_problems,
)
from handwright.methods.sampling.constraints.kept import Kept, kept_parts
from handwright.methods.sampling.constraints.preferences import (
    CHANCES,
    GRIPS,
    HOLDS,
    RELOCATION_TIME,
    FixedJoint,
    ForbiddenBall,
    Grip,
    HeldBy,
    Hold,
    KeepOff,
    Pin,
    Preference,
    Strategy,
)
from handwright.methods.sampling.finish.clips import assemble_clip
from handwright.methods.sampling.setup.feasibility import (
    find_infeasibility,
    find_search_infeasibility,
)
from handwright.methods.sampling.setup.prepare import HoldSearch, prepare
from handwright.methods.workers import started_workers

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_MIN_FRAMES = 4


@dataclass(frozen=True, slots=True)
class ContactSampling:
    """Finger motions for given tracks of wrists and bodies, by Ye & Liu 2012."""

    name: ClassVar[str] = "sampling"

    num_solutions: int = 10
    """How many different motions to look for."""
    time_budget: float = 60.0
    """s of searching; what has been found by then is returned. Preparing, and on the first run
    compiling, are not counted."""
    window: int = 10
    """Expected number of frames for which digits keep a strategy (epsilon of the paper)."""
    strategy: Strategy = "mixed"
    """What digits do where the forces leave a choice."""
    preferences: tuple[Preference, ...] = ()
    """Strategies for single digits or spans of time; later ones win."""
    keep_off: tuple[KeepOff, ...] = ()
    forbidden: tuple[ForbiddenBall, ...] = ()
    fixed_joints: tuple[FixedJoint, ...] = ()
    pins: tuple[Pin, ...] = ()
    """Points that digits must touch."""
    grip: Grip = "any"
    """``power`` for palm, near phalanges and all fingers; ``precision`` for few pads."""
    hold: Hold = "anywhere"
    """Where bodies are held: by the ``handle``, from ``outside``, or from ``inside``, which is
    with thumb or fingers in the hollow, whichever reach into it, and the others across the wall
    or inside too."""
    held_by: tuple[HeldBy, ...] = ()
    """The same for single digits or bodies, with regions of one's own; goes before ``hold``."""
    kept: tuple[Kept, ...] = ()
    """Parts of a motion that stay as they are; see ``keeping``."""
    leave_free: float = 0.15
    """Probability that a finger takes no part in the first grasp."""
    comfort: float = 2.0
    """How much relaxed postures are preferred; 0 for not at all."""
    idle_force_price: float = 1.0
    """Price of force of digits that carried none, relative to the others: above 1 idle digits
    stay idle and relocate more."""
    max_force: float = 8.0
    """Sum of the normal forces of all hands, in weights of the body; 25 N are always allowed."""
    finger_speed: float = 9.0
    """Largest joint speed, rad/s."""
    relocation_time: float = RELOCATION_TIME
    """Least time from lift-off to landing of a digit that moves to another place, s. Hands that
    turn bodies quickly need less."""
    friction_margin: float = 0.95
    """Share of the friction that may be used."""
    soft_tissue: float = 0.0
    """Depth to which pads may sink in beyond the usual, m; for recorded tracks."""
    skin_shear: float = 0.0
    """How far skin that sticks to a body gives way before it slides, m; for recorded tracks."""
    fills_hollows: bool = False
    """Whether mugs, cups and the like are held from outside only, as if they were solid. Fingers
    that may sink in by as much as a wall is thick come out inside else."""
    smoothing_hz: float | None = None
    """Low-pass for the accelerations of noisy body tracks; 8 Hz suits motion capture."""
    max_frames: int = 3000
    """Frames explored by one attempt before it is given up."""
    baseline: bool = False
    """The plain search of the paper's section 4, for comparison: windows of one frame, blind
    backtracking, no look-ahead."""
    num_workers: int = 1
    """Processes; the result does not depend on it unless the time runs out."""

    def __post_init__(self) -> None:
        problems = [
            f"{name} is {value}, expected {wanted}"
            for name, value, is_good, wanted in (
                ("num_solutions", self.num_solutions, self.num_solutions >= 1, "1 or more"),
                ("time_budget", self.time_budget, self.time_budget > 0.0, "seconds above 0"),
                ("window", self.window, self.window >= 1, "1 frame or more"),
                ("leave_free", self.leave_free, 0.0 <= self.leave_free <= 1.0, "0 to 1"),
                ("comfort", self.comfort, self.comfort >= 0.0, "0 or more"),
                ("max_force", self.max_force, self.max_force > 0.0, "above 0"),
                (
                    "relocation_time",
                    self.relocation_time,
                    0.02 <= self.relocation_time <= 2.0,
                    "0.02 to 2 s",
                ),
                ("finger_speed", self.finger_speed, self.finger_speed > 0.0, "above 0 rad/s"),
                (
                    "friction_margin",
                    self.friction_margin,
                    0.0 < self.friction_margin <= 1.0,
                    "above 0, up to 1",
                ),
                ("soft_tissue", self.soft_tissue, 0.0 <= self.soft_tissue <= 0.02, "0 to 0.02 m"),
                ("skin_shear", self.skin_shear, 0.0 <= self.skin_shear <= 0.01, "0 to 0.01 m"),
                ("num_workers", self.num_workers, self.num_workers >= 1, "1 or more"),
                ("max_frames", self.max_frames, self.max_frames >= 1, "1 or more"),
            )
            if not is_good
        ]
        problems += sequence_problems(self)
        if self.smoothing_hz is not None and not self.smoothing_hz > 0.0:
            problems.append(f"smoothing_hz is {self.smoothing_hz}, expected Hz above 0, or None")
        if self.grip not in GRIPS:
            problems.append(f"grip is {self.grip!r}, expected one of {', '.join(GRIPS)}")
        if self.hold not in HOLDS:
            problems.append(f"hold is {self.hold!r}, expected one of {', '.join(HOLDS)}")
        if self.strategy not in CHANCES:
            problems.append(f"strategy is {self.strategy!r}, expected one of {', '.join(CHANCES)}")
        if problems:
            raise InvalidValueError("ContactSampling: " + "; ".join(problems) + ".")

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
        infeasibility = find_infeasibility(
            problem, cutoff_hz=self.smoothing_hz, max_force=self.max_force
        )
        if infeasibility is not None:
            return Result((), Status.INFEASIBLE, infeasibility)
        prepared = prepare(problem, self)
        infeasibility = find_search_infeasibility(prepared, settings=limiting_settings(self))
        if infeasibility is not None:
            return Result((), Status.INFEASIBLE, infeasibility)
        tell(Progress("preparing the search, and compiling it if need be"))
        warm_up(prepared[0], pool, early)
        ready = time.perf_counter()
        deadline = time.monotonic() + self.time_budget
        motions = _Motions(problem, prepared, self)
        attempts, was_cancelled = self._collect(prepared, seed, deadline, tell, pool, motions)
        return self._result(motions, attempts, was_cancelled, ready - begin)

    def _collect(
        self,
        prepared: list[HoldSearch],
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

    def __init__(
        self, problem: Problem, prepared: list[HoldSearch], method: ContactSampling
    ) -> None:
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
