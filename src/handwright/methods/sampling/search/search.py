"""Depth-first search for contact trajectories, in windows of frames.

Ye & Liu 2012, sections 4 and 5: a window keeps one strategy for every digit; at its end new ones
are drawn. A dead end is answered by its cause; from a solution the search goes back to a window
and takes the plan that differs most from those that it knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool

from handwright.kernels.packed import Packed
from handwright.methods.sampling.search.beginnings import Beginnings
from handwright.methods.sampling.search.first_grasps import FirstGrasps
from handwright.methods.sampling.search.frame import FEASIBLE, MISSED, NUM_VERDICTS, UNBALANCED
from handwright.methods.sampling.search.plan import Forced, Planner
from handwright.methods.sampling.search.step import (
    IDLE_LOAD,
    TRIES,
    SearchState,
    advance,
    solve_frame,
    still_holds,
    take_step,
)
from handwright.methods.sampling.search.workspace import HOLD, Path, copy_path, make_path
from handwright.methods.sampling.setup.prepare import HoldSearch

# Number of rounds of draws without a first grasp after which there is little hope for one.
_GRASP_MISSES = 3
# "Branch once in every two chances on average": how often a failed window is tried again.
_RETRY = 0.5
# A failed window is tried no more often than this, or a lucky one would be tried for ever.
_MOST_FAILS = 4
# "No more than 2.5 feasible paths for each initial sample" on average: chance of another one.
_ANOTHER = 0.6
# Number of plans of which the one that differs most is taken when going back from a solution.
_ALTERNATIVES = 5
# Number of first grasps after which a search without a guide that has found nothing returns to how
# far it had come, and the share of its later starts that are first grasps all the same.
_FRESH_STARTS, _AFRESH = 6, 0.1
# Plans whose guiding points are nearer than this in sum, m, are the same.
_DIFFERENT = 0.01

Judge: TypeAlias = Callable[[Path, int], int | None]
"""Finds the first frame in which a path, up to a frame, does not hold; None if there is none."""


@dataclass(slots=True)
class SearchTally:
    """What a search has done so far."""

    frames: int = 0
    """Number of frames that were tried."""
    dead_ends: int = 0
    causes: list[int] = field(default_factory=lambda: [0] * NUM_VERDICTS)
    """Number of dead ends by what failed."""
    grasps: int = 0
    """Number of first grasps that were drawn."""
    furthest: int = -1
    """Latest frame that failed."""

    def add_dead_end(self, frame: int, cause: int | None) -> None:
        """Counts a dead end; no cause if there was no first grasp."""
        self.dead_ends += 1
        self.furthest = max(self.furthest, frame)
        if cause is not None:
            self.causes[cause] += 1

    def main_cause(self) -> int | None:
        """The commonest cause, or None if no frame after the first was reached."""
        most = max(self.causes)
        return self.causes.index(most) if most else None


@dataclass(slots=True)
class _Window:
    """A node of the tree: frames from ``start`` that keep one plan."""

    start: int
    fails: int = 0
    aims: list[np.ndarray] = field(default_factory=list)
    """For each plan that was tried where it takes the digits, m."""


class TreeSearch:
    """Looks for paths through all frames of a hold's search, one after the other."""

    def __init__(
        self, hold: HoldSearch, rng: np.random.Generator, judge: Judge | None = None
    ) -> None:
        data = hold.searched
        self.tally = SearchTally()
        self._data = data
        self._owner = data.hands.digit_of_capsule
        self._policy, self._rng = hold.policy, rng
        self._frames, self._digits = len(data.wrench), len(data.hands.hand_of_digit)
        self._path = make_path(data, self._frames)
        self._work = hold.work
        state = SearchState(data, hold.candidates, self._path, hold.work)
        self._state = Packed(state)
        self._planner = Planner(state, hold.policy, rng)
        self._first_grasps = FirstGrasps(hold, state, self._planner.appeal[:, :, 0], rng)
        self._beginnings, self._judge = Beginnings(), judge
        self._is_guided = hold.policy.guide.weight > 0.0
        self._has_schedule = hold.policy.schedule.has_any()
        self._windows: list[_Window] = []
        self._t = -1
        self._misses = self._starts = 0
        self._has_found = False
        self._fault = self._frames
        self._was_refused = False

    def reject(self, frame: int) -> None:
        """Tells that the last path does not hold from a frame on; the next one leaves it before."""
        self._fault = frame
        self._was_refused = True

    @property
    def is_hopeless(self) -> bool:
        """Whether many draws gave no first grasp."""
        return self._misses >= _GRASP_MISSES

    def next_path(self, max_frames: int) -> Path | None:
        """The next path through all frames; None if ``max_frames`` tried in all gave none."""
        if self._t == self._frames - 1:
            self._leave_solution()
        while self.tally.frames < max_frames and not self.is_hopeless:
            if self._t < 0:
                self._start()
                continue
            if self._t == self._frames - 1:
                return copy_path(self._path)
            if self._path.window_end[self._t] <= self._t:
                if self._returns and not self._keep_beginning():
                    continue
                self._windows.append(_Window(self._t))
                self._draw_plan({})
            verdict = self._step()
            if verdict == FEASIBLE:
                self._t += 1
            else:
                self._go_back(verdict)
        return None

    @property
    def _returns(self) -> bool:
        """Whether it returns to where paths have come: to stay near a guide, or for want of any."""
        return self._is_guided or (self._policy.is_informed and not self._has_found)

    def _keep_beginning(self) -> bool:
        """Keeps the path so far to return to, or goes back if it does not hold; whether it does."""
        if not self._beginnings.is_new(self._t):
            return True
        # This takes as long as some frames do, and is spared while paths hold.
        fault = None
        if self._judge is not None and self._was_refused:
            fault = self._judge(self._path, self._t)
        if fault is None:
            self._beginnings.add(self._path, self._t)
            return True
        self.tally.add_dead_end(fault, UNBALANCED)
        self._windows = [window for window in self._windows if window.start < fault]
        self._retreat({})
        return False

    def _step(self) -> int:
        """Tries the next frame; FEASIBLE, or what it fails by."""
        t = self._t
        self.tally.frames += 1
        # The next strategies are drawn from the forces at the end of a window.
        is_exact = bool(self._path.window_end[t] <= t + 1)
        if not self._has_schedule:
            return int(take_step(self._state, t, is_exact))
        schedule = self._policy.schedule
        advance(self._state, t)
        schedule.guide(self._work, t + 1)
        verdict = int(solve_frame(self._state, t + 1, TRIES, True, is_exact))
        elsewhere = schedule.untouched(self._work, self._owner, t + 1)
        if verdict == FEASIBLE and not still_holds(self._state, t):
            verdict = UNBALANCED
        if verdict != FEASIBLE and schedule.is_kept[t + 1].all():
            # Nothing is left to choose: the check of the whole motion says whether it holds.
            schedule.write_row(self._path, t + 1, self._work)
            return FEASIBLE
        if verdict == FEASIBLE:
            missed = max(schedule.missed(self._path, t + 1), elsewhere)
            if missed >= 0:
                self._work.found.blame[:] = missed, -1
                return MISSED
        return verdict

    def _draw_plan(self, forced: Forced) -> bool:
        """Draws a plan for the last window; whether all digits that must leave can."""
        window = self._windows[-1]
        is_served = self._planner.draw(window.start, forced)
        window.aims.append(self._planner.aims(window.start))
        return is_served

    def _go_back(self, verdict: int) -> None:
        """Goes back from a dead end to the window that it is in, or to an earlier one."""
        self.tally.add_dead_end(self._t + 1, verdict)
        self._retreat(self._find_digits_to_move(verdict) if self._policy.is_informed else {})

    def _retreat(self, forced: Forced) -> None:
        """Draws another plan for the last window, or for an earlier one."""
        windows = self._windows
        while windows:
            window = windows[-1]
            window.fails += 1
            is_spent = window.fails > _MOST_FAILS
            # A digit that cannot leave here may be able to earlier, while others still hold.
            if not is_spent and (window.fails == 1 or self._rng.random() < _RETRY):
                self._t = window.start
                if self._draw_plan(forced):
                    return
            windows.pop()
        self._t = -1

    def _find_digits_to_move(self, verdict: int) -> Forced:
        """Digits that must leave their contacts after a dead end.

        A digit that failed; of two that cross the one that bears less, and away from the other;
        where forces failed, digits that bore load and slip.
        """
        load = self._path.load[self._t]
        if verdict == UNBALANCED:
            slipping = self._slipping() & (load > IDLE_LOAD) & (self._work.guide.mode == HOLD)
            return {int(d): None for d in np.flatnonzero(slipping)}
        first, second = (int(d) for d in self._work.found.blame)
        if first < 0:
            return {}
        if second < 0:
            return {first: None}
        binds = self._policy.schedule.binds
        first_bound, second_bound = binds(self._t + 1, first), binds(self._t + 1, second)
        if first_bound > second_bound or (
            first_bound == second_bound and load[second] < load[first]
        ):
            first, second = second, first
        return {first: self._work.guide.target[second].copy()}

    def _slipping(self) -> Bool[np.ndarray, " D"]:
        """Which digits have a contact on the link of their guiding point that slips."""
        data, work = self._data, self._work
        slips = np.zeros(self._digits, dtype=bool)
        for n in range(int(work.found.num[1]), int(work.found.num[0])):
            capsule = work.found.capsule[n]
            d = data.hands.digit_of_capsule[capsule]
            if d >= 0 and data.hands.table.capsule_link[capsule] == work.guide.link[d]:
                slips[d] |= float(np.linalg.norm(work.found.slip[n])) > data.limits.slip
        return slips

    def _leave_solution(self) -> None:
        """Goes back from a solution to one of its windows, to the plan that differs most."""
        fault, self._fault = self._fault, self._frames
        was_refused = fault < self._frames
        self._has_found |= not was_refused
        self._beginnings.forget(fault)
        self._windows = [window for window in self._windows if window.start < fault]
        if not self._policy.is_informed:
            # The plain search goes through its tree from the leaves up.
            self._retreat({})
            return
        if not self._windows or (not was_refused and self._rng.random() > _ANOTHER):
            self._t = -1
            return
        if was_refused:
            # What comes long before the fault is good, and took long to find.
            steps = int(self._rng.geometric(_RETRY))
            del self._windows[max(len(self._windows) + 1 - steps, 1) :]
        else:
            del self._windows[1 + int(self._rng.integers(len(self._windows))) :]
        window = self._windows[-1]
        window.fails = 0
        self._t = window.start
        known = np.array(window.aims)
        best, farthest = None, -1.0
        for _ in range(_ALTERNATIVES):
            self._planner.draw(self._t, {})
            aim = self._planner.aims(self._t)
            away = float(np.linalg.norm(known - aim, axis=2).sum(axis=1).min())
            if away > farthest:
                best, farthest = self._planner.copy_row(self._t), away
        if best is None or farthest < _DIFFERENT:
            self._t = -1
            return
        self._planner.write_row(self._t, best)
        window.aims.append(self._planner.aims(self._t))

    def _start(self) -> None:
        """Poses a first grasp: of many draws, the one that can carry the body for longest."""
        self._windows.clear()
        self.tally.frames += 1
        self._starts += 1
        is_late = self._returns and self._starts > _FRESH_STARTS
        if self._is_guided or (is_late and self._rng.random() >= _AFRESH):
            self._t = self._beginnings.restore(self._path)
            if self._t >= 0:
                self._path.window_end[self._t] = self._t
                return
        self._beginnings.begin_anew()
        found = self._first_grasps.pose()
        self.tally.grasps = self._first_grasps.count
        if found:
            self._t = 0
            self._misses = 0
            self._path.window_end[0] = 0
        else:
            self._misses += 1
            self.tally.add_dead_end(0, None)
