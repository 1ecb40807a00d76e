"""Loads that no person can hold, on parts of the hand or in hands that have no known strength."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from attacks.clips import clip_of, fist, frames, on_palm, path, rising, still, turning
from attacks.rows import FIGURES, WEAK, Attack
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math import rotation
from handwright.math.pose import Pose


def heavy_plate_on_the_palm(mass=50.0, count=20):
    """An open hand lifts a plate of 50 kg that lies on its heel."""
    times = frames(count)
    plate = make_shape("box", width=0.1, depth=0.1, height=0.03).with_mass(mass)
    return clip_of(times, **on_palm(plate, count, lift=rising(times, 0.05)))


def heavy_ball_on_the_palm(mass=50.0, count=20):
    """A hand that looks up holds a ball of 50 kg in its hollow and raises it."""
    times = frames(count)
    pose = path(0.0, 0.0, 1.0 + rising(times, 0.05), np.array([0.0, 1.0, 0.0, 0.0]))
    ball = make_shape("sphere").with_mass(mass)
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"ball": (ball, pose)})


def plate_on_the_fingertips(mass=15.0, count=20):
    """A hand at rest that looks up carries 15 kg on thumb and two fingertips."""
    plate = make_shape("box", width=0.1, depth=0.1, height=0.03).with_mass(mass)
    return clip_of(frames(count), **on_palm(plate, count, pose="rest"))


def renamed(model):
    """The hand with joints and digits of other names, whose strength nobody knows."""
    joints = replace(model.joints, names=tuple(f"j{k}" for k in range(model.num_joints)))
    digits = tuple(replace(digit, name=f"d{k}") for k, digit in enumerate(model.digits))
    return replace(model, name="mine", joints=joints, digits=digits, skin=None)


def renamed_fist_swings(mass=20.0, count=31):
    """A fist swings 20 kg to and fro; its joints were renamed in the file."""
    times = frames(count)
    angle = 2.0 * np.pi * rising(times, 1.0)
    pose = path(0.1 * (1.0 - np.cos(angle)), 0.0, 1.0)
    ball = make_shape("sphere").with_mass(mass)
    return clip_of(
        times, hands={"hand": fist(pose, model=renamed(human()))}, bodies={"ball": (ball, pose)}
    )


def renamed_joints_alone(mass=20.0, count=20):
    """As above at rest: only the joints were renamed, the digits were not."""
    model = human()
    joints = replace(model.joints, names=tuple(f"j{k}" for k in range(model.num_joints)))
    pose = still((0.0, 0.0, 1.0), count)
    ball = make_shape("sphere").with_mass(mass)
    return clip_of(
        frames(count),
        hands={"hand": fist(pose, model=replace(model, joints=joints))},
        bodies={"ball": (ball, pose)},
    )


def digits_made_palm(mass=20.0, count=20):
    """A fist holds 20 kg; in the file its fingers belong to the palm, which has no limit."""
    model = human()
    capsules = replace(model.capsules, digit=np.full(len(model.capsules), -1))
    pose = still((0.0, 0.0, 1.0), count)
    ball = make_shape("sphere").with_mass(mass)
    return clip_of(
        frames(count),
        hands={"hand": fist(pose, model=replace(renamed(model), capsules=capsules))},
        bodies={"ball": (ball, pose)},
    )


def whirled_ball(count=31, fps=60.0):
    """A hand that looks up whirls a ball of 3 kg round at 15 m/s: 40 times its weight."""
    times = frames(count, fps)
    angle = 30.0 * times
    spin = turning(np.outer(angle, [0.0, 0.0, 1.0]))
    # The hollow of the hand looks at the axis, and throws the ball inwards all the time.
    lean = rotation.multiply(spin, turning([0.0, -0.5 * np.pi, 0.0]))
    pose = Pose(0.5 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle + 2.0], axis=1), lean)
    ball = make_shape("sphere").with_mass(3.0)
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"ball": (ball, pose)})


def shaken_ball(mass=2.0, count=41, fps=120.0):
    """A fist that looks up shakes 2 kg by 6 cm, ten times a second: 120 times their weight."""
    times = frames(count, fps)
    z = 0.03 * np.cos(20.0 * np.pi * times)
    pose = path(0.0, 0.0, 1.0 + z, np.array([0.0, 1.0, 0.0, 0.0]))
    ball = make_shape("sphere").with_mass(mass)
    return clip_of(times, hands={"hand": fist(pose)}, bodies={"ball": (ball, pose)})


def two_hands_under_a_ton(count=12):
    """Two open hands hold a slab of a ton between them, on their heels."""
    slab = make_shape("box", width=0.1, depth=0.1, height=0.03).with_mass(1000.0)
    given = on_palm(slab, count)
    twin = on_palm(slab, count)
    hand = twin["hands"]["hand"]
    aside = Pose(hand[1].position + np.array([0.0, 0.3, 0.0]), hand[1].wxyz)
    high = given["bodies"]["load"][1]
    wide = make_shape("box", width=0.1, depth=0.4, height=0.03).with_mass(1000.0)
    middle = Pose(high.position + np.array([0.0, 0.15, 0.0]), high.wxyz)
    return clip_of(
        frames(count),
        hands={"one": given["hands"]["hand"], "two": (hand[0], aside, hand[2])},
        bodies={"load": (wide, middle)},
    )


ATTACKS = (
    *(
        Attack(partial(heavy_plate_on_the_palm, mass), WEAK, variant=f"{mass:.0f}_kg")
        for mass in (50.0, 1e3, 1e6)
    ),
    Attack(heavy_ball_on_the_palm, WEAK),
    Attack(plate_on_the_fingertips, WEAK),
    Attack(renamed_fist_swings, WEAK | FIGURES, under=("strength",)),
    Attack(renamed_joints_alone, WEAK | FIGURES, under=("strength", "joints")),
    Attack(digits_made_palm, WEAK | FIGURES, under=("strength",)),
    Attack(whirled_ball, WEAK),
    Attack(shaken_ball, WEAK),
    Attack(two_hands_under_a_ton, WEAK),
)
