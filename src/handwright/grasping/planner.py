"""The grasp planner: equation (9) of docs/derivations/interactive.md, from many start poses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.events import Grip
from handwright.core.hand import HandModel
from handwright.core.problem import Problem, goal_pose_at, goal_poses
from handwright.core.surface import EnvironmentBox, Surface
from handwright.errors import InvalidValueError
from handwright.grasping.grasp import Grasp, NoGrasp
from handwright.grasping.grip_styles import GripStyle, grip_style
from handwright.grasping.search import GraspSearch
from handwright.grasping.task import GraspOptions, GraspTask
from handwright.math.pose import Pose

# How often start poses are drawn if there is no grasp.
_DRAWS = 3


def find_grasp(
    hand: HandModel,
    body: RigidBody,
    style: str | GripStyle,
    *,
    pose: Pose | None = None,
    root: Pose | None = None,
    environment: Sequence[Surface] = (),
    options: GraspOptions | None = None,
    seed: int = 0,
) -> Grasp | NoGrasp:
    """Finds where a hand can hold a body in some grip style.

    The handles of the style lie on the surface, contact forces bear the weight and disturbances,
    nothing is inside anything else, and the posture is as near to the style's as that allows.

    Args:
        hand: The hand. With an arm, its root stays where it is; a bare hand may go anywhere.
        body: The body to hold.
        style: A name of ``GRIP_STYLES``, or a style of your own.
        pose: Pose of the body in the world; the origin, upright, if left out.
        root: Pose of the hand's root in the world. A hand with an arm needs it: it is the shoulder.
        environment: Surfaces that the hand must keep out of, such as a table.
        options: Gravity, friction, where on the body to take it, where it will be carried to, and
            how many start poses are tried.
        seed: Random seed of the start poses; the same seed gives the same grasp.

    Returns:
        The best grasp found, or a ``NoGrasp`` that says why there is none and what to try.
    """
    style = grip_style(style) if isinstance(style, str) else style
    if hand.wrist_link != 0 and root is None:
        raise InvalidValueError(
            f"find_grasp: hand '{hand.name}' has an arm but no root was given; expected the pose "
            "of its shoulder in the world."
        )
    options = GraspOptions() if options is None else options
    pose = Pose.identity() if pose is None else pose
    search = GraspSearch.prepare(
        GraspTask(hand, body, style, pose, root, tuple(environment), options)
    )
    if isinstance(search, NoGrasp):
        return search
    rng = np.random.default_rng(seed)
    failures: Counter[str] = Counter()
    for _ in range(_DRAWS):
        starts = search.starts(rng)
        if not starts:
            return NoGrasp(
                f"{body.name} has no opposed places that are {1e3 * style.width[0]:.0f} to "
                f"{1e3 * style.width[1]:.0f} mm apart, which the grip style '{style.name}' is for. "
                "Try another style."
            )
        grasps = search.grasps(starts, failures)
        if grasps:
            return min(grasps, key=lambda grasp: grasp.cost)
    if search.on_edges:
        return min(search.on_edges, key=lambda grasp: grasp.cost)
    why = "; ".join(f"{number} x {text}" for text, number in failures.most_common(3))
    return NoGrasp(
        f"The grip style '{style.name}' does not hold {body.name} from any of "
        f"{failures.total()} places: {why}. Try another style, or move the body or the shoulder."
    )


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
