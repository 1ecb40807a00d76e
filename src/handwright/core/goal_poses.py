"""Where goals want a body over time."""

from __future__ import annotations

import numpy as np

from handwright.core.goal import Goal
from handwright.core.problem import Problem
from handwright.math import rotation
from handwright.math.one_turn import turn_to
from handwright.math.pose import Pose
from handwright.math.vectors import turn_between


def _whole_goals(problem: Problem, name: str) -> list[Goal]:
    """Goals of a body itself in the world, in the order of their times."""
    own = [
        goal
        for goal in problem.goals
        if goal.feature.owner == name and goal.feature.point is None and goal.relative_to is None
    ]
    return sorted(own, key=lambda goal: goal.start)


def _after(now: Pose, goal: Goal) -> Pose:
    """Where a body is that was there before, once a goal is over; what is free stays."""
    end, lasts = np.array([goal.end]), goal.end - goal.start
    position, wxyz = now.position, now.wxyz
    if goal.position is not None:
        position = np.where(goal.matters, goal.position_at(end)[0], position)
    elif goal.velocity is not None:
        position = position + lasts * goal.matters * goal.velocity
    if goal.axis is not None:
        axis = goal.axis / np.linalg.norm(goal.axis)
        here, there = (rotation.rotate(turn, axis) for turn in (wxyz, goal.wxyz_at(end)[0]))
        wxyz = rotation.multiply(rotation.exp(turn_between(here, there)), wxyz)
    elif goal.wxyz is not None:
        wxyz = goal.wxyz_at(end)[0]
    elif goal.spin is not None:
        wxyz = rotation.multiply(rotation.exp(lasts * goal.spin), wxyz)
    return Pose.normalized(position, wxyz)


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
