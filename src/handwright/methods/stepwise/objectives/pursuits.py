"""All goals that are pursued at a time, each with the reference that leads to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from handwright.core.goal import Feature, Goal, is_same_goal
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.anticipation import Expectation
from handwright.methods.stepwise.objectives.horizon import VelocityObjectives
from handwright.methods.stepwise.objectives.pursuit import Pursuit, begin_pursuit, feature_now


@dataclass(slots=True, eq=False)
class Pursuits:
    """The goals of a session that are being pursued."""

    _known: dict[GoalKind, Pursuit] = field(default_factory=dict)
    _wrist_goals: dict[tuple[str, str | None, int], tuple[Goal, Goal]] = field(default_factory=dict)
    """Goals of bodies that slip out of a hand, with the goals of its wrist in their place."""

    def __bool__(self) -> bool:
        """Whether any goal has been pursued."""
        return bool(self._known)

    def rows(
        self,
        frame: Frame,
        goals: Sequence[Goal],
        ready: set[str],
        expectations: Sequence[Expectation],
    ) -> list[VelocityObjectives]:
        """Objectives of the goals that count now.

        Args:
            frame: States before it.
            goals: All goals, past and future.
            ready: Names of hands and bodies that can go for goals now.
            expectations: What hands expect of the bodies that they hold; lifts begin here.
        """
        world, parts = frame.world, list[VelocityObjectives]()
        losing = {world.bodies[one.body].name: one.hand for one in expectations if one.is_losing}
        asked = []
        for goal in goals:
            if goal.feature.owner in losing and goal.position is not None:
                goal = self._wrist_goal(frame, goal, losing[goal.feature.owner])
            if goal.feature.owner in ready:
                asked.append(goal)
        for key, goal in current_goals(asked, frame.time).items():
            now = feature_now(frame, goal)
            pursuit = self._known.get(key)
            if pursuit is None or not is_same_goal(pursuit.goal, goal):
                self._begin_lifts(frame, goal, expectations)
                # One that is over is not replaced, and has been met.
                is_replaced = pursuit is not None and not any(
                    is_same_goal(pursuit.goal, other) for other in goals
                )
                pursuit = begin_pursuit(frame, goal, now, is_replaced=is_replaced)
                self._known[key] = pursuit
            parts.append(pursuit.rows(frame, now))
        return parts

    def _begin_lifts(self, frame: Frame, goal: Goal, expectations: Sequence[Expectation]) -> None:
        """Tells hands whose body has its first goal that they are about to carry it."""
        for one in expectations:
            name = frame.world.bodies[one.body].name
            if name == goal.feature.owner and not any(name == known.owner for known in self._known):
                one.begin_lift()

    def _wrist_goal(self, frame: Frame, goal: Goal, hand: int) -> Goal:
        """The goal of the wrist of a hand that is losing the body of a goal without knowing it.

        The hand goes the way that it would have gone with the body.
        """
        key = goal.feature.owner, goal.feature.frame, hand
        known = self._wrist_goals.get(key)
        if known is not None and is_same_goal(known[0], goal):
            return known[1]
        assert goal.position is not None
        way = goal.position - feature_now(frame, goal).point
        wrist = Goal(
            Feature(frame.world.hands[hand].name), goal.start, goal.end, position=np.zeros(3)
        )
        now = feature_now(frame, wrist)
        found = replace(wrist, position=now.point + goal.matters * way, wxyz=now.wxyz)
        self._wrist_goals[key] = goal, found
        return found


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
