"""What digits do next: strategies for a window of frames, drawn among those that forces allow.

Ye & Liu 2012, sections 4.2 and 5. Past the paper, the plan looks ahead: a contact that is about to
leave the digit's reach is given up while others can carry the load, and places that stay within
reach are preferred. The draws themselves are in ``drawing.py``.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from handwright.kernels.packed import Packed
from handwright.kernels.rng import make_dice
from handwright.methods.sampling.constraints.schedule import DigitSchedule
from handwright.methods.sampling.search.carrying import UNKNOWN
from handwright.methods.sampling.search.draw import Plans, draw_plan
from handwright.methods.sampling.search.path import Path, make_path
from handwright.methods.sampling.search.workspace import FLY, SLIDE
from handwright.methods.sampling.setup.candidates import Candidates
from handwright.methods.sampling.setup.grasps import first_digits
from handwright.methods.sampling.setup.hold_data import HoldData

# Horizons, in look-aheads; and where bodies turn in the hand so quickly, rad a frame, that places
# which are in reach before and after may be out of it in between. The second is the one that
# digits must keep their places for.
_HORIZONS, _QUICK_HORIZONS = (0.5, 1.0, 2.0, 3.5), (0.3, 1.0, 0.6, 2.0)
_QUICK_ROTATION = 0.12
# Grasps of which the best is taken where a hand comes to a body that another one holds.
_GRASPS = 30

Forced: TypeAlias = dict[int, "np.ndarray | None"]


class Policy(NamedTuple):
    """How plans are drawn; probabilities are for each chance that there is."""

    window: int
    """Expected length of a window, frames."""
    slide: np.ndarray
    """(T, D) probability that a digit on its friction cone slides."""
    relocate: np.ndarray
    """(T, D) probability that a digit without load moves to another place."""
    land: np.ndarray
    """(T, D) probability that a free digit comes to the body."""
    leave_free: float
    """Probability that a digit stays off the body at the start."""
    slide_step: float
    """Largest sliding, m a frame."""
    flight: int
    """Least frames from lift-off to landing."""
    stride: float
    """How far a digit relocates in a frame, at most, m."""
    look_ahead: int
    """Frames within which a contact must stay in reach."""
    comfort: float
    """How much comfortable places are preferred."""
    lasting: float
    """How much places are preferred that stay within reach for long."""
    grasp_tries: int
    """Draws of a first grasp."""
    is_informed: bool
    """Whether dead ends are answered by their cause; else everything is drawn anew."""
    wraps: bool
    """Whether first grasps are looked for by closing the hand."""
    schedule: DigitSchedule
    """What single digits are told to do."""


class Planner:
    """Draws plans into the rows of a path."""

    def __init__(
        self,
        data: HoldData,
        candidates: Candidates,
        path: Path,
        policy: Policy,
        state: Packed,
        rng: np.random.Generator,
    ) -> None:
        self._path, self._state = path, state
        self.appeal = candidate_appeal(candidates, policy.comfort, policy.lasting)
        """(D, M, K) how much digits like places."""
        self._make_plans = _make_plans(data, candidates, policy, self.appeal, rng)
        self._packed = Packed(self._make_plans)

    def draw(self, t: int, forced: Forced) -> bool:
        """Draws a strategy for every digit, for the window that starts at frame ``t``.

        Returns whether all digits that must leave their places can.

        Args:
            t: Row of the path that holds the plan.
            forced: Digits that must leave their places, each with a point to keep away from.
        """
        plans = self._make_plans
        plans.is_forced[:] = plans.avoids_point[:] = False
        for d, avoided_point in forced.items():
            plans.is_forced[d] = True
            if avoided_point is not None:
                plans.avoids_point[d] = True
                plans.avoided_point[d] = avoided_point
        return bool(draw_plan(self._state, self._packed, t))

    def copy_row(self, t: int) -> list[np.ndarray]:
        """The plan of row t."""
        return [column[t].copy() for column in self._columns()]

    def write_row(self, t: int, plan: list[np.ndarray]) -> None:
        """Puts a copied plan back."""
        for column, values in zip(self._columns(), plan, strict=True):
            column[t] = values

    def _columns(self) -> tuple[np.ndarray, ...]:
        path = self._path
        flight = (path.fly_begin, path.fly_end, path.fly_candidate, path.fly_pad, path.fly_from)
        return (path.mode, path.window_end, path.slide, *flight, path.fly_goal, path.fly_normal)

    def aims(self, t: int) -> np.ndarray:
        """(D, 3) where the digits will be by the plan of row t, m: what makes plans differ."""
        path = self._path
        aim = path.target[t].copy()
        length = path.window_end[t] - t
        sliding, flying = path.mode[t] == SLIDE, path.mode[t] == FLY
        aim[sliding] += length * path.slide[t][sliding]
        aim[flying] = path.fly_goal[t][flying]
        return aim


def _make_plans(
    data: HoldData,
    candidates: Candidates,
    policy: Policy,
    appeal: np.ndarray,
    rng: np.random.Generator,
) -> Plans:
    digits, num_places, _ = appeal.shape
    horizons = _QUICK_HORIZONS if _largest_rotation_step(data) > _QUICK_ROTATION else _HORIZONS
    frames, count = candidates.frame, len(horizons)
    # Key frames for which a place must last from each of them.
    until = np.minimum(frames + policy.look_ahead, frames[-1])
    lasts = candidates.life >= np.searchsorted(frames, until, side="right") - np.arange(len(frames))
    both = np.stack([appeal, np.where(lasts, appeal, 0.0)])
    return Plans(
        window=policy.window,
        slide=policy.slide,
        relocate=policy.relocate,
        land=policy.land,
        leave_free=policy.leave_free,
        slide_step=policy.slide_step,
        flight=policy.flight,
        stride=policy.stride,
        look_ahead=policy.look_ahead,
        schedule=policy.schedule,
        appeal=np.ascontiguousarray(both.transpose(0, 1, 3, 2)),
        is_thumb=first_digits(data.hand_of_digit),
        horizons=np.array([round(share * policy.look_ahead) for share in horizons]),
        dice=make_dice(rng),
        is_forced=np.zeros(digits, dtype=np.bool_),
        avoids_point=np.zeros(digits, dtype=np.bool_),
        avoided_point=np.zeros((digits, 3)),
        best=make_path(data, 1),
        frames=np.zeros(count, dtype=np.int64),
        keys=np.zeros(count, dtype=np.int64),
        keeps=np.full((digits, count), UNKNOWN),
        departures=np.zeros(digits, dtype=np.int64),
        is_away=np.zeros(digits, dtype=np.bool_),
        is_spared=np.zeros(digits, dtype=np.bool_),
        planning_order=np.zeros(digits, dtype=np.int64),
        sums=np.zeros(num_places),
        taken=np.zeros((digits, 3)),
        grasps=np.full((_GRASPS, digits), -1),
        score=np.zeros(_GRASPS),
    )


def _largest_rotation_step(data: HoldData) -> float:
    """Of a wrist about the body from one frame to the next, rad."""
    rotation = data.root_rotation
    if len(rotation) < 2:
        return 0.0
    cosine = 0.5 * (np.einsum("thij,thij->th", rotation[1:], rotation[:-1]) - 1.0)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)).max())


def candidate_appeal(candidates: Candidates, comfort: float, lasting: float) -> np.ndarray:
    """(D, M, K) how much a digit likes a place: comfortable ones, and those that last."""
    most = np.maximum(candidates.life.max(axis=1, keepdims=True), 1)
    return np.where(
        np.isfinite(candidates.cost),
        np.exp(-comfort * np.where(np.isfinite(candidates.cost), candidates.cost, 0.0))
        * (candidates.life / most) ** lasting,
        0.0,
    )
