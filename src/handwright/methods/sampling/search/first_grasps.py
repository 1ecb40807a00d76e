"""First grasps of a search: of many draws, the one that can carry the body for longest.

With a guide, those near its posture are preferred.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.kernels.packed import Packed
from handwright.methods.sampling.search.carrying import (
    SPARE_FRICTION,
    count_posed_key_frames,
    score_grasps,
)
from handwright.methods.sampling.search.frame import FEASIBLE
from handwright.methods.sampling.search.step import TRIES, SearchState, solve_frame
from handwright.methods.sampling.search.workspace import FREE, HOLD
from handwright.methods.sampling.setup.grasps import (
    close_hands,
    closing_state,
    closing_steps,
    draw_grasps,
    first_digits,
    guided_posture,
    wanted_posture,
)
from handwright.methods.sampling.setup.prepare import HoldSearch

# Largest number of grasps of a round that are posed, which takes far longer than forces do.
_GRASP_POSES = 20
# Distance from the guide's posture, rad, root mean square, that a first grasp may have if it lasts
# for the whole motion instead of for a moment.
_FAR_POSTURE = 0.3
# Number of ways to close a hand of which the best is taken.
_WRAPS, _GUIDED_WRAPS = 12, 4
# Number of key frames in which a grasp must carry the body once it is posed.
_HELD_KEYS = 3


class FirstGrasps:
    """Poses first grasps in row 0 of a path."""

    def __init__(
        self,
        hold: HoldSearch,
        state: SearchState,
        appeal: Float[np.ndarray, "D M"],
        rng: np.random.Generator,
    ) -> None:
        self.count = 0
        """Number of grasps that were drawn."""
        self._data, self._candidates, self._path, self._work = state
        self._state = Packed(state)
        self._policy, self._parts, self._rng = hold.policy, hold.parts, rng
        self._closing = closing_state(self._data, state) if hold.policy.wraps else None
        # Appeal of candidates at the first key frame, added up to draw from.
        self._appeal = np.cumsum(appeal, axis=1)
        self._is_guided = hold.policy.guide.weight > 0.0
        self._has_schedule = hold.policy.schedule.has_any()

    def pose(self) -> bool:
        """Poses the best grasp of a round of draws; returns whether there is one."""
        return self._measure_wrap() or self._grasp()

    def _measure_wrap(self) -> bool:
        """Closes the hands around the body in the way that carries it for longest, if one does."""
        if self._closing is None or self._has_schedule:
            return False
        if self._is_guided:
            return self._measure_guided_wrap()
        best, most = None, 0
        for _ in range(_WRAPS):
            wanted = wanted_posture(self._data, self._rng)
            self.count += 1
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
            self.count += 1
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
        is_bound = np.array([policy.schedule.binds(0, d) for d in range(len(is_thumb))])
        chosen = draw_grasps(
            self._appeal, data.may_touch[0], is_thumb | is_bound, policy.grasp_tries,
            policy.leave_free[0], rng,
        )  # fmt: skip
        lasts = np.zeros(len(chosen))
        score_grasps(self._state, chosen, 0, np.zeros((0, 3)), lasts)
        self.count += len(chosen)
        needed = min(_HELD_KEYS, len(self._candidates.frame))
        if self._is_guided:
            return self._guided_grasp(chosen, lasts, needed)
        best, most = -1, 0
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
        work, owner = self._work, self._data.hands.digit_of_capsule
        work.force_weight[:] = 1.0
        work.is_landing[:] = False
        work.must_touch[:] = True
        is_fine = bool(solve_frame(self._state, 0, TRIES, False, True) == FEASIBLE)
        return is_fine and self._policy.schedule.untouched(work, owner, 0) < 0
