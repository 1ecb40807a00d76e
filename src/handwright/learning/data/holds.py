"""Where hands hold things: grasps of the planner, kept in the cache.

A hold is found for the right hand on a thing that stands on the table; a left hand takes the
mirror image.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.geometry.cache import load_or_build
from handwright.geometry.distance.environment import table
from handwright.grasping import GRIP_STYLES, Grasp, GraspOptions, GripStyle, find_grasp
from handwright.learning.data.shapes import Kind, Plane, Thing
from handwright.learning.data.stage import hand_model
from handwright.math import rotation
from handwright.math.pose import Pose

ACROSS = {"x": np.diag([-1.0, 1.0, 1.0]), "y": np.diag([1.0, -1.0, 1.0])}
"""Mirror images, by the axis that their plane is square to."""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
# Of the way in which holds are looked for.
_VERSION = 1
_NUM_STARTS = 12
# The planner's figure for holds that only just hold, or that are contorted.
_WORST = 12.0


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """Where a hand is while it holds a thing."""

    grip: str
    """A key of ``GRIPS``."""
    wrist: Pose
    """Root of the hand in the frame of the thing as it lies or stands, its origin in the middle of
    the thing."""
    q: Float[np.ndarray, " J"]
    """Joint values of the planner's grasp, rad."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


def _turned(style: str, low: float, high: float) -> GripStyle:
    """A style of the planner with the palm facing up to some extent: cosines."""
    return replace(GRIP_STYLES[style], palm_up=(low, high))


GRIPS: dict[str, GripStyle] = {
    "wrap": _turned("power", -0.5, 0.4),
    "above": _turned("precision", -1.0, -0.6),
    "side": _turned("precision", -0.5, 0.3),
    "pinch": GRIP_STYLES["tripod"],
    "handle": GRIP_STYLES["power"],
    "handle_pinch": GRIP_STYLES["lateral"],
    "any": _turned("precision", -1.0, 1.0),
}
"""Ways to take a thing, by name."""
NUM_HOLDS = 2
"""Holds of one thing that are looked for in each way."""


def mirrored(hold: Hold, plane: Plane) -> Hold:
    """The same hold by the other hand, on a thing that is its own mirror image."""
    across = ACROSS[plane]
    # A left hand is the mirror image in y = 0 of its own frame.
    matrix = across @ rotation.to_matrix(hold.wrist.wxyz) @ ACROSS["y"]
    return Hold(hold.grip, Pose(across @ hold.wrist.position, rotation.from_matrix(matrix)), hold.q)


def holds_of(kind: Kind, thing: Thing) -> list[Hold]:
    """All holds of a thing by the right hand: from the cache, or found now.

    Args:
        kind: What the thing is.
        thing: Which size.
    """
    holds = []
    for grip in kind.grips:
        key = f"hold-{thing.name}-{1e3 * thing.friction:g}-{grip}-{NUM_HOLDS}-v{_VERSION}"
        rows = load_or_build(key, partial(_found_rows, kind, thing, grip))
        poses = Pose(rows["position"], rows["wxyz"])
        holds += [Hold(grip, poses[i], rows["q"][i]) for i in range(len(rows["q"]))]
    return holds


def _found_rows(kind: Kind, thing: Thing, grip: str) -> dict[str, np.ndarray]:
    """Holds of one grip as arrays."""
    found = [find_hold(kind, thing, grip, seed) for seed in range(NUM_HOLDS)]
    holds = [hold for hold in found if hold is not None]
    count, joints = len(holds), hand_model("right").num_joints
    return {
        "position": np.array([hold.wrist.position for hold in holds]).reshape(count, 3),
        "wxyz": np.array([hold.wrist.wxyz for hold in holds]).reshape(count, 4),
        "q": np.array([hold.q for hold in holds]).reshape(count, joints),
    }


def find_hold(kind: Kind, thing: Thing, grip: str, seed: int) -> Hold | None:
    """A hold by the right hand, or None if the planner finds none that is any good."""
    body = thing.planned_body()
    bounds = thing.rest[None].apply(body.vertices)
    low, high = bounds.min(axis=0), bounds.max(axis=0)
    pose = Pose(np.array([0.0, 0.0, -low[2]]), thing.rest.wxyz)
    near = None
    if grip.startswith("handle") and kind.handle is not None:
        x, z = (low[[0, 2]] + np.array(kind.handle) * (high - low)[[0, 2]]).tolist()
        near = np.array([x, 0.0, z])
    grasp = find_grasp(
        hand_model("right"),
        body,
        GRIPS[grip],
        pose=pose,
        environment=(table(0.0, size=(2.0, 2.0)),),
        options=GraspOptions(near=near, num_starts=_NUM_STARTS),
        seed=seed,
    )
    if not isinstance(grasp, Grasp) or grasp.cost > _WORST:
        return None
    return Hold(grip, Pose(pose.position, _UPRIGHT).inverse() @ grasp.root, grasp.q)
