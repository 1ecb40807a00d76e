"""What digits do next: strategies for a window of frames, drawn among those that forces allow.

Ye & Liu 2012, sections 4.2 and 5. Past the paper, the plan looks ahead: a contact that is about to
leave the digit's reach is given up while others can carry the load, and candidates that stay within
reach are preferred. The draws themselves are in ``draw.py``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from handwright.kernels.packed import Packed
from handwright.methods.sampling.search.draw import draw_plan
from handwright.methods.sampling.search.path import Path
from handwright.methods.sampling.search.policy import Policy, make_plan_data
from handwright.methods.sampling.search.workspace import FLY, SLIDE
from handwright.methods.sampling.setup.candidates import Candidates
from handwright.methods.sampling.setup.hold_data import HoldData

Forced: TypeAlias = dict[int, "np.ndarray | None"]


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
        """(D, M, K) how much digits prefer candidates at key frames."""
        self._plan = make_plan_data(data, candidates, policy, self.appeal, rng)
        self._packed = Packed(self._plan)

    def draw(self, t: int, forced: Forced) -> bool:
        """Draws a strategy for every digit, for the window that starts at frame ``t``.

        Returns whether all digits that must leave their contacts can.

        Args:
            t: Row of the path that holds the plan.
            forced: Digits that must leave their contacts, each with a point to keep away from.
        """
        moves = self._plan.forced
        moves.is_forced[:] = moves.avoids_point[:] = False
        for d, avoided_point in forced.items():
            moves.is_forced[d] = True
            if avoided_point is not None:
                moves.avoids_point[d] = True
                moves.avoided_point[d] = avoided_point
        return bool(draw_plan(self._state, self._packed, t))

    def copy_row(self, t: int) -> list[np.ndarray]:
        """Copies the plan of row t."""
        return [column[t].copy() for column in self._columns()]

    def write_row(self, t: int, plan: list[np.ndarray]) -> None:
        """Writes a copied plan to row t."""
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


def candidate_appeal(
    candidates: Candidates, comfort: float, lasting: float
) -> Float[np.ndarray, "D M K"]:
    """How much digits prefer candidates: those that are comfortable and stay within reach."""
    most = np.maximum(candidates.life.max(axis=1, keepdims=True), 1)
    return np.where(
        np.isfinite(candidates.cost),
        np.exp(-comfort * np.where(np.isfinite(candidates.cost), candidates.cost, 0.0))
        * (candidates.life / most) ** lasting,
        0.0,
    )
