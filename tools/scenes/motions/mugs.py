"""Hollow things not held around their outside: a mug by its handle, a beaker by its rim."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.track import Track
from handwright.hands import human
from handwright.io.goals.schema import BodyEntry
from handwright.math import rotation
from handwright.math.pose import Pose
from tools.scenes.curves import Phase, columns, phases, turns, variation, window
from tools.scenes.gripping import carrying_wrenches, find_hold, wrists_around
from tools.scenes.stage import Reach, heading, held, prop, reached, standing, tracks_of
from tools.scenes.task import Hold, Task

MUG_FRAMES = 130
BEAKER_FRAMES = 110
_BEAKER_RADIUS, _BEAKER_HEIGHT, _BEAKER_WALL = 0.042, 0.095, 0.0035
MUG = BodyEntry(
    shape="mug",
    size={"radius": 0.040, "height": 0.110, "handle_reach": 0.042},
    mass=0.30,
    friction=0.8,
)
BEAKER = BodyEntry(
    shape="beaker",
    size={
        "radius": _BEAKER_RADIUS,
        "height": _BEAKER_HEIGHT,
        "wall": _BEAKER_WALL,
        "longest_edge": 0.004,
    },
    mass=0.09,
)


@lru_cache(maxsize=1)
def mug() -> RigidBody:
    """A mug of 110 mm with an ear that three fingers go through."""
    return prop("mug", MUG)


@lru_cache(maxsize=1)
def beaker() -> RigidBody:
    """An open beaker of plastic, 84 mm across the rim, with a wall of 3.5 mm."""
    return prop("beaker", BEAKER)


def _bar(height: float) -> np.ndarray:
    """Middle of the ear's upright part at a height of the body's frame, m."""
    vertices = mug().vertices
    near = (np.abs(vertices[:, 2] - height) < 0.004) & (np.abs(vertices[:, 1]) < 0.02)
    outer = float(vertices[near, 0].max())
    bar = vertices[near & (vertices[:, 0] > outer - 0.018)]
    return np.array([0.5 * (bar[:, 0].min() + bar[:, 0].max()), 0.0, height])


def find_handle_hold() -> Hold:
    """Three fingers through the ear, the thumb on its top."""
    body = mug()
    middle = float(body.vertices[:, 2].min()) + 0.062
    spots = [
        _bar(middle + z) + np.array([-0.003, -0.006, 0.0]) for z in (0.018, 0.0, -0.018, -0.034)
    ]
    thumb = _bar(middle + 0.030) + np.array([-0.006, -0.002, 0.008])
    tilts = np.radians([0.0, 20.0, 40.0])
    ways = np.stack([np.zeros(3), np.sin(tilts), np.cos(tilts)], axis=1)
    force = body.mass * 9.81 * np.concatenate([ways, 1.2 * ways])
    task = Task(
        human("right"),
        body,
        np.outer((-6.0, 0.0, 6.0), (0.6, 0.0, 0.8)),
        np.concatenate([force, np.zeros_like(force)], axis=1),
        np.array([thumb, *spots]),
        pivot=tuple(_bar(middle).tolist()),
        spread=0.010,
        style="wrap",
        palm_gap=(0.0003, 0.003),
        digits=(True, True, True, True, False),
        lowest=float(body.vertices[:, 2].min()),
    )
    at = tuple(_bar(middle).tolist())
    wrists = wrists_around(
        ((-0.55, 0.82, -0.10), (0.82, 0.55, 0.0)),
        grip=((0.075, -0.01, -0.045), (0.10, 0.015, -0.025)),
        at=(at, at),
        tilt=((-15.0, -30.0, -15.0), (15.0, 30.0, 15.0)),
        count=20,
    )
    return find_hold(task, wrists)


def make_mug(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Lifted by its ear towards the mouth, tilted as when drinking, put back elsewhere."""
    count, hold = MUG_FRAMES, holds["mug_by_handle"]
    rng = np.random.default_rng(71)
    free, high = window(count, 20, 117, 12), window(count, 30, 110, 14)
    start = 118.0 - heading(hold.wrist.wxyz)
    yaw = phases(
        count, Phase(22, 50, 14.0, 0.1), Phase(58, 78, -5.0), Phase(84, 116, -13.0), start=start
    ) + free * variation(rng, count, 2.5)  # fmt: skip
    tilt = phases(
        count, Phase(28, 44, -4.0), Phase(42, 62, 30.0, 0.1), Phase(60, 72, 7.0),
        Phase(78, 104, -33.0, 0.15),
    ) + high * variation(rng, count, 2.5)  # fmt: skip
    lean = high * variation(rng, count, 4.0)
    zero = np.zeros(count)
    # Towards the drinker, who sits before the table, however the mug is turned.
    wxyz = rotation.multiply(turns(columns(tilt, lean, zero)), turns(columns(zero, zero, yaw)))
    place = np.array([0.10, 0.06, standing(mug())]) + columns(
        phases(count, Phase(22, 54, -0.06, 0.1), Phase(80, 114, 0.02))
        + free * variation(rng, count, 0.006),
        phases(count, Phase(24, 56, -0.09), Phase(82, 114, 0.11, 0.1))
        + free * variation(rng, count, 0.006),
        phases(
            count, Phase(18, 46, 0.17, 0.1), Phase(42, 64, 0.05), Phase(76, 96, -0.06),
            Phase(88, 119, -0.16, 0.1),
        ) + high * variation(rng, count, 0.005),
    )  # fmt: skip
    body = Pose.normalized(place, wxyz)
    loose = window(count, 20, 117, 12)
    relative = columns(
        phases(count, Phase(36, 62, 3.5, 0.1), Phase(78, 106, -3.5)),
        loose * variation(rng, count, 1.5),
        phases(count, Phase(20, 34, 2.0), Phase(34, 62, -5.0, 0.1), Phase(80, 108, 3.0))
        + loose * variation(rng, count, 1.0),
    )
    wrist = reached(
        held(body, hold, relative),
        Reach(-4, 14, back=0.17, out=0.03, up=0.05, side=0.02, turn=(0.0, 6.0, 4.0)),
        Reach(122, 140, back=0.16, out=0.03, up=0.05, side=0.02, turn=(0.0, 4.0, 0.0)),
    )
    return tracks_of({"right": wrist, "mug": body})


def find_rim_hold() -> Hold:
    """The hand over the beaker, the thumb inside its far wall, three fingers outside."""
    body = beaker()
    bottom = float(body.vertices[:, 2].min())
    rim = bottom + _BEAKER_HEIGHT
    spots = []
    # The weight hangs on the near side of the pinch, so the thumb presses higher than the fingers.
    for angle, drop, inward in (
        (84.0, 0.014, _BEAKER_WALL), (98.0, 0.026, 0.0), (74.0, 0.028, 0.0), (48.0, 0.026, 0.0),
        (40.0, 0.026, 0.0),
    ):  # fmt: skip
        a = np.radians(angle)
        radius = _BEAKER_RADIUS * (1.0 - 0.14 * drop / _BEAKER_HEIGHT) - inward
        spots.append((radius * np.cos(a), radius * np.sin(a), rim - drop))
    task = Task(
        human("right"),
        body,
        np.outer((-6.0, 0.0, 6.0), (0.0, 0.0, 1.0)),
        carrying_wrenches(body, 0.5),
        np.array(spots),
        pivot=(0.0, _BEAKER_RADIUS, rim - 0.02),
        spread=0.006,
        digits=(True, True, True, True, False),
        palm_gap=(0.004, 0.06),
        lowest=bottom,
    )
    wrists = wrists_around(
        ((0.12, 0.93, -0.36), (-0.08, 0.36, 0.93)),
        grip=((0.092, -0.010, -0.085), (0.108, 0.012, -0.065)),
        at=((0.0, _BEAKER_RADIUS, rim - 0.028), (0.0, _BEAKER_RADIUS, rim - 0.016)),
        tilt=((-12.0, -12.0, -12.0), (12.0, 12.0, 12.0)),
        count=16,
    )
    return find_hold(task, wrists)


def make_beaker(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Taken by its rim from above, lifted, carried in an arc and set down."""
    count, hold = BEAKER_FRAMES, holds["beaker_by_rim"]
    rng = np.random.default_rng(73)
    free, high = window(count, 20, 97, 12), window(count, 28, 90, 14)
    yaw = phases(
        count, Phase(22, 52, 12.0, 0.1), Phase(54, 94, 9.0, -0.1),
        start=94.0 - heading(hold.wrist.wxyz),
    ) + free * variation(rng, count, 2.5)  # fmt: skip
    zero = np.zeros(count)
    # It hangs down a little on the near side.
    tilt = phases(count, Phase(24, 44, 7.0), Phase(76, 96, -7.0)) + high * variation(
        rng, count, 2.5
    )
    lean = high * variation(rng, count, 3.0)
    wxyz = rotation.multiply(turns(columns(tilt, lean, zero)), turns(columns(zero, zero, yaw)))
    place = columns(
        phases(count, Phase(22, 58, -0.10, 0.1), Phase(56, 94, -0.06, 0.1), start=0.12)
        + free * variation(rng, count, 0.006),
        phases(count, Phase(22, 48, 0.03), Phase(60, 95, -0.05, 0.1), start=0.03)
        + free * variation(rng, count, 0.006),
        phases(
            count, Phase(18, 44, 0.10, 0.1), Phase(44, 64, 0.03), Phase(70, 99, -0.13, 0.1),
            start=standing(beaker()),
        ) + high * variation(rng, count, 0.004),
    )  # fmt: skip
    body = Pose.normalized(place, wxyz)
    loose = window(count, 20, 97, 12)
    relative = columns(
        loose * variation(rng, count, 1.5),
        loose * variation(rng, count, 1.5),
        phases(count, Phase(20, 30, 2.0), Phase(30, 60, -7.0, 0.1), Phase(70, 95, 5.0))
        + loose * variation(rng, count, 0.8),
    )
    wrist = reached(
        held(body, hold, relative),
        Reach(-3, 14, back=0.13, out=0.04, up=0.09, side=0.02, turn=(0.0, -6.0, 3.0)),
        Reach(102, 118, back=0.10, out=0.04, up=0.09),
    )
    return tracks_of({"right": wrist, "beaker": body})
