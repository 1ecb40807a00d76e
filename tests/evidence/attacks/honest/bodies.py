"""Honest motions of bodies by themselves: flight, falls, bounces, sliding and rolling."""

from __future__ import annotations

from functools import partial

import numpy as np

from attacks.clips import G, alone, balls_in_flight, bystander, clip_of, frames, path, turning
from attacks.rows import Neighbour
from handwright.core.events import Push
from handwright.core.surface import HalfSpace
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose


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


def tumbles_in_flight(fps=120.0, count=36):
    """A box with three different sides tumbles in flight: Euler's equations, in fine steps."""
    box = make_shape("box", width=0.05, depth=0.08, height=0.12)
    inertia, steps = np.diag(box.inertia), 40
    rate, wxyz, turns = np.array([3.0, 4.0, 2.0]), np.array([1.0, 0.0, 0.0, 0.0]), []
    for k in range(count * steps):
        if k % steps == 0:
            turns.append(wxyz)
        span = 1.0 / (fps * steps)
        # Half a step ahead, so that errors fall with the square of the step.
        middle = rate + 0.5 * span * np.cross(inertia * rate, rate) / inertia
        rate = rate + span * np.cross(inertia * middle, middle) / inertia
        wxyz = rotation.multiply(wxyz, rotation.exp(span * middle))
        wxyz = wxyz / np.linalg.norm(wxyz)
    times = frames(count, fps)
    z = 1.5 + 1.0 * times - 0.5 * G * times**2
    return alone(box, path(0.3 * times, 0.0, z, np.array(turns)), times)


def bounces_lower_and_lower(fps=60.0, count=40, share=0.75):
    """A ball bounces three times, each time with 0.75 of its speed."""
    times, height, z = frames(count, fps), 0.2, []
    landing = np.sqrt(2.0 * height / G)
    for time in times:
        since, speed = time + landing, G * landing
        while since > 2.0 * speed / G:
            since, speed = since - 2.0 * speed / G, share * speed
        z.append(0.035 + speed * since - 0.5 * G * since**2)
    return alone(make_shape("sphere"), path(0.0, 0.0, np.array(z)), times, environment=(floor(),))


def bounces_off_a_wall(fps=60.0, count=26):
    """A ball is thrown at a wall and comes back with 0.7 of its speed."""
    times, speed = frames(count, fps), 2.0
    hit = 0.4 / speed
    x = 0.0 + np.where(times < hit, speed * times, 0.4 - 0.7 * speed * (times - hit))
    z = 1.0 + 1.5 * times - 0.5 * G * times**2
    wall = HalfSpace(np.array([-1.0, 0.0, 0.0]), -0.435, 0.0)
    return clip_of(
        times,
        hands=bystander(count, (-0.5, 1.0, 1.2)),
        bodies={"ball": (make_shape("sphere"), path(x, 0.0, z))},
        environment=(wall,),
    )


def balls_collide(fps=60.0, count=26):
    """Two balls meet in flight and part with 0.6 of their speed; their momentum stays."""
    times, hit, speed = frames(count, fps), 0.2083, 0.6
    apart = np.where(times < hit, speed * (hit - times), 0.6 * speed * (times - hit))
    return balls_in_flight(times, apart)


def glides_on_ice(fps=60.0, count=25):
    """A box glides over ice at 0.8 m/s."""
    times = frames(count, fps)
    return alone(
        make_shape("box"), path(0.8 * times, 0.0, 0.03), times, environment=(floor(friction=0.0),)
    )


def slides_down_a_slope(fps=60.0, count=25, slope=25.0, friction=0.3):
    """A box slides down a slope of 25 degrees against friction."""
    times, tilt = frames(count, fps), np.radians(slope)
    up = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    along = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    way = 0.1 * times + 0.5 * G * (np.sin(tilt) - friction * np.cos(tilt)) * times**2
    pose = Pose(np.outer(way, along) + 0.03 * up, turning([0.0, tilt, 0.0]))
    return alone(make_shape("box"), pose, times, environment=(HalfSpace(up, 0.0, friction),))


def slides_and_slows(fps=60.0, count=25):
    """A box slides over the floor and slows down as friction says."""
    times, friction = frames(count, fps), 0.3
    x = 2.0 * times - 0.5 * friction * G * times**2
    return alone(
        make_shape("box"), path(x, 0.0, 0.03), times, environment=(floor(friction=friction),)
    )


def throw_on_the_moon(fps=60.0, count=31):
    """A ball flies on a parabola of the gravity that the file states."""
    times, pull = frames(count, fps), 1.62
    z = 1.0 + 0.5 * times - 0.5 * pull * times**2
    gravity = np.array([0.0, 0.0, -pull])
    return alone(make_shape("sphere"), path(0.3 * times, 0.0, z), times, gravity=gravity)


def drop_from_a_table_edge(fps=60.0, count=30):
    """A ball is thrown level from 40 cm and lands on the floor, where it rolls on no farther."""
    times, height = frames(count, fps), 0.4
    landing = np.sqrt(2.0 * height / G)
    after = np.maximum(times - landing, 0.0)
    up = 0.5 * G * landing * after - 0.5 * G * after**2
    z = 0.035 + np.where(times < landing, height - 0.5 * G * times**2, up)
    ground = (floor(friction=0.0),)
    return alone(make_shape("sphere"), path(0.8 * times, 0.0, z), times, environment=ground)


NEIGHBOURS = (
    *(Neighbour(partial(throw, fps), variant=f"{fps:.0f}_fps") for fps in (24.0, 60.0, 120.0)),
    Neighbour(fast_spin_in_flight),
    Neighbour(tumbles_in_flight),
    Neighbour(bounce),
    Neighbour(partial(bounce, 0.05, 0.5, count=12), variant="low"),
    Neighbour(partial(bounce, 0.31, fps=30.0, count=18), variant="30_fps"),
    Neighbour(bounces_lower_and_lower),
    Neighbour(bounces_off_a_wall),
    Neighbour(balls_collide),
    Neighbour(drop_and_rest),
    Neighbour(partial(drop_and_rest, 0.3, 30.0, 20), variant="30_fps"),
    Neighbour(drop_from_a_table_edge),
    Neighbour(slides_to_rest),
    Neighbour(slides_and_slows),
    Neighbour(slides_down_a_slope),
    Neighbour(glides_on_ice),
    Neighbour(rolls_on_the_floor),
    Neighbour(rolls_down_a_slope),
    Neighbour(pushed_a_little),
    Neighbour(throw_on_the_moon),
)
