"""Where goals want a body over time."""

from __future__ import annotations

from handwright.core.goal import Goal
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.math.one_turn import turn_to
from handwright.math.pose import Pose


def _whole_goals(problem: Problem, name: str) -> list[Goal]:
    """Goals of a body itself in the world, in the order of their times."""
    own = [
        goal
        for goal in problem.goals
        if goal.feature.owner == name and goal.feature.point is None and goal.relative_to is None
    ]
    return sorted(own, key=lambda goal: goal.start)


def _after(now: Pose, goal: Goal) -> Pose:
    return Pose(
        now.position if goal.position is None else goal.position,
        now.wxyz if goal.wxyz is None else goal.wxyz,
    )


def goal_pose_at(problem: Problem, name: str, time: float) -> Pose | None:
    """Pose of a body when the last goal before a time is met; None for one without a start."""
    now = problem.start.get(name)
    for goal in _whole_goals(problem, name):
        if now is not None and goal.start <= time + 1e-9:
            now = _after(now, goal)
    return now


def goal_poses(problem: Problem, name: str) -> list[Pose]:
    """Where goals bring a body, one after the other, and halfway in between."""
    now = problem.start.get(name)
    poses: list[Pose] = []
    for goal in _whole_goals(problem, name):
        if now is None:
            break
        then = _after(now, goal)
        half = rotation.multiply(rotation.exp(0.5 * turn_to(now.wxyz, then.wxyz)), now.wxyz)
        poses += [Pose.normalized(0.5 * (now.position + then.position), half), then]
        now = then
    return poses
