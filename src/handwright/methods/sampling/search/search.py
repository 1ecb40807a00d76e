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
from jaxtyping import Bool, Float, Int

from handwright.kernels.packed import Packed
from handwright.methods.sampling.search.beginnings import Beginnings
from handwright.methods.sampling.search.carrying import (
    SPARE_FRICTION,
    count_posed_key_frames,
    score_grasps,
)
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
from handwright.methods.sampling.search.workspace import FREE, HOLD, Path, copy_path, make_path
from handwright.methods.sampling.setup.grasps import (
    close_hands,
    closing_state,
    draw_grasps,
    closing_steps,
    first_digits,
    guided_posture,
    wanted_posture,
)
from handwright.methods.sampling.setup.prepare import HoldSearch

# Number of rounds of draws without a first grasp after which there is little hope for one.
_GRASP_MISSES = 3
# Largest number of grasps of a round that are posed, which takes far longer than forces do.
_GRASP_POSES = 20
# Distance from the guide's posture, rad, root mean square, that a first grasp may have if it lasts
# for the whole motion instead of for a moment.
_FAR_POSTURE = 0.3
# Number of ways to close a hand of which the best is taken.
_WRAPS, _GUIDED_WRAPS = 12, 4
# Number of key frames in which a grasp must carry the body once it is posed.
_HELD_KEYS = 3
# "Branch once in every two chances on average": how often a failed window is tried again.
_RETRY = 0.5
# A failed window is tried no more often than this, or a lucky one would be tried for ever.
_MOST_FAILS = 4
# "No more than 2.5 feasible paths for each initial sample" on average: chance of another one.
_ANOTHER = 0.6
# Number of plans of which the one that differs most is taken when going back from a solution.
_ALTERNATIVES = 5
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
        self._data, self._candidates = data, hold.candidates
        self._owner = data.hands.digit_of_capsule
        self._policy, self._rng = hold.policy, rng
        self._frames, self._digits = len(data.wrench), len(data.hands.hand_of_digit)
        self._path = make_path(data, self._frames)
        self._work, self._parts = hold.work, hold.parts
        state = SearchState(data, hold.candidates, self._path, hold.work)
        self._state = Packed(state)
        self._closing = closing_state(data, state) if hold.policy.wraps else None
        self._planner = Planner(state, hold.policy, rng)
        # Appeal of candidates at the first key frame, added up to draw from.
        self._appeal = np.cumsum(self._planner.appeal[:, :, 0], axis=1)
        self._beginnings, self._judge = Beginnings(), judge
        self._is_guided = hold.policy.guide.weight > 0.0
        self._has_schedule = hold.policy.schedule.has_any()
        self._windows: list[_Window] = []
        self._t = -1
        self._misses = 0
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
                if self._is_guided and not self._keep_beginning():
                    continue
                self._windows.append(_Window(self._t))
                self._draw_plan({})
            verdict = self._step()
            if verdict == FEASIBLE:
                self._t += 1
            else:
                self._go_back(verdict)
        return None

    def _keep_beginning(self) -> bool:
        """Keeps the path so far to return to, or goes back if it does not hold; whether it does."""
        if not self._beginnings.is_new(self._t):
            return True
        # This takes as long as some frames do, and is spared while paths hold.
        is_asked = self._judge is not None and self._was_refused
        fault = self._judge(self._path, self._t) if is_asked else None
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
        if self._is_guided:
            self._t = self._beginnings.restore(self._path)
            if self._t >= 0:
                self._path.window_end[self._t] = self._t
                return
        if self._measure_wrap() or self._grasp():
            self._t = 0
            self._misses = 0
            self._path.window_end[0] = 0
        else:
            self._misses += 1
            self.tally.add_dead_end(0, None)

    def _measure_wrap(self) -> bool:
        """Closes the hands around the body in the way that carries it for longest, if one does."""
        if self._closing is None or self._has_schedule:
            return False
        if self._is_guided:
            return self._measure_guided_wrap()
        best, most = None, 0
        for _ in range(_WRAPS):
            wanted = wanted_posture(self._data, self._rng)
            self.tally.grasps += 1
            if self._pose_wrapped(wanted):
                score = self._count_carried()[1]
                if score > most:
                    best, most = wanted, score
        return best is not None and self._pose_wrapped(best)

    def _measure_guided_wrap(self) -> bool:
        """Closes the hands of the guide in a way that carries the body for long, if one does."""
        best, most, keys = None, -np.inf, len(self._candidates.frame)
        for _ in range(_GUIDED_WRAPS):
            wanted = guided_posture(self._data, self._policy.leave_free[0], self._rng)
            self.tally.grasps += 1
            if self._pose_wrapped(wanted):
                score = self._count_carried()[1]
                worth = float(self._value(np.array([score / (2 * keys)]), self._path.q[:1])[0])
                if score > 0 and worth > most:
                    best, most = wanted, worth
        return best is not None and self._pose_wrapped(best)

    def _count_carried(self) -> tuple[int, int]:
        """Number of key frames that the posed grasp lasts, and with those with spare friction."""
        holds = int(count_posed_key_frames(self._state, 1.0))
        return holds, holds + int(count_posed_key_frames(self._state, SPARE_FRICTION))

    def _pose_wrapped(self, wanted: Float[np.ndarray, " J"]) -> bool:
        """Closes the hands in frame 0; returns whether that frame is feasible."""
        data, work = self._data, self._work
        close_hands(self._closing, wanted, closing_steps(self._is_guided))
        work.low[:], work.high[:], work.reference[:] = data.low[0], data.high[0], self._path.q[0]
        holders = np.flatnonzero(work.guide.mode == HOLD)
        target, outward = work.guide.target[:, None], work.guide.normal[:, None]
        if any(self._parts.strays(d, target[d], outward[d]) for d in holders.tolist()):
            return False
        return self._is_frame_feasible()

    def _grasp(self) -> bool:
        """Poses the drawn grasp that carries the body for longest; returns whether there is one."""
        policy, data, rng = self._policy, self._data, self._rng
        is_thumb = first_digits(data.hands.hand_of_digit)
        is_bound = np.array([policy.schedule.binds(0, d) for d in range(self._digits)])
        chosen = draw_grasps(
            self._appeal, data.may_touch[0], is_thumb | is_bound, policy.grasp_tries,
            policy.leave_free[0], rng,
        )  # fmt: skip
        lasts = np.zeros(len(chosen))
        score_grasps(self._state, chosen, 0, np.zeros((0, 3)), lasts)
        self.tally.grasps += len(chosen)
        needed = min(_HELD_KEYS, len(self._candidates.frame))
        best, most = -1, 0
        if self._is_guided:
            return self._guided_grasp(chosen, lasts, needed)
        for row in np.argsort(-lasts, kind="stable")[:_GRASP_POSES]:
            if lasts[row] > 0 and self._pose_grasp(chosen[row]):
                holds, score = self._count_carried()
                if score > most and holds >= needed:
                    best, most = row, score
                if score == 2 * len(self._candidates.frame):
                    break
        return best >= 0 and self._pose_grasp(chosen[best])

    def _guided_grasp(
        self, chosen: Int[np.ndarray, "N D"], lasts: Float[np.ndarray, " N"], needed: int
    ) -> bool:
        """Poses the drawn grasp that is near the guide and carries the body for long, if any."""
        data, keys = self._data, len(self._candidates.frame)
        q = np.tile(data.comfortable[0], (len(chosen), 1))
        for d, free in enumerate(data.hands.table.free):
            own, rows = free[free >= 0], np.flatnonzero(chosen[:, d] >= 0)
            q[rows[:, None], own] = self._candidates.q[d, chosen[rows, d], 0, : len(own)]
        value = self._value(lasts / (2 * keys), q)
        value[lasts <= 0.0] = -np.inf
        best, most = -1, -np.inf
        for row in np.argsort(-value, kind="stable")[:_GRASP_POSES]:
            if lasts[row] > 0 and self._pose_grasp(chosen[row]):
                holds, score = self._count_carried()
                worth = float(self._value(np.array([score / (2 * keys)]), self._path.q[:1])[0])
                if worth > most and holds >= needed:
                    best, most = int(row), worth
        return best >= 0 and self._pose_grasp(chosen[best])

    def _value(
        self, lasts: Float[np.ndarray, " N"], q: Float[np.ndarray, "N J"]
    ) -> Float[np.ndarray, " N"]:
        """How good grasps of the first frame are that last for a share of the frames."""
        away = np.sqrt(np.mean((q - self._data.comfortable[0]) ** 2, axis=1))
        return np.asarray(lasts - self._policy.guide.weight * away / _FAR_POSTURE)

    def _pose_grasp(self, chosen: Int[np.ndarray, " D"]) -> bool:
        """Poses all digits at their candidates in frame 0; returns whether that is feasible."""
        data, candidates, work = self._data, self._candidates, self._work
        guide, q = work.guide, self._path.q[0]
        q[:] = data.ready[0, 1]
        for d, m in enumerate(chosen):
            guide.mode[d] = FREE if m < 0 else HOLD
            guide.link[d] = data.pad_link[d]
            guide.local[d] = data.pads[d, 0]
            if m < 0:
                continue
            guide.link[d] = data.pad_links[d, candidates.pad[m]]
            guide.local[d] = data.pads[d, candidates.pad[m]]
            guide.target[d], guide.normal[d] = candidates.point[m], candidates.normal[m]
            free = data.hands.table.free[d]
            free = free[free >= 0]
            q[free] = candidates.q[d, m, 0, : len(free)]
        work.low[:], work.high[:], work.reference[:] = data.low[0], data.high[0], data.curled[0]
        policy = self._policy
        policy.schedule.start_kept(q)
        policy.schedule.guide(work, 0)
        return self._is_frame_feasible()

    def _is_frame_feasible(self) -> bool:
        """Whether digits can be at their guiding points in frame 0 and carry the body."""
        work = self._work
        work.force_weight[:] = 1.0
        work.is_landing[:] = False
        work.must_touch[:] = True
        is_fine = bool(solve_frame(self._state, 0, TRIES, False, True) == FEASIBLE)
        return is_fine and self._policy.schedule.untouched(work, self._owner, 0) < 0
