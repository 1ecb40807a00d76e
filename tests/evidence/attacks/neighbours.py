"""Honest clips: right by construction, each near to an attack."""

from __future__ import annotations

from functools import partial

import numpy as np
from scripted_clips import minimum_jerk

from attacks.clips import (
    G,
    altered,
    bystander,
    clip_of,
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
from handwright.core.events import Push
from handwright.core.surface import HalfSpace
from handwright.geometry import floor, table
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose


def alone(body, pose, times, *, environment=(), name="body", **given):
    """A body with a hand that waits far away."""
    count = len(times)
    return clip_of(
        times,
        hands=bystander(count),
        bodies={name: (body, pose)},
        environment=environment,
        **given,
    )


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


def throw(fps=60.0):
    """A ball flies on a parabola and spins."""
    times = frames(round(0.5 * fps) + 1, fps)
    pose = path(0.4 * times, 0.0, 1.0 + 2.0 * times - 0.5 * G * times**2,
                turning(np.outer(times, [3.0, 0.0, 0.0])))  # fmt: skip
    return alone(make_shape("sphere"), pose, times)


def fast_spin_in_flight(count=31):
    """A box spins in flight about a principal axis, at five turns a second."""
    times = frames(count, 60.0)
    pose = path(0.0, 0.0, 2.0 - 0.5 * G * times**2,
                turning(np.outer(times, [0.0, 0.0, 10.0 * np.pi])))  # fmt: skip
    return alone(make_shape("box"), pose, times)


def bounce(height=0.3, share=0.8, fps=60.0, count=36):
    """A ball falls on the floor and bounces with 0.8 of its speed."""
    times = frames(count, fps)
    landing = np.sqrt(2.0 * height / G)
    after = np.maximum(times - landing, 0.0)
    up = share * G * landing * after - 0.5 * G * after**2
    z = 0.035 + np.where(times < landing, height - 0.5 * G * times**2, up)
    return alone(make_shape("sphere"), path(0.0, 0.0, z), times, environment=(floor(),))


def drop_and_rest(height=0.1, fps=60.0, count=36):
    """A box falls flat on the floor and stays there."""
    times = frames(count, fps)
    z = 0.03 + np.maximum(height - 0.5 * G * times**2, 0.0)
    return alone(make_shape("box"), path(0.0, 0.0, z), times, environment=(floor(),))


def slides_to_rest(fps=60.0, count=36):
    """A box slides over the floor until friction has stopped it."""
    times, friction = frames(count, fps), 0.1
    moving = np.minimum(times, 0.5)
    speed = 0.5 * friction * G
    x = speed * moving - 0.5 * friction * G * moving**2
    return alone(
        make_shape("box"), path(x, 0.0, 0.03), times, environment=(floor(friction=friction),)
    )


def rolls_on_the_floor(fps=60.0, count=31):
    """A ball rolls over the floor without sliding."""
    times, speed = frames(count, fps), 0.2
    pose = path(speed * times, 0.0, 0.035, turning(np.outer(times, [0.0, speed / 0.035, 0.0])))
    return alone(make_shape("sphere"), pose, times, environment=(floor(),))


def rolls_down_a_slope(fps=60.0, count=25, slope=3.0):
    """A ball rolls down a slope, 5/7 as fast as it would slide."""
    times, tilt, ball = frames(count, fps), np.radians(slope), make_shape("sphere")
    inertia = float(ball.inertia[0, 0]) / (ball.mass * 0.035**2)
    way = 0.5 * G * np.sin(tilt) / (1.0 + inertia) * times**2
    up = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    along = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    pose = Pose(np.outer(way, along) + 0.035 * up, turning(np.outer(way / 0.035, [0.0, 1.0, 0.0])))
    return alone(ball, pose, times, environment=(HalfSpace(up, 0.0, 0.6),))


def stands_on_a_thin_shelf(count=20):
    """A box stands on a shelf of 1 cm."""
    shelf = table(1.0, size=(0.4, 0.4), thickness=0.01)
    return alone(
        make_shape("box"), still((0.0, 0.0, 1.03), count), frames(count), environment=(shelf,)
    )


def stacked(count=20):
    """A box stands on another one, which stands on the floor."""
    box = make_shape("box")
    return clip_of(
        frames(count),
        hands=bystander(count),
        bodies={
            "low": (box, still((0, 0, 0.03), count)),
            "high": (box, still((0, 0, 0.09), count)),
        },
        environment=(floor(),),
    )


def small_box(count=20):
    """A cube of 1 cm stands on the floor."""
    cube = make_shape("box", width=0.01, depth=0.01, height=0.01)
    return alone(cube, still((0, 0, 0.005), count), frames(count), environment=(floor(),))


def pushed_a_little(count=31, fps=60.0):
    """A small push, stated in the problem, sets a box on the floor in motion; friction stops it."""
    times, box, friction = frames(count, fps), make_shape("box"), 0.2
    force = 3.0 * friction * box.mass * G
    rate = np.where((np.arange(count) >= 5) & (np.arange(count) < 10), 2.0 * friction * G, 0.0)
    speed, speeds = 0.0, []
    for k in range(1, count - 1):
        # Friction stops the box and never turns it round.
        down = min(friction * G / fps, speed) if rate[k] == 0.0 else 0.0
        speed += rate[k] / fps - down
        speeds.append(speed)
    x = np.concatenate([[0.0, 0.0], np.cumsum(speeds) / fps])
    push = Push("body", times[5], times[10], np.array([0.0, 0.0, -0.03]), np.array([force, 0, 0]))
    return alone(
        box, path(x, 0.0, 0.03), times, environment=(floor(friction=friction),), pushes=(push,)
    )


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


NEIGHBOURS = (
    *(
        Neighbour(partial(lift_in_a_fist, fps), variant=f"{fps:.0f}_fps")
        for fps in (24.0, 30.0, 60.0, 120.0)
    ),
    *(Neighbour(partial(lift_in_a_pinch, fps), variant=f"{fps:.0f}_fps") for fps in (30.0, 60.0)),
    Neighbour(throw),
    Neighbour(fast_spin_in_flight),
    Neighbour(bounce),
    Neighbour(partial(bounce, 0.05, 0.5, count=12), variant="low"),
    Neighbour(drop_and_rest),
    Neighbour(slides_to_rest),
    Neighbour(rolls_on_the_floor),
    Neighbour(rolls_down_a_slope),
    Neighbour(stands_on_a_thin_shelf),
    Neighbour(stacked),
    Neighbour(small_box),
    Neighbour(pushed_a_little),
    Neighbour(waves_freely),
    Neighbour(carried_in_a_circle),
    Neighbour(lift_with_changing_frame_times),
    Neighbour(lift_by_a_left_hand),
    Neighbour(book_on_the_palm),
    Neighbour(heavy_ball_in_a_fist),
    Neighbour(swing_in_a_fist),
)
