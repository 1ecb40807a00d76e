"""Impacts: which steps of a motion may hold one, and what a surface that is hit can give.

Frames seldom show the moment of an impact: a ball is above the floor, and in the next frame above
it again. Its velocity changes all the same, so that the two frames around the impact need a force
although nothing touches. A step counts as an impact only if it must be one: the sides approach
fast before it, going on they would meet within it, and going back from after it they would too.

What does not move by itself gives nothing: surroundings and bodies part no faster than they met.
Hands do move by themselves; they also let go, and the body leaves somewhere within that step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

IMPACT_SPEED = 0.05
"""Sides that approach or part faster than this hit each other or let go, m/s."""
_GRAVITY = 9.81
_FALLING = 10.0
"""How fast things that fall speed up within a step, m/s^2."""
REACHING = 50.0
"""The same for hands, m/s^2."""


class Impacts(NamedTuple):
    """Impacts of some pairs of sides over the frames of a motion."""

    number: Int[np.ndarray, "T C"]
    """Of the impact in a step beside the frame, counted from 0 for each pair; -1 for none."""
    may_push: Bool[np.ndarray, "T C"]
    """Whether the sides can push on each other: not if they part without having met."""


def find_impacts(
    gap: Float[np.ndarray, "T C"],
    times: Float[np.ndarray, " T"],
    *,
    touching: float,
    letting_go: Bool[np.ndarray, "S C"] | None = None,
    is_fixed: bool = True,
) -> Impacts:
    """Finds the impacts of each pair.

    Args:
        gap: Between the sides, m; NaN where it is not known, and there is no impact.
        times: Times of the frames, s.
        touching: Gap up to which sides touch, m.
        letting_go: Steps in which a hand ceases to touch; None if neither side is a hand, and
            so moves by itself.
        is_fixed: Whether one side never moves; bodies that are held may speed up within a step.
    """
    number = np.full(gap.shape, -1)
    may_push = np.ones(gap.shape, dtype=bool)
    if len(times) < 3:
        return Impacts(number, may_push)
    step = np.diff(times)[:, None]
    parting = np.nan_to_num(np.diff(gap, axis=0) / step, nan=0.0)
    # In the first step nothing is known of before it, nor in the last of after it.
    before = -np.concatenate([parting[:1], parting[:-1]])
    after = np.concatenate([parting[1:], parting[-1:]])
    sped_up = 0.5 * (_FALLING if letting_go is None else REACHING) * step**2
    meets = gap[:-1] - before * step - sped_up <= touching
    came_from = gap[1:] - np.maximum(after, 0.0) * step - sped_up <= touching
    is_impact = (before >= IMPACT_SPEED) & meets & came_from
    if letting_go is None:
        # A ball gains speed before it lands and loses it after: within a step by no more than this.
        is_impact &= after <= before + _GRAVITY * step + IMPACT_SPEED
        sped = 0.0 if is_fixed else 0.5 * REACHING * step
        parts = parting > np.maximum(before, 0.0) + IMPACT_SPEED + sped
        may_push[:-1] = ~parts
    else:
        is_impact |= letting_go & (parting > IMPACT_SPEED) & came_from
    count = np.cumsum(is_impact & ~np.pad(is_impact, ((1, 0), (0, 0)))[:-1], axis=0) - 1
    for beside in (number[:-1], number[1:]):
        beside[is_impact] = count[is_impact]
    may_push |= number >= 0
    return Impacts(number, may_push)
