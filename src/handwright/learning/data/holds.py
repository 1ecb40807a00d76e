"""Where hands hold things: grasps of the planner, kept in the cache.

A hold is found for the right hand on a thing that stands on the table; a left hand takes the
mirror image.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.geometry.cache import load_or_build
from handwright.geometry.distance.environment import table
from handwright.grasping import GRIP_STYLES, Grasp, GraspOptions, GripStyle, find_grasp
from handwright.grasping.start_poses import style_posture
from handwright.learning.data.shapes import Kind, Plane, Thing
from handwright.learning.data.stage import hand_model
from handwright.math import rotation
from handwright.math.pose import Pose

ACROSS = {"x": np.diag([-1.0, 1.0, 1.0]), "y": np.diag([1.0, -1.0, 1.0])}
"""Mirror images, by the axis that their plane is square to."""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
# Of the way in which holds are looked for.
_VERSION = 3
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
    "any": _turned("precision", -1.0, 1.0),
}
"""Ways to take a thing, by name."""
NUM_HOLDS = 2
"""Holds of one thing that are looked for in each way."""
_NUM_HANDLE_HOLDS = 4
# Half the thickness of a slice through a handle, and the thickness of the thickest bar, m.
_SLICE, _THICKEST = 0.004, 0.025


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
    count = _NUM_HANDLE_HOLDS if grip == "handle" else NUM_HOLDS
    found = [find_hold(kind, thing, grip, seed) for seed in range(count)]
    holds = [hold for hold in found if hold is not None]
    count, joints = len(holds), hand_model("right").num_joints
    return {
        "position": np.array([hold.wrist.position for hold in holds]).reshape(count, 3),
        "wxyz": np.array([hold.wrist.wxyz for hold in holds]).reshape(count, 4),
        "q": np.array([hold.q for hold in holds]).reshape(count, joints),
    }


# Two ways to take a bar with three fingers through the handle and the thumb on its top, for a
# handle towards +x: place of the wrist from the bar's middle, m, and orientation. The planner does
# not find these, since it does not put fingers through holes; they come from the shipped scenes.
_ON_BAR = (
    ((0.0637, -0.0852, -0.0020), (0.4728, 0.4313, 0.4748, 0.6042)),
    ((0.0967, -0.0320, 0.0103), (0.3210, 0.2234, 0.6537, 0.6479)),
)
# How far along the bar the hand is moved for every second hold, m.
_ALONG_BAR = 0.006


def handle_hold(kind: Kind, thing: Thing, seed: int) -> Hold | None:
    """A hold of a handle by three fingers; there are two, each at two heights."""
    if kind.handle is None:
        return None
    way, share = kind.handle
    body = thing.body()
    low, high = body.bounds[:, 2]
    height = low + share * (high - low) + _ALONG_BAR * (seed // len(_ON_BAR))
    position, wxyz = _ON_BAR[seed % len(_ON_BAR)]
    around = Pose(
        handle_bar(body, way, height), rotation.exp(np.array([0.0, 0.0, 0.0 if way > 0 else np.pi]))
    )
    q = style_posture(hand_model("right"), GRIPS["handle"], 0.0)
    return Hold("handle", around @ Pose.normalized(position, wxyz), q)


def handle_bar(body: RigidBody, way: float, height: float) -> Float[np.ndarray, "3"]:
    """Middle of the upright part of a handle at a height of the body's frame, m.

    Args:
        body: Whose handle lies in the plane y = 0.
        way: Above zero for a handle towards +x, else towards -x.
        height: m.
    """
    near = (np.abs(body.vertices[:, 2] - height) < _SLICE) & (np.abs(body.vertices[:, 1]) < 0.02)
    x = np.sign(way) * body.vertices[near, 0]
    bar = x[x > x.max() - _THICKEST]
    return np.array([np.sign(way) * 0.5 * (bar.min() + bar.max()), 0.0, height])


def find_hold(kind: Kind, thing: Thing, grip: str, seed: int) -> Hold | None:
    """A hold by the right hand, or None if the planner finds none that is any good."""
    if grip == "handle":
        return handle_hold(kind, thing, seed)
    body = thing.planned_body()
    low = float(thing.rest[None].apply(body.vertices)[:, 2].min())
    pose = Pose(np.array([0.0, 0.0, -low]), thing.rest.wxyz)
    grasp = find_grasp(
        hand_model("right"),
        body,
        GRIPS[grip],
        pose=pose,
        environment=(table(0.0, size=(2.0, 2.0)),),
        options=GraspOptions(num_starts=_NUM_STARTS),
        seed=seed,
    )
    if not isinstance(grasp, Grasp) or grasp.cost > _WORST:
        return None
    return Hold(grip, Pose(pose.position, _UPRIGHT).inverse() @ grasp.root, grasp.q)
