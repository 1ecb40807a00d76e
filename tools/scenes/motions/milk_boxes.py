"""One hand and a milk box on the table: turned, picked up, and other bodies in its place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.track import Track
from handwright.hands import human
from handwright.io.goals.schema import BodyEntry
from handwright.math.pose import Pose
from tools.scenes.curves import Phase, columns, phases, turns, variation, window
from tools.scenes.gripping import carrying_wrenches, find_hold, wrists_around
from tools.scenes.stage import Reach, heading, held, prop, reached, standing, tracks_of
from tools.scenes.task import Hold, Task

TURN_FRAMES = 71
PICKUP_FRAMES = 101


MILK_BOX = BodyEntry(
    shape="box",
    size={"width": 0.068, "depth": 0.068, "height": 0.14},
    mass=0.5,
    friction=0.8,
    color=(0.80, 0.84, 0.90),
)


def milk_box() -> RigidBody:
    """A small carton of milk, 68 x 68 x 140 mm."""
    return prop("milk_box", MILK_BOX)


def _spots(half: float) -> np.ndarray:
    """Thumb on the near face, fingers below each other on the far one; half a width, m."""
    heights = (0.036, 0.028, 0.005, -0.015, -0.037)
    return np.array([(0.015, half if d else -half, z) for d, z in enumerate(heights)])


def find_turn_hold() -> Hold:
    """The hand beside the box, thumb on the near face and fingers on the far one."""
    body = milk_box()
    task = Task(
        human("right"),
        body,
        np.outer((-11.0, 0.0, 11.0), (0.0, 0.0, 1.0)),
        carrying_wrenches(body),
        _spots(0.034),
        digits=(True, True, True, True, False),
        lowest=-0.07,
    )
    wrists = wrists_around(
        ((-0.13, 0.98, 0.10), (0.98, 0.14, -0.06)),
        grip=((0.097, -0.008, -0.092), (0.106, 0.004, -0.084)),
        at=((0.0, 0.0, -0.022), (0.0, 0.0, 0.008)),
        tilt=((-6.0, -5.0, -10.0), (6.0, 5.0, 2.0)),
        count=10,
    )
    return find_hold(task, wrists)


def make_turn(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Lifted 8 cm, turned by 60 degrees, set down; the wrist turns by some 20 degrees less."""
    count, hold = TURN_FRAMES, holds["milk_box_turn"]
    rng = np.random.default_rng(11)
    free = window(count, 19, 57, 9)
    lead = 9.0
    yaw = phases(
        count, Phase(20, 42, 37.0, 0.15), Phase(33, 56, 23.0, -0.1),
        start=105.0 - heading(hold.wrist.wxyz) - lead,
    ) + free * variation(rng, count, 1.5)  # fmt: skip
    high = window(count, 25, 53, 10)
    tilt = [high * variation(rng, count, 4.0) for _ in range(2)]
    place = columns(
        phases(count, Phase(20, 50, -0.045, 0.2), start=0.13) + free * variation(rng, count, 0.004),
        phases(count, Phase(21, 39, 0.030), Phase(35, 55, -0.018, 0.1), start=0.0)
        + free * variation(rng, count, 0.004),
        phases(
            count, Phase(18, 37, 0.082, 0.1), Phase(41, 59, -0.082, 0.2),
            start=standing(milk_box()),
        ) + high * variation(rng, count, 0.004),
    )  # fmt: skip
    body = Pose(place, turns(columns(*tilt, yaw)))
    loose = window(count, 19, 58, 10)
    relative = columns(
        loose * variation(rng, count, 2.5),
        loose * variation(rng, count, 2.5),
        phases(
            count, Phase(19, 28, 2.5), Phase(23, 45, -23.0, 0.1), Phase(46, 58, 5.0), start=lead
        ) + loose * variation(rng, count, 1.0),
    )  # fmt: skip
    wrist = reached(
        held(body, hold, relative),
        Reach(-5, 13, back=0.17, out=0.05, up=0.05, turn=(0.0, 8.0, 6.0)),
        Reach(63, 77, back=0.15, out=0.04, up=0.05, turn=(0.0, 4.0, 5.0)),
    )
    return tracks_of({"right": wrist, "milk_box": body})


def make_pickup(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Picked up, carried to the left in an arc, looked at, and set down."""
    count, hold = PICKUP_FRAMES, holds["milk_box_turn"]
    rng = np.random.default_rng(23)
    free, high = window(count, 21, 83, 12), window(count, 31, 77, 14)
    yaw = phases(
        count, Phase(24, 50, 24.0, 0.1), Phase(44, 62, 14.0), Phase(60, 82, -20.0, 0.2),
        start=101.0 - heading(hold.wrist.wxyz) - 6.0,
    ) + free * variation(rng, count, 2.0)  # fmt: skip
    tilt = columns(
        phases(count, Phase(31, 52, -9.0), Phase(54, 77, 9.0)) + high * variation(rng, count, 3.0),
        phases(count, Phase(33, 50, 13.0, 0.1), Phase(52, 76, -13.0))
        + high * variation(rng, count, 3.0),
    )
    place = columns(
        phases(count, Phase(22, 58, -0.11, 0.15), Phase(50, 81, -0.07), start=0.17)
        + free * variation(rng, count, 0.008),
        phases(count, Phase(21, 46, -0.04), Phase(42, 80, 0.075, 0.1), start=0.02)
        + free * variation(rng, count, 0.006),
        phases(
            count, Phase(20, 45, 0.15, 0.15), Phase(43, 56, 0.03), Phase(58, 85, -0.18, 0.15),
            start=standing(milk_box()),
        ) + high * variation(rng, count, 0.006),
    )  # fmt: skip
    body = Pose(place, turns(columns(tilt[:, 0], tilt[:, 1], yaw)))
    loose = window(count, 21, 84, 12)
    relative = columns(
        phases(count, Phase(26, 46, 5.0), Phase(50, 74, -8.0)) + loose * variation(rng, count, 2.0),
        phases(count, Phase(24, 42, -6.0), Phase(48, 72, 9.0)) + loose * variation(rng, count, 2.0),
        phases(
            count, Phase(21, 33, 3.0), Phase(30, 58, -17.0, -0.1), Phase(58, 82, 9.0), start=6.0
        ) + loose * variation(rng, count, 1.0),
    )  # fmt: skip
    wrist = reached(
        held(body, hold, relative),
        Reach(-3, 15, back=0.20, out=0.05, up=0.07, side=0.02, turn=(4.0, 10.0, 4.0)),
        Reach(90, 106, back=0.17, out=0.04, up=0.06, turn=(0.0, 6.0, 8.0)),
    )
    return tracks_of({"right": wrist, "milk_box": body})
