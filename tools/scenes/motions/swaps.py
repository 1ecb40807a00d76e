"""Other bodies on the tracks of the milk box: what happens when a prop is exchanged afterwards.

The wrist moves as it did. The new body stands where the hand can take it, and wrist and body
together are a little lower or higher, so that it stands on the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.track import Track
from handwright.hands import human
from handwright.io.goals.schema import BodyEntry
from handwright.math import rotation
from handwright.math.pose import Pose
from tools.scenes.files import load_holds
from tools.scenes.gripping import carrying_wrenches, find_hold
from tools.scenes.motions.milk_boxes import make_turn
from tools.scenes.stage import prop, standing, tracks_of
from tools.scenes.task import Hold, Task

BUNNY = BodyEntry(shape="bunny_like", size={"height": 0.172}, mass=0.35)
MUG = BodyEntry(shape="mug", size={"radius": 0.032, "height": 0.14}, mass=0.35, friction=0.8)


@lru_cache(maxsize=1)
def bunny() -> RigidBody:
    """A toy rabbit, 172 mm tall."""
    return prop("bunny", BUNNY)


@lru_cache(maxsize=1)
def mug() -> RigidBody:
    """A tall mug."""
    return prop("mug", MUG)


def _fitted(
    body: RigidBody, heights: tuple[float, ...], angles: Iterable[float], palm: tuple[float, float]
) -> Hold:
    """The hold of the milk box, moved and turned about the vertical until it fits a body.

    Args:
        body: The new one.
        heights: Of thumb and three fingers over the body's foot, m.
        angles: Turns of the hand about the vertical to try, degrees.
        palm: Least and largest distance of the palm from the body, m.
    """
    box = load_holds()["milk_box_turn"]
    bottom = float(body.vertices[:, 2].min())
    found = []
    for angle in angles:
        turn = rotation.exp(np.radians([0.0, 0.0, angle]))
        across = rotation.rotate(turn, np.array([0.0, 1.0, 0.0]))
        palmward = rotation.rotate(turn, np.array([1.0, 0.0, 0.0]))
        spots = [
            _side(body, bottom + height, across if d else -across)
            for d, height in enumerate(heights)
        ]
        # The place of the palm beside the body, as it was beside the box.
        far = max(float(spot @ palmward) for spot in spots)
        middle = np.mean(spots, axis=0)
        middle += (far - 0.034 - float(middle @ palmward)) * palmward
        middle[2] = np.mean([s[2] for s in spots[1:]]) - float(box.points[1:4, 2].mean())
        task = Task(
            human("right"),
            body,
            np.outer((-10.0, 0.0, 10.0), (0.0, 0.0, 1.0)),
            carrying_wrenches(body),
            np.array([*spots, spots[-1]]),
            digits=(True, True, True, True, False),
            palm_gap=palm,
            lowest=bottom,
            swaps=True,
        )
        found.append(find_hold(task, [Pose(middle, turn) @ box.wrist]))
    return min(found, key=lambda hold: hold.cost)


def _side(body: RigidBody, height: float, across: np.ndarray) -> np.ndarray:
    """The outermost point of a body at a height in a level direction, m."""
    near = body.vertices[np.abs(body.vertices[:, 2] - height) < 0.004]
    return near[(near @ across).argmax()]


def find_bunny_hold() -> Hold:
    """Thumb and fingers on two sides of the rabbit, whichever suit best."""
    return _fitted(bunny(), (0.095, 0.102, 0.081, 0.061), range(0, 360, 24), (0.003, 0.012))


def find_mug_hold() -> Hold:
    """The palm across from the handle, thumb and fingers on the sides."""
    heights = (0.106, 0.114, 0.092, 0.070)
    return _fitted(mug(), heights, range(150, 211, 10), (0.002, 0.006))


def _swapped(holds: Mapping[str, Hold], name: str, body: RigidBody) -> dict[str, Track]:
    tracks = make_turn(holds)
    box, wrist = tracks["milk_box"].pose, tracks["right"].pose
    # Both holds are one wrist: how the body stands in the frame of the box follows.
    offset = holds["milk_box_turn"].wrist @ holds[name].wrist.inverse()
    turn = rotation.log(offset.wxyz) * np.array([0.0, 0.0, 1.0])
    poses = box @ Pose(offset.position, rotation.exp(turn))
    rise = np.array([0.0, 0.0, standing(body) - float(poses.position[0, 2])])
    return tracks_of(
        {
            "right": Pose(wrist.position + rise, wrist.wxyz),
            body.name: Pose(poses.position + rise, poses.wxyz),
        }
    )


def make_bunny(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """The rabbit in place of the box that is turned."""
    return _swapped(holds, "bunny_like", bunny())


def make_mug(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """The mug in place of the box that is turned."""
    return _swapped(holds, "mug", mug())
