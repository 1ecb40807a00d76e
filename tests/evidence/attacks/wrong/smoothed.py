"""Wrong motions that stay wrong under the low-pass for recordings: too slow to be its noise."""

from __future__ import annotations

import numpy as np

from attacks.clips import G, alone, clip_of, frames, path, pinch, pinched, rising
from attacks.rows import HIT, LEAP, SLIDES, UNEXPLAINED, Attack
from handwright.core.tolerances import Tolerances
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape

FPS = 120.0
RECORDED = Tolerances(smoothing_hz=6.0)


def pinch_rubs_up_and_down(way=0.008, count=121):
    """A block of 1 kg is lifted by a pinch that rubs up and down on it twice a second."""
    times = frames(count, FPS)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    shift = np.zeros((count, 3))
    shift[:, 2] = way * np.sin(4.0 * np.pi * times)
    heavy = pinched()[0].with_mass(1.0)
    return clip_of(times, hands={"hand": pinch(pose, shift=shift)}, bodies={"block": (heavy, pose)})


def drives_by_itself(count=121):
    """A box drives over the floor by 20 cm, all by itself."""
    times = frames(count, FPS)
    return alone(make_shape("box"), path(rising(times), 0.0, 0.03), times, environment=(floor(),))


def springs_off_the_floor(count=61):
    """A box lies on the floor and then flies up at 1 m/s: nothing has hit it."""
    times = frames(count, FPS)
    since = np.maximum(times - times[count // 2], 0.0)
    z = 0.03 + np.maximum(1.0 * since - 0.5 * G * since**2, 0.0)
    return alone(make_shape("box"), path(0.0, 0.0, z), times, environment=(floor(),))


ATTACKS = tuple(
    Attack(make, reasons, tolerances=RECORDED)
    for make, reasons in (
        (pinch_rubs_up_and_down, SLIDES | UNEXPLAINED),
        (drives_by_itself, SLIDES | UNEXPLAINED),
        (springs_off_the_floor, HIT | UNEXPLAINED | LEAP),
    )
)
