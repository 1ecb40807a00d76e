"""Bodies so small or thin that what is allowed is more than they are."""

from __future__ import annotations

import numpy as np

from attacks.clips import alone, bystander, clip_of, frames, path, rising, skin_points, still
from attacks.rows import FIGURES, MESH, SLIDES, SUNK, UNEXPLAINED, Attack
from handwright.core.surface import EnvironmentBox
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose

COUNT = 10
THIN = ("thin", "small", "tiny", "size")


def card(z):
    """A playing card of 0.3 mm whose underside is at a height, m."""
    body = make_shape("playing_card")
    low = z - float(body.vertices[:, 2].min())
    return alone(body, still((0, 0, low), COUNT), frames(COUNT), environment=(floor(),))


def card_sunk_in_the_table():
    """A card lies 0.9 mm deep in the table, three times its own thickness: nobody can see it."""
    return card(-0.0009)


def card_hovers():
    """A card hovers 0.9 mm above the table, three times its own thickness."""
    return card(0.0009)


def cards_in_each_other():
    """Two cards lie at the same place on the table, one within the other."""
    body = make_shape("box", width=0.063, depth=0.088, height=0.0003)
    return clip_of(
        frames(COUNT),
        hands=bystander(COUNT),
        bodies={
            "one": (body, still((0, 0, 0.00015), COUNT)),
            "two": (body, still((0.004, 0.003, 0.00015), COUNT)),
        },
        environment=(floor(),),
    )


def bead_in_the_flesh():
    """A bead of 1.4 mm is carried inside the flesh of a fingertip."""
    model, times = human(), frames(COUNT)
    q = model.pose("rest")
    bead, points = make_shape("sphere", radius=0.0007), skin_points(model, q)
    lowest = points[points[:, 2].argmin()]
    pose = path(0.0, 0.0, 1.0 + rising(times, 0.1))
    place = Pose(pose.position + lowest + np.array([0.0, 0.0, 0.0007]), pose.wxyz)
    return clip_of(times, hands={"hand": (model, pose, q)}, bodies={"bead": (bead, place)})


def bead_and_box(x):
    """A bead of 1 mm half way up beside a box of 6 cm, so far from its middle, m."""
    return clip_of(
        frames(COUNT),
        hands=bystander(COUNT),
        bodies={
            "box": (make_shape("box"), still((0, 0, 0.03), COUNT)),
            "bead": (make_shape("sphere", radius=0.0005), still((x, 0.0, 0.03), COUNT)),
        },
        environment=(floor(),),
    )


def bead_in_a_box():
    """A bead of 1 mm is stuck in the side of a box, just below its surface."""
    return bead_and_box(0.0294)


def bead_beside_a_box():
    """A bead of 1 mm hangs beside a box, 0.8 mm from its side: nothing is below it."""
    return bead_and_box(0.0313)


def stands_on_threads():
    """A box hovers 30 cm above the floor on three threads of a hundredth of a millimetre."""
    box, thread = make_shape("box"), make_shape("box", width=1e-5, depth=1e-5, height=0.3)
    feet = ((-0.02, -0.02), (0.02, -0.02), (0.0, 0.02))
    return clip_of(
        frames(COUNT),
        hands=bystander(COUNT),
        bodies={
            "box": (box, still((0, 0, 0.33), COUNT)),
            **{f"thread{k}": (thread, still((x, y, 0.15), COUNT)) for k, (x, y) in enumerate(feet)},
        },
        environment=(floor(),),
    )


def creeps_over_tiles():
    """A ball creeps over a floor of tiles of 1 mm at 4.5 mm/s without rolling, all by itself."""
    count = 40
    times = frames(count, 24.0)
    tiles = tuple(
        EnvironmentBox(
            Pose(np.array([0.0009 * k, 0.0, -0.01]), np.array([1.0, 0.0, 0.0, 0.0])),
            np.array([0.00045, 0.1, 0.01]),
        )
        for k in range(-1, 10)
    )
    ball = make_shape("sphere", radius=0.01)
    return alone(ball, path(0.0045 * times, 0.0, 0.01), times, environment=tiles)


ATTACKS = (
    Attack(card_sunk_in_the_table, SUNK),
    Attack(card_hovers, UNEXPLAINED),
    Attack(cards_in_each_other, SUNK),
    Attack(bead_in_the_flesh, SUNK | UNEXPLAINED),
    Attack(bead_in_a_box, SUNK),
    Attack(bead_beside_a_box, UNEXPLAINED),
    Attack(stands_on_threads, UNEXPLAINED | MESH | FIGURES, under=THIN),
    Attack(creeps_over_tiles, SLIDES | UNEXPLAINED),
)
