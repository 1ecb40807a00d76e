"""Grasps for the grips of a problem: what the planner is told about goals and other bodies."""

from __future__ import annotations

from handwright.core.events import Grip
from handwright.core.problem import Problem, goal_poses
from handwright.grasping.grasp import Grasp, NoGrasp
from handwright.grasping.obstacles import obstacles
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
