"""Where hands hold things: grasps of the planner, kept on disk for a run.

A hold is found for the right hand on a thing that stands on the table; a left hand takes the
mirror image.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.geometry.distance.environment import table
from handwright.grasping import GRIP_STYLES, Grasp, GraspOptions, GripStyle, find_grasp
from handwright.hands import human
from handwright.io.atomic import written_whole
from handwright.learning.data.shapes import Kind, Plane, Thing
from handwright.math import rotation
from handwright.math.pose import Pose

_ACROSS = {"x": np.diag([-1.0, 1.0, 1.0]), "y": np.diag([1.0, -1.0, 1.0])}
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
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
    "below": _turned("precision", 0.2, 1.0),
}
"""Ways to take a thing, by name."""
IN_THE_AIR = ("below",)
"""Those for which the table would be in the way."""
FROM_A_HAND = ("below",)
"""Those that are looked for on all things, to take them from another hand."""
NUM_HOLDS = 2
"""Holds of one thing that are looked for in each way."""


def mirrored(hold: Hold, plane: Plane) -> Hold:
    """The same hold by the other hand, on a thing that is its own mirror image."""
    across = _ACROSS[plane]
    # A left hand is the mirror image in y = 0 of its own frame.
    matrix = across @ rotation.to_matrix(hold.wrist.wxyz) @ _ACROSS["y"]
    return Hold(
        hold.grip, Pose(across @ hold.wrist.position, rotation.from_matrix(matrix)), hold.q
    )


def holds_of(kind: Kind, thing: Thing, folder: Path) -> list[Hold]:
    """All holds of a thing by the right hand; those not yet in the folder are found first.

    Args:
        kind: What the thing is.
        thing: Which size.
        folder: Where holds are kept, a file for each thing.
    """
    path = folder / f"{thing.name}.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rows = [
            _as_row(hold)
            for grip in (*kind.grips, *FROM_A_HAND)
            for seed in range(NUM_HOLDS)
            if (hold := find_hold(kind, thing, grip, seed)) is not None
        ]
        with written_whole(path) as file:
            file.write(json.dumps(rows).encode())
    return [_from_row(row) for row in json.loads(path.read_bytes())]


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
        human("right"),
        body,
        GRIPS[grip],
        pose=pose,
        environment=() if grip in IN_THE_AIR else (table(0.0, size=(2.0, 2.0)),),
        options=GraspOptions(near=near, num_starts=_NUM_STARTS),
        seed=seed,
    )
    if not isinstance(grasp, Grasp) or grasp.cost > _WORST:
        return None
    return Hold(grip, Pose(pose.position, _UPRIGHT).inverse() @ grasp.root, grasp.q)


def _as_row(hold: Hold) -> dict[str, object]:
    return {
        "grip": hold.grip,
        "position": hold.wrist.position.tolist(),
        "wxyz": hold.wrist.wxyz.tolist(),
        "q": hold.q.tolist(),
    }


def _from_row(row: dict[str, object]) -> Hold:
    wrist = Pose(np.array(row["position"]), np.array(row["wxyz"]))
    return Hold(str(row["grip"]), wrist, np.array(row["q"]))
