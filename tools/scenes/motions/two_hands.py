"""Two hands and a box: a small one is fiddled with, a big one is pushed and carried."""

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
from tools.scenes.curves import Phase, columns, phases, ramp, turns, variation, window
from tools.scenes.gripping import carrying_wrenches, find_hold, wrists_around
from tools.scenes.stage import (
    Reach,
    heading,
    held,
    prop,
    reached,
    standing,
    tracks_of,
    waiting_hand,
)
from tools.scenes.task import Hold, Task, mirrored

SMALL_FRAMES = 141
BIG_FRAMES = 150
_BIG = (0.27, 0.20, 0.17)
_WIDTH, _DEPTH, _HEIGHT = 0.050, 0.044, 0.160
SMALL_BOX = BodyEntry(
    shape="box",
    size={"width": _WIDTH, "depth": _DEPTH, "height": _HEIGHT},
    mass=0.18,
    friction=0.8,
    color=(0.78, 0.52, 0.36),
)
BIG_BOX = BodyEntry(
    shape="box",
    size={"width": _BIG[0], "depth": _BIG[1], "height": _BIG[2]},
    mass=0.9,
    friction=0.8,
    color=(0.72, 0.58, 0.42),
)


@lru_cache(maxsize=1)
def small_box() -> RigidBody:
    """A box for a bar of something, 50 x 44 x 160 mm, 180 g."""
    return prop("small_box", SMALL_BOX)


def find_side_hold() -> Hold:
    """The right hand beside the upper half of the standing box."""
    body, half = small_box(), 0.5 * _DEPTH
    heights = (0.040, 0.048, 0.026, 0.006, -0.014)
    spots = np.array([(0.006, half if d else -half, z) for d, z in enumerate(heights)])
    task = Task(
        human("right"),
        body,
        np.outer((-9.0, 0.0, 9.0), (0.0, 0.0, 1.0)),
        carrying_wrenches(body, 3.0, every_way=True),
        spots,
        digits=(True, True, True, True, False),
        lowest=-0.5 * _HEIGHT,
    )
    wrists = wrists_around(
        ((-0.13, 0.98, 0.10), (0.98, 0.14, -0.06)),
        grip=((0.097, -0.008, -0.080), (0.108, 0.004, -0.068)),
        at=((0.0, 0.0, 0.017), (0.0, 0.0, 0.034)),
        tilt=((-8.0, -6.0, -14.0), (8.0, 6.0, 2.0)),
        count=12,
    )
    return find_hold(task, wrists)


def find_left_hold() -> Hold:
    """The left hand under the foot of the box."""
    body, half = small_box(), 0.5 * _DEPTH
    across = (-0.010, -0.016, 0.002, 0.018, 0.03)
    spots = np.array(
        [(x, half if d else -half, -0.038 if d else -0.042) for d, x in enumerate(across)]
    )
    task = Task(
        human("left"),
        body,
        np.outer((-9.0, 0.0, 9.0), (1.0, 0.0, 0.0)),
        carrying_wrenches(body, 3.0, every_way=True),
        spots,
        pivot=(0.0, 0.0, -0.04),
        digits=(True, True, True, True, False),
    )
    wrists = wrists_around(
        ((0.10, 0.98, 0.13), (-0.06, -0.14, -1.0)),
        grip=((0.095, -0.012, -0.078), (0.108, 0.012, -0.064)),
        at=((0.0, 0.0, -0.04), (0.004, 0.0, -0.04)),
        tilt=((-10.0, -8.0, -12.0), (10.0, 8.0, 12.0)),
        count=12,
    )
    return find_hold(task, wrists)


def make_small_box(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Right picks it up, left takes it by the foot and turns it, right sets it down."""
    count = SMALL_FRAMES
    side, left = holds["small_box_side"], holds["small_box_foot"]
    rng = np.random.default_rng(53)
    free, high = window(count, 20, 126, 12), window(count, 28, 118, 14)
    yaw = phases(
        count, Phase(22, 44, -6.0), Phase(60, 84, 24.0, 0.1), Phase(98, 124, -14.0),
        start=101.0 - heading(side.wrist.wxyz),
    ) + free * variation(rng, count, 2.5)  # fmt: skip
    # The top goes over to the right, then the foot swings under it again.
    over = phases(
        count, Phase(24, 47, 72.0, 0.1), Phase(60, 84, -50.0, -0.1), Phase(84, 98, -6.0),
        Phase(98, 120, -16.0),
    ) + high * variation(rng, count, 3.0)  # fmt: skip
    nod = high * variation(rng, count, 5.0)
    zero = np.zeros(count)
    wxyz = rotation.multiply(turns(columns(zero, zero, yaw)), turns(columns(nod, over, zero)))
    place = columns(
        phases(
            count, Phase(20, 46, -0.10, 0.1), Phase(62, 88, 0.02), Phase(100, 124, 0.03), start=0.1
        ) + free * variation(rng, count, 0.008),
        phases(count, Phase(22, 48, -0.03), Phase(56, 86, 0.03), Phase(98, 126, 0.05), start=0.03)
        + free * variation(rng, count, 0.008),
        phases(
            count, Phase(18, 45, 0.19, 0.1), Phase(56, 84, 0.03), Phase(98, 129, -0.22, 0.1),
            start=standing(small_box()),
        ) + high * variation(rng, count, 0.007),
    )  # fmt: skip
    body = Pose.normalized(place, wxyz)

    def loose(start: int, end: int, size: float) -> np.ndarray:
        return window(count, start, end, 8) * variation(rng, count, size)

    relative = columns(
        loose(20, 60, 2.0), loose(20, 60, 2.0),
        phases(count, Phase(22, 44, -14.0, 0.1), start=7.0) + loose(20, 60, 1.0),
    )  # fmt: skip
    one = reached(
        held(body, side, relative),
        Reach(-4, 13, back=0.17, out=0.05, up=0.05, turn=(0.0, 8.0, 4.0)),
        Reach(55, 73, back=0.12, out=0.05, up=-0.01, side=0.09),
    )
    relative = columns(
        loose(88, 128, 2.0), loose(88, 128, 2.0),
        phases(count, Phase(88, 110, 5.0), Phase(106, 128, -8.0)) + loose(88, 128, 1.0),
    )  # fmt: skip
    two = reached(
        held(body, side, relative),
        Reach(68, 89, back=0.12, out=0.06, up=0.02, side=0.05),
        Reach(132, 147, back=0.14, out=0.06, up=0.04),
    )
    share = ramp(count, 60, 83)
    right = one.interpolate(two, share)
    relative = columns(
        phases(count, Phase(46, 62, 4.0), Phase(60, 86, -14.0, 0.1), Phase(88, 100, 5.0), start=2.0)
        + loose(46, 100, 1.0),
        loose(46, 100, 2.0), loose(46, 100, 2.0),
    )  # fmt: skip
    other = reached(
        held(body, left, relative),
        Reach(27, 45, back=0.07, out=0.05, up=0.05, side=-0.03),
        Reach(100, 118, back=0.08, out=0.05, side=-0.02),
    )
    waiting = waiting_hand(rng, count, (-0.19, -0.10, 0.12), other.wxyz[45])
    other = waiting.interpolate(other, ramp(count, 23, 44) - ramp(count, 103, 126, -0.1))
    return tracks_of({"right": right, "left": other, "small_box": body})


@lru_cache(maxsize=1)
def big_box() -> RigidBody:
    """A cardboard box, 270 x 200 x 170 mm, 0.9 kg."""
    return prop("big_box", BIG_BOX)


def find_big_hold() -> Hold:
    """The right hand flat on the right side, its thumb on top; the left is its mirror image."""
    half = 0.5 * _BIG[0]
    top = 0.5 * _BIG[2]
    places = ((0.040, 0.042), (0.048, 0.020), (0.044, -0.002), (0.028, -0.022))
    spots = [(half - 0.016, 0.0, top), *((half, y, z) for y, z in places)]
    task = Task(
        human("right"),
        big_box(),
        np.outer((-5.0, 0.0, 5.0), (1.0, 0.0, 0.0)),
        np.zeros((0, 6)),
        np.array(spots),
        pivot=(half, 0.0, 0.02),
        spread=0.012,
        style="flat",
        palm_gap=(0.009, 0.013),
        lowest=-top,
    )
    wrists = wrists_around(
        ((0.0, 0.97, -0.15), (1.0, 0.0, 0.0)),
        grip=((0.09, -0.01, -0.035), (0.12, 0.01, -0.025)),
        at=((half, 0.0, 0.015), (half, 0.0, 0.03)),
        tilt=((-8.0, -4.0, -12.0), (8.0, 4.0, 8.0)),
        count=10,
    )
    return find_hold(task, wrists)


def make_big_box(holds: Mapping[str, Hold]) -> dict[str, Track]:
    """Turned and pulled over the table, lifted, carried to the left, set down."""
    count, right = BIG_FRAMES, holds["big_box_side"]
    left = mirrored(right)
    rng = np.random.default_rng(71)
    slide, carry = window(count, 22, 58, 10), window(count, 64, 126, 14)
    yaw = phases(
        count, Phase(20, 46, 17.0, 0.1), Phase(40, 58, 5.0), Phase(64, 96, -10.0),
        Phase(92, 124, 6.0), start=-19.0,
    ) + (slide + carry) * variation(rng, count, 1.5)  # fmt: skip
    nod, sway = carry * variation(rng, count, 2.5), carry * variation(rng, count, 2.0)
    place = columns(
        phases(
            count, Phase(22, 56, -0.03), Phase(64, 110, -0.13, 0.1), Phase(98, 126, 0.02),
            start=0.06,
        ) + (slide + carry) * variation(rng, count, 0.004),
        phases(
            count, Phase(24, 58, -0.05, 0.1), Phase(66, 92, -0.02), Phase(94, 128, 0.07), start=0.12
        ) + (slide + carry) * variation(rng, count, 0.004),
        phases(
            count, Phase(61, 88, 0.11, 0.1), Phase(84, 104, 0.015), Phase(100, 130, -0.125, 0.1),
            start=standing(big_box()),
        ) + carry * variation(rng, count, 0.004),
    )  # fmt: skip
    body = Pose(place, turns(columns(nod, sway, yaw)))
    wrists = {}
    for side, hold, sign in (("right", right, 1.0), ("left", left, -1.0)):
        loose = window(count, 20, 130, 12)
        relative = columns(
            phases(count, Phase(24, 50, 4.0 + sign), Phase(66, 96, -9.0), Phase(100, 126, 6.0))
            + loose * variation(rng, count, 1.0),
            np.zeros(count),
            np.zeros(count),
        )
        start, end = (-3, 14) if side == "right" else (-2, 16)
        wrists[side] = reached(
            held(body, hold, relative),
            Reach(start, end, back=0.12, out=0.09, up=0.05),
            Reach(135 if side == "right" else 134, 150, back=0.08, out=0.09, up=0.05),
        )
    return tracks_of({**wrists, "big_box": body})
