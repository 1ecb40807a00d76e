"""Motions that hide between frames: what goes to and fro in every frame, and beats of the air.

Seen at the rate of the frames, each of them moves by itself or slides where it has to hold.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scripted_clips import UPRIGHT, minimum_jerk

from attacks.clips import (
    G,
    bystander,
    clip_of,
    frames,
    integrated,
    path,
    pinch,
    pinched,
    rising,
    skin_points,
    turning,
)
from attacks.rows import HIT, LEAP, SLIDES, UNEXPLAINED, Attack
from handwright.core.surface import HalfSpace
from handwright.geometry import floor, table
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math import rotation
from handwright.math.pose import Pose

FPS = 60.0
TREMBLE = 0.5 * G / FPS**2
"""A body that is this much higher in every other frame falls freely from there, m: 1.4 mm."""


def _slid(shares, way, count):
    """A block lifted from a table and put back by a pinch that is shifted along it, m."""
    times = frames(count)
    pose = path(0.0, 0.0, 0.77 + 0.06 * np.sin(np.pi * minimum_jerk(times / times[-1])) ** 2)
    shift = np.zeros((count, 3))
    shift[:, 2] = 0.012 + 0.5 * way * shares
    return clip_of(
        times,
        hands={"hand": pinch(pose, shift=shift)},
        bodies={"block": (pinched()[0], pose)},
        environment=(table(0.75),),
    )


def pinch_slides_to_and_fro(way=0.008, count=31):
    """A block is lifted by a pinch that slides up and down on it from frame to frame."""
    return _slid((-1.0) ** np.arange(count), way, count)


def pinch_slides_in_threes(way=0.008, count=31):
    """As above, with rests: up, down and up again in every three frames."""
    return _slid(np.array([1.0, -1.0, 1.0])[np.arange(count) % 3], way, count)


def _trembling(speed, slope=0.0, turn=None):
    """A box that trembles on a slope while it moves up it, m/s in each step but three at the ends.

    It stands still for four frames at either end, so that nothing but the trembling is odd.
    """
    tilt, quiet = np.radians(slope), 4
    up = np.array([-np.sin(tilt), 0.0, np.cos(tilt)])
    along = np.array([np.cos(tilt), 0.0, np.sin(tilt)])
    way = np.pad(np.concatenate([[0.0], np.cumsum(speed) / FPS]), quiet, mode="edge")
    number = np.arange(len(way)) - quiet
    beats = (number % 2 == 1) & (number > 0) & (number < len(speed))
    high = 0.03 + np.cos(tilt) * TREMBLE * beats
    position = way[:, None] * along + high[:, None] * up
    wxyz = turning([0.0, -tilt, 0.0]) if turn is None else turning(np.outer(way, turn))
    if turn is not None:
        position[:, 0] = 0.0
    count = len(way)
    return clip_of(
        frames(count, FPS),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), Pose(position, wxyz))},
        environment=(HalfSpace(up, 0.0, 0.6),),
    )


def _beats(most, step, count):
    """Speeds that change by a step in every other frame, up to the most and down again."""
    pairs = np.arange(count // 2)
    return np.repeat(np.minimum(most, step * np.minimum(pairs, pairs[::-1])), 2)


def drives_while_trembling(count=30):
    """A box on the floor drives off by itself and stops; it only trembles by 1.4 mm."""
    return _trembling(_beats(0.5, 0.06, count))


def climbs_while_trembling(slope=15.0, count=30):
    """A box goes up a slope by itself and stops; it only trembles by 1.4 mm."""
    # Gravity pulls the box back while it is in the air; every other frame makes up for it.
    pull = 0.5 * G * np.sin(np.radians(slope)) / FPS
    return _trembling(_beats(0.3, 0.03, count) + pull * (-1.0) ** np.arange(count), slope)


def turns_while_trembling(count=30):
    """A box on the floor turns by itself and stops; it only trembles by 1.4 mm."""
    return _trembling(_beats(3.0, 0.4, count), turn=(0.0, 0.0, 1.0))


def hop_out_of_nothing(count=21):
    """A box at rest on the floor is 1.4 mm above it for one frame, and at rest again."""
    z = np.full(count, 0.03)
    z[count // 2] += TREMBLE
    return clip_of(
        frames(count, FPS),
        hands=bystander(count),
        bodies={"box": (make_shape("box"), path(0.0, 0.0, z))},
        environment=(floor(),),
    )


def _hanging(count):
    """Heights of a body that falls in even frames and is thrown back in odd ones, m, and which.

    It flies freely for three frames at either end.
    """
    kicks = (np.arange(count) % 2 == 1) & (np.arange(count) > 2) & (np.arange(count) < count - 3)
    return integrated(np.where(kicks, G, -G), 1.5 * G / FPS, FPS), kicks


def hangs_over_a_beating_hand(gap=0.02, count=32):
    """A box hangs in the air; the back of a hand beats the air below, and never comes nearer."""
    model, wrist = human(), np.array([-0.07, 0.0, 0.0])
    points = skin_points(model, model.pose("open"), Pose(wrist, UPRIGHT))
    below = (np.abs(points[:, 0]) < 0.03) & (np.abs(points[:, 1]) < 0.03)
    z, kicks = _hanging(count)
    high = 1.0 + z - gap - np.where(kicks, 0.0, gap + 0.01) - points[below, 2].max()
    return clip_of(
        frames(count, FPS),
        hands={"hand": (model, path(wrist[0], 0.0, high), model.pose("open"))},
        bodies={"box": (make_shape("box"), path(0.0, 0.0, 1.03 + z))},
    )


def spin_that_is_seen_as_rest(count=31):
    """A block turns by a quarter of a turn in the pinch in every frame: it looks the same."""
    times = frames(count)
    rise = path(0.0, 0.0, 1.0 + rising(times))
    spin = rotation.exp(np.outer(0.5 * np.pi * np.arange(count), [1.0, 0.0, 0.0]))
    pose = Pose(rise.position, rotation.multiply(np.tile(UPRIGHT, (count, 1)), spin))
    body = make_shape("box", width=0.022, depth=0.028, height=0.028)
    return clip_of(times, hands={"hand": pinch(rise)}, bodies={"block": (body, pose)})


ATTACKS = (
    *(
        Attack(partial(pinch_slides_to_and_fro, way), SLIDES | LEAP, variant=f"{1e3 * way:.0f}_mm")
        for way in (0.004, 0.008, 0.016)
    ),
    Attack(pinch_slides_in_threes, SLIDES | LEAP),
    Attack(drives_while_trembling, SLIDES | HIT | UNEXPLAINED),
    *(
        Attack(
            partial(climbs_while_trembling, slope),
            SLIDES | HIT | UNEXPLAINED,
            variant=f"{slope:.0f}_degrees",
        )
        for slope in (15.0, 25.0)
    ),
    Attack(hop_out_of_nothing, HIT | UNEXPLAINED),
    *(
        Attack(
            partial(hangs_over_a_beating_hand, gap), HIT | UNEXPLAINED, variant=f"{1e3 * gap:g}_mm"
        )
        for gap in (0.0005, 0.005, 0.02)
    ),
    Attack(turns_while_trembling, SLIDES | HIT | UNEXPLAINED),
    Attack(spin_that_is_seen_as_rest, SLIDES | LEAP),
)
