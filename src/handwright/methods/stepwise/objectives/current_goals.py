"""Which goals are pursued now, and which this method cannot pursue at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from handwright.core.goal import Goal

# Times are the same within this, s.
_SAME = 1e-9


class GoalKind(NamedTuple):
    """What goals have in common that follow one another; goals of other kinds go beside them."""

    owner: str
    frame: str | None
    point: tuple[float, ...] | None
    asks: tuple[str, ...]
    axes: str
    has_axis: bool


def kind(goal: Goal) -> GoalKind:
    """That of a goal."""
    point = goal.feature.point
    return GoalKind(
        goal.feature.owner,
        goal.feature.frame,
        None if point is None else tuple(point.tolist()),
        goal.asks,
        goal.axes,
        goal.axis is not None,
    )


def current_goals(goals: Sequence[Goal], time: float) -> dict[GoalKind, Goal]:
    """Goals to pursue at a time, s: the first of every kind that is not over.

    One that comes after another of the same feature waits until that is over; those whose times
    overlap are pursued together.
    """
    open_goals = sorted((g for g in goals if g.end >= time - _SAME), key=lambda goal: goal.start)
    found: dict[GoalKind, Goal] = {}
    for goal in open_goals:
        if not any(_is_before(other, goal) for other in open_goals):
            found.setdefault(kind(goal), goal)
    return found


def _is_before(one: Goal, two: Goal) -> bool:
    return (
        one.feature.owner == two.feature.owner
        and one.feature.frame == two.feature.frame
        and one.start < two.start
        and one.end <= two.start
    )


def goal_lacks(goals: Sequence[Goal]) -> list[str]:
    """What of some goals this method cannot do."""
    if any(goal.relative_to is not None for goal in goals):
        return ["goes for places and turns in the world only, not relative to a body"]
    return []
