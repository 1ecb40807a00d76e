"""Motions that something in the file is said to explain: pushes, impacts, gravity, surroundings."""

from __future__ import annotations

from functools import partial

import numpy as np
from scripted_clips import UPRIGHT

from attacks.clips import (
    ORIGIN,
    G,
    bystander,
    clip_of,
    frames,
    path,
    still,
)
from attacks.rows import FIGURES, HIT, LEAP, SLIDES, SUNK, UNEXPLAINED, Attack
from handwright.core.events import Push
from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.geometry import floor, table
from handwright.geometry.shapes import make_shape
from handwright.math.pose import Pose


def _falling(body, z, fps, environment=None, x=0.0, name="ball"):
    count = len(z)
    return clip_of(
        frames(count, fps),
        hands=bystander(count),
        bodies={name: (body, path(x, 0.0, z))},
        environment=(floor(),) if environment is None else environment,
    )


def flies_by_pushes(count=40):
    """A box flies figures of eight at 4 m/s; the problem lists a push for every frame."""
    times, box = frames(count), make_shape("box")
    angle = 2.0 * np.pi * times / times[-1]
    place = np.stack(
        [0.4 * np.sin(angle), 0.4 * np.sin(2.0 * angle), 1.5 + 0.1 * np.sin(angle)], axis=1
    )
    _let_go(place, times)
    force = np.zeros((count, 3))
    force[1:-1] = box.mass * np.diff(place, n=2, axis=0) / (times[1] - times[0]) ** 2
    force[0] = 2.0 * force[1] - force[2]
    force[:, 2] += box.mass * G
    force[-1] = 0.0
    ends = np.append(times[1:], times[-1] + 1e-12)
    pushes = tuple(
        Push("box", start, min(end, times[-1]), np.zeros(3), f)
        for start, end, f in zip(times[:-1], ends[:-1], force[:-1], strict=True)
    )
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"box": (box, Pose(place, UPRIGHT))},
        pushes=pushes,
    )


def hovers_by_one_push(count=30):
    """A box hovers in the air for a second; one push of its weight holds it."""
    times, box = frames(count), make_shape("box")
    place = np.tile([0.0, 0.0, 1.0], (count, 1))
    _let_go(place, times)
    push = Push("box", 0.0, times[-3], np.zeros(3), np.array([0.0, 0.0, G * box.mass]))
    return clip_of(
        times, hands=bystander(count), bodies={"box": (box, Pose(place, UPRIGHT))}, pushes=(push,)
    )


def _let_go(place, times):
    """The last three frames fall freely: the very last cannot be pushed."""
    step = times[1] - times[0]
    for k in range(len(times) - 2, len(times)):
        place[k] = 2.0 * place[k - 1] - place[k - 2] + np.array([0.0, 0.0, -G]) * step**2


def ball_at_rest_jumps(count=45):
    """A ball at rest on the floor jumps up by 0.99 m out of nothing and falls back."""
    fps, rest = 60.0, 4
    up = np.sqrt(2.0 * G * 0.99)
    time = np.maximum(np.arange(count) - rest, 0) / fps
    return _falling(make_shape("sphere"), 0.035 + up * time - 0.5 * G * time**2, fps)


def bounces_higher_than_it_fell(count=60):
    """A ball dropped from 5 cm bounces to a height of 1 m."""
    fps, height = 60.0, 0.05
    times = frames(count, fps)
    landing = np.sqrt(2.0 * height / G)
    after = np.maximum(times - landing, 0.0)
    up = np.sqrt(2.0 * G * 1.0) * after - 0.5 * G * after**2
    z = 0.035 + np.where(times < landing, height - 0.5 * G * times**2, up)
    return _falling(make_shape("sphere"), z, fps)


def creeps_by_hops(count=40):
    """A box at rest creeps over the floor by small hops that nothing causes."""
    fps, number = 60.0, np.arange(count)
    busy = (number >= 5) & (number < count - 4)
    z = 0.03 + 0.5 * G / fps**2 * (busy & (number % 4 == 2))
    step = 0.002 * (busy & ((number % 4 == 1) | (number % 4 == 2)))
    x = np.concatenate([[0.0], np.cumsum(step)[:-1]])
    return _falling(make_shape("box"), z, fps, x=x, name="box")


def stops_dead_on_landing_then_jumps(count=50):
    """A box falls from 20 cm, lies still for a quarter of a second, then jumps up as high."""
    fps, height = 60.0, 0.2
    times = frames(count, fps)
    landing = np.sqrt(2.0 * height / G)
    after = np.maximum(times - landing - 0.25, 0.0)
    up = G * landing * after - 0.5 * G * after**2
    z = 0.03 + np.where(times < landing, height - 0.5 * G * times**2, up)
    return _falling(make_shape("box"), z, fps, name="box")


def kicked_sideways_by_the_floor(count=30):
    """A ball falls straight down on the floor and flies off sideways, spinning at nothing."""
    fps, height = 60.0, 0.3
    times = frames(count, fps)
    landing = np.sqrt(2.0 * height / G)
    after = np.maximum(times - landing, 0.0)
    up = 0.8 * G * landing * after - 0.5 * G * after**2
    z = 0.035 + np.where(times < landing, height - 0.5 * G * times**2, up)
    return _falling(make_shape("box", width=0.07, depth=0.07, height=0.07), z, fps, x=1.0 * after)


def falls_through_a_shelf(start=0.5, count=20):
    """A ball of 4 cm falls through a shelf of 2 cm, between two frames."""
    fps = 30.0
    times = frames(count, fps)
    z = 1.0 + start - 0.5 * G * times**2
    shelf = table(1.0, size=(0.4, 0.4), thickness=0.02)
    return _falling(make_shape("sphere", radius=0.02), z, fps, (shelf,))


def thrown_through_a_wall(count=20):
    """A ball is thrown through a wall of 2 cm: before it in one frame, behind it in the next."""
    fps = 30.0
    times = frames(count, fps)
    x, z = -1.0 + 0.09 + 6.0 * times, 1.0 + 2.0 * times - 0.5 * G * times**2
    wall = EnvironmentBox(Pose(np.array([0.0, 0.0, 1.0]), UPRIGHT), np.array([0.01, 0.5, 2.0]))
    return _falling(make_shape("sphere", radius=0.02), z, fps, (wall,), x=x)


def falls_through_a_hand_held_plate(count=20):
    """A ball falls through a thin plate that stands on the floor, between two frames."""
    fps = 30.0
    times = frames(count, fps)
    plate = make_shape("box", width=0.2, depth=0.2, height=0.01)
    z = 0.66 - 0.5 * G * times**2
    legs = tuple(
        EnvironmentBox(Pose(np.array([x, y, 0.125]), UPRIGHT), np.array([0.01, 0.01, 0.125]))
        for x in (-0.09, 0.09)
        for y in (-0.09, 0.09)
    )
    return clip_of(
        times,
        hands=bystander(count),
        bodies={
            "ball": (make_shape("sphere", radius=0.02), path(0.0, 0.0, z)),
            "plate": (plate, still((0.0, 0.0, 0.255), count)),
        },
        environment=legs,
    )


def no_gravity(count=30):
    """A box hovers in a room; the file says that there is no gravity."""
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 1.0), count))},
        gravity=np.zeros(3),
    )


def gravity_upwards(count=30):
    """A box falls to the ceiling; the file says that gravity points up."""
    times = frames(count)
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(0.0, 0.0, 1.0 + 0.5 * G * times**2))},
        gravity=np.array([0.0, 0.0, G]),
    )


def gravity_to_the_side(count=30):
    """A box lies on a wall as if that were the floor; the file says that gravity points there."""
    return clip_of(
        frames(count),
        hands=bystander(count, (0.3, 1.0, 1.2)),
        bodies={"box": (make_shape("box"), still((0.03, 0.0, 1.0), count))},
        environment=(HalfSpace(np.array([1.0, 0.0, 0.0]), 0.0),),
        gravity=np.array([-G, 0.0, 0.0]),
    )


def stands_on_a_speck(count=20):
    """A box hovers in the middle of the room; it stands on surroundings of two micrometres."""
    speck = EnvironmentBox(ORIGIN, np.full(3, 1e-6))
    return _falling(make_shape("box"), np.full(count, 0.030001), 30.0, (speck,), name="box")


def hangs_on_invisible_pins(count=20):
    """A box hovers on three pins of two micrometres at its corners, which nobody can see."""
    pins = tuple(
        EnvironmentBox(Pose(np.array([x, y, 0.9]), UPRIGHT), np.array([1e-6, 1e-6, 1e-6]))
        for x, y in ((-0.025, -0.025), (0.025, -0.025), (0.0, 0.025))
    )
    return _falling(make_shape("box"), np.full(count, 0.930001), 30.0, pins, name="box")


def bead_above_the_table(count=20):
    """A bead of 4 mm rests in the air, 0.95 mm above the table: a quarter of its size."""
    bead = make_shape("sphere", radius=0.002)
    return _falling(bead, np.full(count, 0.002 + 0.00095), 30.0, name="bead")


def held_between_walls_of_rubber(count=20):
    """A plate hangs between two walls that it just touches; their friction is a million."""
    walls = tuple(
        EnvironmentBox(Pose(np.array([x, 0.0, 1.0]), UPRIGHT), np.array([0.01, 0.2, 0.2]), 1e6)
        for x in (-0.04, 0.04)
    )
    return _falling(make_shape("box"), np.full(count, 1.0), 30.0, walls, name="box")


ATTACKS = (
    Attack(flies_by_pushes, UNEXPLAINED, under=("push",)),
    Attack(hovers_by_one_push, UNEXPLAINED, under=("push",)),
    Attack(ball_at_rest_jumps, HIT | UNEXPLAINED),
    Attack(bounces_higher_than_it_fell, HIT | UNEXPLAINED),
    Attack(creeps_by_hops, HIT | SLIDES | UNEXPLAINED),
    Attack(stops_dead_on_landing_then_jumps, HIT | UNEXPLAINED),
    Attack(kicked_sideways_by_the_floor, HIT | SLIDES | UNEXPLAINED),
    *(
        Attack(partial(falls_through_a_shelf, start), SUNK | LEAP, variant=f"{1e3 * start:.0f}_mm")
        for start in (0.5, 0.6, 0.7)
    ),
    Attack(thrown_through_a_wall, SUNK | LEAP),
    Attack(falls_through_a_hand_held_plate, SUNK | LEAP | UNEXPLAINED),
    Attack(no_gravity, UNEXPLAINED, under=("gravity",)),
    Attack(gravity_upwards, UNEXPLAINED, under=("gravity",)),
    Attack(gravity_to_the_side, UNEXPLAINED, under=("gravity",)),
    Attack(stands_on_a_speck, UNEXPLAINED | FIGURES, under=("surroundings", "small", "tiny")),
    Attack(hangs_on_invisible_pins, UNEXPLAINED | FIGURES, under=("surroundings", "small", "tiny")),
    Attack(bead_above_the_table, UNEXPLAINED),
    Attack(held_between_walls_of_rubber, UNEXPLAINED | FIGURES, under=("friction",)),
)
