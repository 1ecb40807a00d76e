"""Things that pass through each other between two frames, and are apart in every one of them."""

from __future__ import annotations

import numpy as np

from attacks.clips import G, bystander, clip_of, frames, path, still, turning
from attacks.rows import LEAP, SUNK, Attack
from handwright.geometry import floor, table
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math import rotation

FPS = 30.0


def hand_falls_through_a_shelf(count=21):
    """A flat hand goes down through a shelf of 1 cm at 4 m/s, which it never touches in a frame."""
    model, times = human(), frames(count, FPS)
    shelf = table(1.0, size=(0.5, 0.5), thickness=0.01)
    z = 1.0 + 0.067 - 4.0 * (times - times[count // 2])
    return clip_of(
        times,
        hands={"hand": (model, path(-0.1, 0.0, z), model.pose("open"))},
        bodies={"box": (make_shape("box"), still((2.0, 0.0, 0.03), count))},
        environment=(shelf, floor(-2.0), table(0.0, center=(2.0, 0.0), size=(0.2, 0.2))),
    )


def hand_chops_through_a_plate(count=21):
    """A flat hand goes through a plate of 5 mm on its way; the plate stands still on the floor."""
    model, times = human(), frames(count, FPS)
    plate = make_shape("box", width=0.3, depth=0.005, height=0.3)
    y = 0.09 - 5.0 * (times - times[count // 2])
    # The palm looks along its way, and the fingers point up.
    up = np.array([np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0])
    side = turning([0.0, 0.0, 0.5 * np.pi])
    root = path(0.0, y, 0.1, rotation.multiply(side, up))
    return clip_of(
        times,
        hands={"hand": (model, root, model.pose("open"))},
        bodies={"plate": (plate, still((0.0, 0.0, 0.15), count))},
        environment=(floor(),),
    )


def balls_pass_through_each_other(count=21):
    """Two balls are thrown at each other and fly on, each through the other."""
    times, ball = frames(count, FPS), make_shape("sphere")
    x = 3.0 * (times - 0.5 * (times[count // 2] + times[count // 2 + 1]))
    z = 1.0 + 3.0 * times - 0.5 * G * times**2
    return clip_of(
        times,
        hands=bystander(count),
        bodies={"one": (ball, path(x, 0.0, z)), "two": (ball, path(-x, 0.0, z))},
    )


def hands_clap_through(count=21):
    """Two flat hands clap at 2 m/s each and go on, each through the other."""
    model, times = human(), frames(count, FPS)
    z = 2.0 * (times - 0.5 * (times[count // 2] + times[count // 2 + 1]))
    q = model.pose("open")
    return clip_of(
        times,
        hands={
            "one": (model, path(-0.1, 0.0, 1.5 + z), q),
            "two": (model, path(-0.1, 0.0, 1.5 - z), q),
        },
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def ball_flies_through_a_hand(count=21):
    """A ball is thrown through a flat hand that stands in its way."""
    model, times, ball = human(), frames(count, FPS), make_shape("sphere", radius=0.01)
    middle = 0.5 * (times[count // 2] + times[count // 2 + 1])
    z = 1.5 - 5.0 * (times - middle) - 0.5 * G * (times - middle) ** 2
    return clip_of(
        times,
        hands={"hand": (model, still((-0.06, 0.0, 1.5), count), model.pose("open"))},
        bodies={"ball": (ball, path(0.0, 0.0, z))},
    )


ATTACKS = (
    Attack(hand_falls_through_a_shelf, SUNK | LEAP),
    Attack(hand_chops_through_a_plate, SUNK | LEAP),
    Attack(balls_pass_through_each_other, SUNK | LEAP),
    Attack(hands_clap_through, SUNK | LEAP),
    Attack(ball_flies_through_a_hand, SUNK | LEAP),
)
