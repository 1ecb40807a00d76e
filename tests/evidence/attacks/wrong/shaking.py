"""Hands that shake, spin and flap as no hand can, within every limit of speed that is looked at."""

from __future__ import annotations

import numpy as np
from scripted_clips import UPRIGHT

from attacks.clips import clip_of, fist, frames, path, still, turning
from attacks.rows import LEAP, WEAK, Attack
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose


def free_hand(root, q, fps=30.0):
    """A hand that holds nothing; a box stands far below."""
    model, count = human(), len(root.position)
    return clip_of(
        frames(count, fps),
        hands={"hand": (model, root, model.pose("rest") if q is None else q)},
        bodies={"box": (make_shape("box"), still((0.0, 0.0, 0.03), count))},
        environment=(floor(),),
    )


def flickers_between_two_places(count=30):
    """A hand is at one of two places, 12 cm apart, in turn: twelve times a second."""
    x = np.where(np.arange(count) % 2, 0.06, -0.06)
    return free_hand(path(x, 0.0, 1.2), None, 24.0)


def flickers_between_two_turns(count=30):
    """A hand is turned by 100 degrees about its fingers and back in every two frames."""
    turn = np.outer(np.where(np.arange(count) % 2, 0.9, -0.9), [1.0, 0.0, 0.0])
    return free_hand(Pose(np.tile([0.0, 0.0, 1.2], (count, 1)), turning(turn)), None)


def turns_like_a_propeller(count=31):
    """A hand goes round about its wrist seven times within a second, always the same way."""
    turn = np.outer(1.5 * np.arange(count), [0.0, 0.0, 1.0])
    return free_hand(Pose(np.tile([0.0, 0.0, 1.2], (count, 1)), turning(turn)), None)


def fingers_flap_half(count=30):
    """Four fingers bend by 60 degrees and back in every two frames, 15 times a second."""
    model = human()
    q = np.tile(model.pose("open"), (count, 1))
    for k, name in enumerate(model.joints.names):
        if name.endswith("mcp_flexion") and not name.startswith("thumb"):
            q[:, k] = np.where(np.arange(count) % 2, 1.1, 0.1)
    return free_hand(still((0.0, 0.0, 1.2), count), q)


def jitters_at_random(count=30):
    """A hand is at a random place within 6 cm in every frame."""
    places = np.random.default_rng(5).uniform(-0.03, 0.03, (count, 3))
    return free_hand(Pose(places + np.array([0.0, 0.0, 1.2]), UPRIGHT), None)


def fist_and_ball_shiver(count=30):
    """A ball is held in a fist that is at one of two places, 4 cm apart, in turn."""
    x = np.where(np.arange(count) % 2, 0.02, -0.02)
    pose = path(x, 0.0, 1.0)
    return clip_of(
        frames(count), hands={"hand": fist(pose)}, bodies={"ball": (make_shape("sphere"), pose)}
    )


def hand_faster_than_any_arm(count=41):
    """A hand goes to and fro by 2 m, smoothly, at up to 31 m/s."""
    x = np.sin(10.0 * np.pi * frames(count, 120.0))
    return free_hand(path(x, 0.0, 1.2), None, 120.0)


def buzzing_fingers(count=41):
    """All fingers bend and stretch smoothly twenty times a second, by a quarter of a turn."""
    model, times = human(), frames(count, 240.0)
    q = np.tile(model.pose("open"), (count, 1))
    for k, name in enumerate(model.joints.names):
        if name.endswith("mcp_flexion") and not name.startswith("thumb"):
            q[:, k] = 0.7 + 0.6 * np.sin(40.0 * np.pi * times)
    return free_hand(still((0.0, 0.0, 1.2), count), q, 240.0)


ATTACKS = (
    Attack(flickers_between_two_places, LEAP),
    Attack(flickers_between_two_turns, LEAP),
    Attack(turns_like_a_propeller, LEAP),
    Attack(fingers_flap_half, LEAP),
    Attack(jitters_at_random, LEAP),
    Attack(hand_faster_than_any_arm, LEAP),
    Attack(buzzing_fingers, LEAP),
    Attack(fist_and_ball_shiver, LEAP | WEAK),
)
