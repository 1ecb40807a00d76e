"""Leaps: things that are somewhere else in the next frame, and clips too short or coarse to tell.

A person sees a thing vanish here and appear there, however few frames there are or however long
they are said to last.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scripted_clips import UPRIGHT

from attacks.clips import (
    G,
    bystander,
    clip_of,
    fist,
    frames,
    path,
    rising,
    still,
    turning,
)
from attacks.rows import LEAP, SEAM, UNEXPLAINED, UNSEEN, Attack
from handwright.geometry import floor, table
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose

SHELVES = tuple(
    table(0.4 + 0.1 * k, size=(0.3, 0.3), center=(0.7 * k, 0.0), thickness=0.03) for k in range(5)
)


def beamed_to_a_shelf(count=2):
    """A box stands on one shelf and in the last frame on another, 0.7 m away."""
    x, z = np.zeros(count), np.full(count, 0.43)
    x[-1], z[-1] = 0.7, 0.53
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(x, 0.0, z))},
        environment=SHELVES,
    )


def beamed_into_the_air(count=2):
    """A box stands on the floor and in the last frame 2 m above it, where nothing is."""
    z = np.full(count, 0.03)
    z[-1] = 2.03
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(0.0, 0.0, z))},
        environment=(floor(),),
    )


def beamed_into_another_fist(count=2):
    """A ball is in one fist and in the last frame in another, 40 cm away."""
    y = np.zeros(count)
    y[(count + 1) // 2 :] = 0.4
    here, there = path(0.0, np.zeros(count), 1.0), path(0.0, np.full(count, 0.4), 1.0)
    return clip_of(
        frames(count),
        hands={"one": fist(here), "two": fist(there)},
        bodies={"ball": (make_shape("sphere"), path(0.0, y, 1.0))},
    )


def frames_of_a_quarter_hour():
    """A box stands on another shelf in every frame; 1,000 s are said to lie between."""
    steps = np.array([0, 1, 2, 3, 4, 3, 2, 1, 0])
    count = len(steps)
    return clip_of(
        1000.0 * np.arange(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(0.7 * steps, 0.0, 0.43 + 0.1 * steps))},
        environment=SHELVES,
    )


def frames_of_two_seconds():
    """A box moves from shelf to shelf by itself; frames 2 s apart make that slow."""
    steps = np.array([0, 1, 2, 3, 4, 3, 2, 1, 0])
    count = len(steps)
    return clip_of(
        2.0 * np.arange(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(0.7 * steps, 0.0, 0.43 + 0.1 * steps))},
        environment=SHELVES,
    )


def standing_box(count):
    return {"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))}


def hand_at_random_places(count=30, *, box=True):
    """A hand that holds nothing is at a random place within 60 cm in every frame: 20 m/s."""
    model, places = human(), np.random.default_rng(7).uniform(-0.3, 0.3, (count, 3))
    root = Pose(places + np.array([0.0, 0.0, 1.2]), UPRIGHT)
    return clip_of(
        frames(count),
        hands={"hand": (model, root, model.pose("rest"))},
        bodies=standing_box(count) if box else {},
        environment=(floor(),),
    )


def hand_at_random_turns(count=30):
    """A hand that holds nothing is turned at random in every frame, about its wrist."""
    model, turns = human(), np.random.default_rng(7).normal(0.0, 2.0, (count, 3))
    root = Pose(np.tile([0.0, 0.0, 1.2], (count, 1)), turning(turns))
    return clip_of(
        frames(count),
        hands={"hand": (model, root, model.pose("rest"))},
        bodies=standing_box(count),
        environment=(floor(),),
    )


def fingers_flap(count=30):
    """Fingers that hold nothing open and close fully from frame to frame, 15 times a second."""
    model = human()
    share = np.where(np.arange(count) % 2, 1.0, 0.0)[:, None]
    q = model.pose("open") + 0.8 * share * (model.pose("closed") - model.pose("open"))
    q[:, :6] = model.pose("open")[:6]
    return clip_of(
        frames(count),
        hands={"hand": (model, still((0, 0, 1.2), count), q)},
        bodies=standing_box(count),
        environment=(floor(),),
    )


def cycle_that_ends_elsewhere(way=1.9, count=61):
    """A ball is carried 1.9 m; the clip says that its last frame is its first again."""
    times = frames(count)
    pose = path(rising(times, way), 0.0, 1.0)
    return clip_of(
        times,
        hands={"hand": fist(pose)},
        bodies={"ball": (make_shape("sphere"), pose)},
        is_cyclic=True,
    )


def cycle_that_bounces_off_nothing(count=31):
    """A thrown ball falls back to where it was, and the cycle throws it again from the air."""
    times = frames(count)
    up = 0.5 * G * times[-1]
    pose = path(0.0, 0.0, 1.0 + up * times - 0.5 * G * times**2)
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"ball": (make_shape("sphere"), pose)},
        is_cyclic=True,
    )


def last_frame_elsewhere(count=30):
    """A ball rests in a fist for a second; fist and ball are 8 cm further in the last frame."""
    x = np.zeros(count)
    x[-1] = 0.08
    pose = path(x, 0.0, 1.0)
    return clip_of(
        frames(count), hands={"hand": fist(pose)}, bodies={"ball": (make_shape("sphere"), pose)}
    )


def last_frame_in_the_air(count=20):
    """A box stands on the floor and is 3 mm above it in the last frame."""
    z = np.full(count, 0.03)
    z[-1] += 0.003
    return clip_of(
        frames(count, 60.0),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(0.0, 0.0, z))},
        environment=(floor(),),
    )


def hand_gone_in_the_last_frame(count=20):
    """A ball rests in a fist; in the last frame the fist is 20 cm away and the ball is not."""
    pose = still((0.0, 0.0, 1.0), count)
    x = np.where(np.arange(count) == count - 1, -0.2, 0.0)
    return clip_of(
        frames(count),
        hands={"hand": fist(path(x, 0.0, 1.0))},
        bodies={"ball": (make_shape("sphere"), pose)},
    )


def cycle_of_other_fingers(count=31):
    """A hand closes over a second; the clip says that its last frame is its first again."""
    times, model = frames(count), human()
    share = rising(times, 0.8)[:, None]
    q = model.pose("open") + share * (model.pose("rest") - model.pose("open"))
    return clip_of(
        times,
        hands={"hand": (model, still((0, 0, 1.2), count), q)},
        bodies=standing_box(count),
        environment=(floor(),),
        is_cyclic=True,
    )


def single_frame_in_the_air():
    """One picture of a hand that lies in a fist's pose beside a ball in free space."""
    pose = path(0.0, 0.0, np.array([1.0]))
    return clip_of(
        np.zeros(1),
        hands={"hand": fist(path(0.0, 0.06, np.array([1.0])))},
        bodies={"ball": (make_shape("sphere"), pose)},
    )


def slow_frame_hides_the_way(count=30):
    """Frames of 1/30 s, but one of 5 s in the middle, in which the box changes shelves."""
    times = frames(count)
    times[count // 2 :] += 5.0
    x, z = np.zeros(count), np.full(count, 0.43)
    x[count // 2 :], z[count // 2 :] = 0.7, 0.53
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(x, 0.0, z))},
        environment=SHELVES,
    )


def frames_of_a_tenth_microsecond(count=20):
    """A box slides 10 cm over ice within two microseconds: 50 km/s."""
    return clip_of(
        1e-7 * np.arange(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(np.linspace(0.0, 0.1, count), 0.0, 0.03))},
        environment=(floor(friction=0.0),),
    )


def box_as_fast_as_a_bullet(count=30):
    """A box flies past at 300 m/s, on a perfect parabola that begins in nothing."""
    times = frames(count)
    pose = path(300.0 * times, 0.0, 5.0 - 0.5 * G * times**2)
    return clip_of(times, hands=bystander(count), bodies={"box": (make_shape("box"), pose)})


def strobing_bar(count=30):
    """A bar in flight lies one way in even frames and the other way round in odd ones."""
    times = frames(count, 60.0)
    turn = np.zeros((count, 3))
    turn[:, 2] = np.pi * (np.arange(count) % 2)
    pose = path(0.0, 0.0, 2.0 - 0.5 * G * times**2, turning(turn))
    bar = make_shape("box", width=0.3, depth=0.02, height=0.02)
    return clip_of(times, hands=bystander(count), bodies={"bar": (bar, pose)})


ATTACKS = (
    *(
        Attack(partial(make, count), LEAP | also, variant=f"{count}_frames")
        for make, counts, also in (
            (beamed_to_a_shelf, (2, 3), UNEXPLAINED),
            (beamed_into_the_air, (2, 3), UNEXPLAINED),
            (beamed_into_another_fist, (2, 3, 8), UNEXPLAINED),
        )
        for count in counts
    ),
    Attack(frames_of_a_quarter_hour, LEAP),
    Attack(frames_of_two_seconds, LEAP),
    Attack(hand_at_random_places, LEAP),
    Attack(partial(hand_at_random_places, box=False), LEAP, variant="alone"),
    Attack(hand_at_random_turns, LEAP),
    Attack(fingers_flap, LEAP),
    Attack(cycle_that_ends_elsewhere, SEAM),
    Attack(partial(cycle_that_ends_elsewhere, 0.2), SEAM, variant="20_cm"),
    Attack(cycle_that_bounces_off_nothing, SEAM),
    Attack(last_frame_elsewhere, LEAP | UNEXPLAINED),
    Attack(last_frame_in_the_air, LEAP | UNEXPLAINED),
    Attack(hand_gone_in_the_last_frame, LEAP | UNEXPLAINED),
    Attack(cycle_of_other_fingers, SEAM),
    Attack(single_frame_in_the_air, UNEXPLAINED | UNSEEN),
    Attack(slow_frame_hides_the_way, LEAP),
    Attack(frames_of_a_tenth_microsecond, LEAP, under=("apart",)),
    Attack(box_as_fast_as_a_bullet, LEAP),
    Attack(strobing_bar, LEAP | UNEXPLAINED),
)
