"""A wine pot with a handle: taken, tilted as when pouring, set down."""

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
from tools.scenes.curves import Phase, aimed, columns, phases, variation, window
from tools.scenes.gripping import find_hold, wrists_around
from tools.scenes.stage import Reach, heading, held, prop, reached, standing, tracks_of
from tools.scenes.task import Hold, Task

FRAMES = 120
_HEIGHT = 0.17
WINE_POT = BodyEntry(shape="wine_pot", size={"height": _HEIGHT}, mass=0.45, friction=0.7)


@lru_cache(maxsize=1)
def wine_pot() -> RigidBody:
    """A slender pot of 170 mm, 450 g with what is left in it."""
    return prop("wine_pot", WINE_POT)


def _bar(height: float) -> np.ndarray:
    """Middle of the handle's upright part at a height of the body's frame, m."""
    vertices = wine_pot().vertices
    near = (np.abs(vertices[:, 2] - height) < 0.004) & (np.abs(vertices[:, 1]) < 0.02)
    outer = float(vertices[near, 0].min())
    bar = vertices[near & (vertices[:, 0] < outer + 0.025)]
    return np.array([0.5 * (bar[:, 0].min() + bar[:, 0].max()), 0.0, height])


def find_pot_hold() -> Hold:
    """Three fingers through the handle, the thumb over its top."""
    body = wine_pot()
    spots = [_bar(z) + np.array([0.003, 0.006, 0.0]) for z in (0.032, 0.012, -0.008, -0.026)]
    thumb = _bar(0.050) + np.array([0.004, 0.004, 0.004])
    tilts = np.radians([0.0, 25.0, 55.0])
    ways = np.stack([-np.sin(tilts), np.zeros(3), np.cos(tilts)], axis=1)
    force = body.mass * 9.81 * np.concatenate([ways, 1.2 * ways])
    task = Task(
        human("right"),
        body,
        np.outer((-8.0, 0.0, 8.0), (0.0, 0.35, 0.94)),
        np.concatenate([force, np.zeros_like(force)], axis=1),
        np.array([thumb, *spots]),
        pivot=tuple(_bar(0.012).tolist()),
        spread=0.010,
        style="wrap",
        palm_gap=(0.0003, 0.003),
        digits=(True, True, True, True, False),
        lowest=float(body.vertices[:, 2].min()),
    )
    middle = tuple(_bar(0.008).tolist())
    wrists = wrists_around(
        ((0.55, -0.82, -0.10), (-0.82, -0.55, 0.0)),
        grip=((0.075, -0.01, -0.045), (0.10, 0.015, -0.025)),
        at=(middle, middle),
        tilt=((-15.0, -30.0, -15.0), (15.0, 30.0, 15.0)),
        count=20,
    )
    return find_hold(task, wrists)


def make_pot(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Lifted by its handle, tilted by some 50 degrees in two steps, set down elsewhere."""
    count, hold = FRAMES, holds["wine_pot"]
    rng = np.random.default_rng(41)
    free, high = window(count, 22, 106, 12), window(count, 32, 99, 14)
    start = 106.0 - heading(hold.wrist.wxyz) - 4.0
    yaw = phases(
        count, Phase(24, 52, 16.0, 0.1), Phase(60, 80, -7.0), Phase(82, 105, -14.0), start=start
    ) + free * variation(rng, count, 2.0)  # fmt: skip
    pitch = phases(
        count, Phase(30, 44, -4.0), Phase(40, 62, 40.0, 0.1), Phase(60, 74, 15.0),
        Phase(77, 99, -51.0, 0.15),
    ) + high * variation(rng, count, 2.5)  # fmt: skip
    roll = high * variation(rng, count, 4.0)
    wxyz = aimed(yaw, pitch, roll)
    first = aimed(*(np.array([angle]) for angle in (start, 0.0, 0.0)))[0]
    grip = np.array([0.06, 0.10, standing(wine_pot())]) + rotation.rotate(first, hold.pivot)
    last = aimed(yaw[-1:], np.zeros(1), np.zeros(1))[0]
    # Where the grip ends, the pot stands again.
    turned = rotation.rotate(last, hold.pivot) - rotation.rotate(first, hold.pivot)
    place = grip + columns(
        phases(count, Phase(22, 54, -0.075, 0.1), Phase(78, 104, 0.035 + turned[0]))
        + free * variation(rng, count, 0.006),
        phases(count, Phase(24, 50, 0.03), Phase(74, 105, -0.055 + turned[1], 0.1))
        + free * variation(rng, count, 0.006),
        phases(
            count, Phase(20, 43, 0.12, 0.1), Phase(42, 66, 0.05), Phase(76, 92, -0.03),
            Phase(84, 109, -0.14, 0.1),
        ) + high * variation(rng, count, 0.005),
    )  # fmt: skip
    body = Pose.normalized(place - rotation.rotate(wxyz, hold.pivot), wxyz)
    loose = window(count, 22, 107, 12)
    lag = phases(
        count, Phase(21, 34, 2.0), Phase(34, 62, -13.5, 0.1), Phase(76, 104, 10.0), start=4.5
    ) + loose * variation(rng, count, 1.0)  # fmt: skip
    relative = columns(loose * variation(rng, count, 2.0), 0.35 * lag, 0.94 * lag)
    wrist = reached(
        held(body, hold, relative),
        Reach(-4, 15, back=0.17, out=0.03, up=0.03, side=0.02, turn=(0.0, 6.0, 4.0)),
        Reach(113, 129, back=0.16, out=0.03, up=0.02, side=0.02, turn=(0.0, 4.0, 0.0)),
    )
    return tracks_of({"right": wrist, "wine_pot": body})
