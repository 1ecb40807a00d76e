"""The initial grasp of a grip style on a body: equation (9), from several places around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.core.surface import Surface
from handwright.errors import InvalidValueError
from handwright.grasping.found import GraspContact, GraspFound, NoGrasp
from handwright.grasping.grip_styles import GripStyle, grip_style
from handwright.grasping.search import Search
from handwright.math.pose import Pose

__all__ = ["GraspContact", "GraspFound", "NoGrasp", "find_grasp"]

# How often places are drawn if there is no grasp.
_DRAWS = 3


def find_grasp(
    model: HandModel,
    body: RigidBody,
    pose: Pose,
    style: str | GripStyle,
    *,
    root: Pose | None = None,
    surroundings: Sequence[Surface] = (),
    gravity: Float[np.ndarray, "3"] | None = None,
    friction: float | None = None,
    at: Float[np.ndarray, "3"] | None = None,
    carried: Sequence[Pose] = (),
    rng: np.random.Generator,
    num_starts: int = 24,
) -> GraspFound | NoGrasp:
    """Where a hand can hold a body in some style.

    Handles of the style lie on the surface, contact forces bear the weight and disturbances,
    nothing is inside anything, and the posture is as near to the style's as that allows.

    Args:
        model: The hand. With an arm, its root stays; a bare hand may be anywhere.
        body: What to hold.
        pose: Of the body in the world.
        style: A name of ``GRIP_STYLES``, or a style.
        root: Of the hand; needed with an arm.
        surroundings: What the hand must also keep out of.
        gravity: m/s^2; (0, 0, -9.81) by default.
        friction: Coulomb coefficient that the hand counts on; the body's by default.
        at: Where on the body the grip should be, in its frame, m; near its centre by default.
        carried: Where the body will be brought to, in the world: an arm takes it so that it can.
        rng: Random numbers: where the search begins.
        num_starts: Places that are tried, and as many again, twice, if none of them will do.
    """
    style = grip_style(style) if isinstance(style, str) else style
    has_arm = model.wrist_link != 0
    if has_arm and root is None:
        raise InvalidValueError(
            f"find_grasp: hand '{model.name}' has an arm but no root was given; expected the pose "
            "of its shoulder in the world."
        )
    search = Search.prepare(
        model, body, pose, style, root, surroundings, gravity, friction, carried
    )
    if isinstance(search, NoGrasp):
        return search
    place = body.center if at is None else np.asarray(at, dtype=np.float64)
    failures: Counter[str] = Counter()
    for _ in range(_DRAWS):
        starts = search.starts(num_starts, place, rng)
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
