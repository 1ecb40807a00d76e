"""Honest hands: lifts, swings, tosses, waves, at several rates and with several hands."""

from __future__ import annotations

from functools import partial

import numpy as np
from scripted_clips import minimum_jerk

from attacks.clips import (
    altered,
    clip_of,
    crossed_arms,
    fist,
    frames,
    on_palm,
    path,
    pinch,
    pinched,
    rising,
    still,
    turning,
)
from attacks.rows import Neighbour
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human


def lift_in_a_fist(fps=60.0, seconds=1.0):
    """A ball is lifted by 20 cm in a fist within a second."""
    times = frames(round(seconds * fps) + 1, fps)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"ball": (make_shape("sphere"), pose)})


def lift_in_a_pinch(fps=60.0):
    """A block is lifted by 15 cm in a pinch within 0.8 s."""
    times = frames(round(0.8 * fps) + 1, fps)
    pose = path(0.0, 0.0, 1.0 + rising(times, 0.15))
    return clip_of(times, hands={"hand": pinch(pose)}, bodies={"block": (pinched()[0], pose)})


def waves_freely(count=46, fps=60.0):
    """A hand waves to and fro; its wrist moves at up to 2.5 m/s."""
    times, model = frames(count, fps), human()
    x = 0.2 * np.sin(4.0 * np.pi * times)
    return clip_of(
        times,
        hands={"hand": (model, path(x, 1.0, 1.2), model.pose("rest"))},
        bodies={"box": (make_shape("box"), still((0, 0, 0.03), count))},
        environment=(floor(),),
    )


def carried_in_a_circle(count=61):
    """A ball is carried round a circle in a fist; the last frame is the first again."""
    times = frames(count)
    angle = 2.0 * np.pi * times / times[-1]
    pose = path(0.1 * np.cos(angle), 0.1 * np.sin(angle), 1.0)
    return clip_of(
        times,
        hands={"hand": fist(pose)},
        bodies={"ball": (make_shape("sphere"), pose)},
        is_cyclic=True,
    )


def lift_with_changing_frame_times(count=41):
    """The lift in a fist at frame times that grow smoothly from 12 to 28 ms."""
    share = np.linspace(0.0, 1.0, count)
    times = 0.8 * (0.6 * share + 0.4 * share**2)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"ball": (make_shape("sphere"), pose)})


def lift_by_a_left_hand(count=31):
    """The lift in a fist by a left hand."""
    times = frames(count)
    pose = path(0.0, 0.0, 1.0 + rising(times))
    return clip_of(
        times,
        hands={"hand": fist(pose, side="left")},
        bodies={"ball": (make_shape("sphere"), pose)},
    )


def book_on_the_palm(mass=0.5, count=20):
    """A book lies on a flat hand that rises a little."""
    times = frames(count)
    book = make_shape("box", width=0.1, depth=0.1, height=0.03).with_mass(mass)
    return clip_of(times, **on_palm(book, count, lift=rising(times, 0.05)))


def heavy_ball_in_a_fist(mass=1.5, count=31):
    """A ball of 1.5 kg is lifted in a fist."""
    clip = lift_in_a_fist(30.0)
    return altered(clip, bodies={"ball": make_shape("sphere").with_mass(mass)})


def swing_in_a_fist(count=46, fps=60.0):
    """A ball in a fist is swung to and fro by 20 cm and turned by half a radian."""
    times = frames(count, fps)
    angle = 2.0 * np.pi * minimum_jerk(times / times[-1])
    turn = np.outer(0.5 * np.sin(angle), [0.0, 0.0, 1.0])
    pose = path(0.1 * (1.0 - np.cos(angle)), 0.0, 1.0, turning(turn))
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"ball": (make_shape("sphere"), pose)})


def arms_over_each_other():
    """One forearm lies across the other, 12 cm above it."""
    return crossed_arms(apart=0.12)


NEIGHBOURS = (
    Neighbour(arms_over_each_other),
    *(
        Neighbour(partial(lift_in_a_fist, fps), variant=f"{fps:.0f}_fps")
        for fps in (24.0, 30.0, 60.0, 120.0)
    ),
    *(Neighbour(partial(lift_in_a_pinch, fps), variant=f"{fps:.0f}_fps") for fps in (30.0, 60.0)),
    Neighbour(waves_freely),
    Neighbour(carried_in_a_circle),
    Neighbour(lift_with_changing_frame_times),
    Neighbour(lift_by_a_left_hand),
    Neighbour(book_on_the_palm),
    Neighbour(heavy_ball_in_a_fist),
    Neighbour(swing_in_a_fist),
)
