"""Grasps for the grips of a problem: what the planner is told about goals and other bodies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.events import Grip
from handwright.core.problem import Problem, goal_pose_at, goal_poses
from handwright.core.surface import EnvironmentBox
from handwright.grasping.grasp import Grasp, NoGrasp
from handwright.grasping.planner import find_grasp
from handwright.grasping.task import GraspOptions
from handwright.math.pose import Pose


def find_grip(problem: Problem, grip: Grip, pose: Pose, *, seed: int = 0) -> Grasp | NoGrasp:
    """Finds a grasp for one grip of a problem.

    The hand leaves space for other bodies, where they are and where goals bring them, and takes
    the body so that its arm can carry it to its goals.

    Args:
        problem: The hands, bodies, environment and goals.
        grip: Which hand takes which body, in which style.
        pose: Pose of the body in the world when it is taken.
        seed: Random seed of the search.
    """
    return find_grasp(
        problem.hands[grip.hand],
        problem.bodies[grip.body],
        grip.style,
        pose=pose,
        root=problem.start[grip.hand],
        environment=(*problem.environment, *obstacles(problem, grip.body)),
        options=GraspOptions(
            gravity=problem.gravity,
            near=grip.at,
            destinations=tuple(goal_poses(problem, grip.body)),
        ),
        seed=seed,
    )


# A body is cut across its longest side into so many boxes.
_NUM_SLABS = 8
# Bodies whose boxes stay farther away than this are left out, m: a hand does not reach there.
_AWAY = 0.25


def obstacles(problem: Problem, name: str) -> tuple[EnvironmentBox, ...]:
    """Boxes around other bodies where they are while one of them is held, seen as it is now.

    What comes near a body only later, such as a hammer, is where it will be then, as seen from the
    body: a hand that is there would be in its way.
    """
    times = sorted({float(problem.times[0]), *(goal.start for goal in problem.goals)})
    first = goal_pose_at(problem, name, times[0])
    if first is None:
        return ()
    boxes: list[EnvironmentBox] = []
    for other, body in problem.bodies.items():
        if other == name:
            continue
        seen: list[Pose] = []
        for time in times:
            own, theirs = goal_pose_at(problem, name, time), goal_pose_at(problem, other, time)
            if own is None or theirs is None:
                continue
            pose = first @ own.inverse() @ theirs
            if not any(_is_same(pose, known) for known in seen):
                seen.append(pose)
                boxes += _slabs(body, pose, first.apply(problem.bodies[name].center))
    return tuple(boxes)


def _is_same(one: Pose, two: Pose) -> bool:
    near = np.linalg.norm(one.position - two.position) < 1e-6
    return bool(near and abs(one.wxyz @ two.wxyz) > 1.0 - 1e-12)


def _slabs(body: RigidBody, pose: Pose, middle: np.ndarray) -> list[EnvironmentBox]:
    """Boxes around slices of a body."""
    low, high = body.vertices.min(axis=0), body.vertices.max(axis=0)
    axis = int(np.argmax(high - low))
    cuts = np.linspace(low[axis], high[axis], _NUM_SLABS + 1)
    corners = body.vertices[body.faces]
    least, most = corners[..., axis].min(axis=1), corners[..., axis].max(axis=1)
    found = []
    for begin, end in pairwise(cuts.tolist()):
        # Faces that are in the slice at all; those that stand out of it make the box too big.
        inside = corners[(most >= begin) & (least <= end)].reshape(-1, 3)
        if not len(inside):
            continue
        near, far = inside.min(axis=0), inside.max(axis=0)
        near[axis], far[axis] = begin, end
        place = Pose(pose.apply(0.5 * (near + far)), pose.wxyz)
        half = np.maximum(0.5 * (far - near), 1e-4)
        if np.linalg.norm(place.position - middle) < _AWAY + float(np.linalg.norm(half)):
            found.append(EnvironmentBox(place, half, body.friction))
    return found
