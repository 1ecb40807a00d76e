"""Round things that turn in the hand: a bottle on the table, a cup in the air."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

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

BOTTLE_FRAMES = 90
CUP_FRAMES = 234
_BOTTLE_RADIUS, _BOTTLE_HEIGHT = 0.024, 0.105
BOTTLE = BodyEntry(
    shape="bottle",
    size={"radius": _BOTTLE_RADIUS, "height": _BOTTLE_HEIGHT},
    mass=0.15,
    friction=0.7,
)
PAPER_CUP = BodyEntry(shape="paper_cup")


@lru_cache(maxsize=1)
def bottle() -> RigidBody:
    """A small bottle, 48 mm across and 105 mm tall."""
    return prop("bottle", BOTTLE)


@lru_cache(maxsize=1)
def paper_cup() -> RigidBody:
    """A small paper cup with its lid on, 85 mm tall."""
    return prop("paper_cup", PAPER_CUP)


def find_bottle_hold() -> Hold:
    """The hand over the bottle, fingertips on its far side, thumb on the near one."""
    body = bottle()
    bottom = float(body.vertices[:, 2].min())
    height = bottom + 0.54 * _BOTTLE_HEIGHT
    spots = []
    for angle, rise in ((-95.0, 0.004), (112.0, 0.0), (85.0, -0.002), (58.0, 0.0), (35.0, 0.003)):
        a = np.radians(angle)
        radius = _BOTTLE_RADIUS
        spots.append((radius * np.cos(a), radius * np.sin(a), height + rise))
    task = Task(
        human("right"),
        body,
        np.outer((-13.0, 0.0, 13.0), (0.0, 0.0, 1.0)),
        carrying_wrenches(body, 1.0),
        np.array(spots),
        digits=(True, True, True, True, False),
        palm_gap=(0.004, 0.03),
        lowest=bottom,
    )
    wrists = wrists_around(
        ((0.10, 0.95, -0.30), (-0.06, 0.30, 0.95)),
        grip=((0.092, -0.010, -0.085), (0.108, 0.012, -0.065)),
        at=((0.0, 0.0, height), (0.0, 0.0, height)),
        tilt=((-12.0, -15.0, -12.0), (12.0, 10.0, 12.0)),
        count=14,
    )
    return find_hold(task, wrists)


def find_cup_hold() -> Hold:
    """The hand over the cup, digits all round it, so that others can stand in for each finger.

    From the side all fingers are on the far half of a cup, and it falls when the thumb leaves it.
    """
    body = paper_cup()
    bottom, top = (float(limit) for limit in body.bounds[:, 2])
    spots = []
    for angle, height in ((135, 0.062), (68, 0.055), (15, 0.050), (-35, 0.055), (-82, 0.062)):
        a = np.radians(angle)
        radius = 0.023 + 0.0063 * height / 0.075
        spots.append((radius * np.cos(a), radius * np.sin(a), bottom + height))
    task = Task(
        human("right"),
        body,
        np.outer((-15.0, 0.0, 15.0), (0.0, 0.0, 1.0)),
        carrying_wrenches(body),
        np.array(spots),
        palm_gap=(0.006, 0.045),
        lowest=bottom,
    )
    wrists = wrists_around(
        ((0.72, 0.17, -0.67), (0.67, 0.0, 0.72)),
        grip=((0.100, -0.004, -0.042), (0.112, 0.006, -0.034)),
        at=((0.0, 0.0, top - 0.012), (0.0, 0.0, top)),
        tilt=((-10.0, -12.0, -8.0), (10.0, 12.0, 8.0)),
        count=16,
    )
    return find_hold(task, wrists)


def make_bottle(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Turned by 62 degrees on the spot, or nearly so: it slides, and never leaves the table."""
    count, hold = BOTTLE_FRAMES, holds["bottle_turn_on_table"]
    rng = np.random.default_rng(61)
    free = window(count, 21, 66, 10)
    lead = 10.0
    yaw = phases(
        count, Phase(20, 42, 36.0, 0.15), Phase(40, 66, 26.0, -0.1),
        start=94.0 - heading(hold.wrist.wxyz) - lead,
    ) + free * variation(rng, count, 2.0)  # fmt: skip
    zero = np.zeros(count)
    place = columns(
        phases(count, Phase(22, 48, -0.022), Phase(44, 66, 0.009), start=0.09)
        + free * variation(rng, count, 0.003),
        phases(count, Phase(24, 60, 0.014, 0.1), start=0.04) + free * variation(rng, count, 0.003),
        np.full(count, standing(bottle())),
    )
    body = Pose(place, turns(columns(zero, zero, yaw)))
    loose = window(count, 20, 66, 9)
    relative = columns(
        loose * variation(rng, count, 2.0),
        loose * variation(rng, count, 2.0),
        phases(count, Phase(20, 28, 2.5), Phase(24, 52, -25.0, 0.1), Phase(52, 66, 4.0), start=lead)
        + loose * variation(rng, count, 0.8),
    )
    wrist = reached(
        held(body, hold, relative),
        Reach(-3, 15, back=0.15, out=0.06, up=0.06, side=0.02, turn=(0.0, -6.0, 3.0)),
        Reach(72, 88, back=0.10, out=0.07, up=0.06),
    )
    return tracks_of({"right": wrist, "bottle": body})


def make_cup(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Lifted, turned by 186 degrees in the hand in four strokes with pauses, set down."""
    count, hold = CUP_FRAMES, holds["paper_cup_twirl"]
    rng = np.random.default_rng(67)
    free, high = window(count, 20, 211, 12), window(count, 28, 205, 14)
    twirl = phases(
        count, Phase(44, 68, -47.0, 0.2), Phase(82, 108, -49.0, -0.1), Phase(118, 142, -43.0, 0.1),
        Phase(158, 184, -47.0, 0.15),
    ) + window(count, 40, 188, 10) * variation(rng, count, 2.5)  # fmt: skip
    swing = phases(
        count, Phase(22, 44, 9.0), Phase(60, 110, -7.0), Phase(120, 180, 8.0),
        Phase(186, 210, -4.0), start=80.0 - heading(hold.wrist.wxyz),
    ) + free * variation(rng, count, 3.0)  # fmt: skip
    place = columns(
        phases(
            count, Phase(20, 50, -0.05, 0.1), Phase(80, 130, 0.02), Phase(150, 206, 0.03), start=0.1
        ) + free * variation(rng, count, 0.008),
        phases(count, Phase(22, 46, -0.02), Phase(140, 206, 0.05), start=0.04)
        + free * variation(rng, count, 0.008),
        phases(
            count, Phase(18, 42, 0.10, 0.1), Phase(56, 84, 0.02), Phase(110, 150, -0.01),
            Phase(186, 214, -0.11, 0.1), start=standing(paper_cup()),
        ) + high * variation(rng, count, 0.006),
    )  # fmt: skip
    tilt = [high * variation(rng, count, 3.0) for _ in range(2)]
    body = Pose(place, turns(columns(*tilt, swing + twirl)))
    loose = window(count, 20, 213, 10)
    relative = columns(
        loose * variation(rng, count, 2.0), loose * variation(rng, count, 2.0), -twirl
    )
    wrist = reached(
        held(body, hold, relative),
        Reach(-4, 13, back=0.08, out=0.06, up=0.06, turn=(0.0, 8.0, 4.0)),
        Reach(219, 233, back=0.07, out=0.05, up=0.06, turn=(0.0, 6.0, 4.0)),
    )
    return tracks_of({"right": wrist, "paper_cup": body})
