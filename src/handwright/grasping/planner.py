"""The grasp planner: equation (9) of docs/derivations/interactive.md, from many start poses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.surface import Surface
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
