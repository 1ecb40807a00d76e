"""Things that go through each other where nothing was looked at: hands, thin things, own palms."""

from __future__ import annotations

from functools import partial

import numpy as np
from scripted_clips import UPRIGHT

from attacks.clips import bystander, clip_of, crossed_arms, frames, still, turning
from attacks.rows import SUNK, Attack
from handwright.core.surface import EnvironmentBox
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose

COUNT = 12
LEVEL = turning([0.0, 0.5 * np.pi, 0.0])
"""Lays down what stands."""


def hands_and_box(hands, *, environment=(), bodies=None):
    """Still hands, by name: root and joint values of one frame; a box stands far below them."""
    box = {"box": (make_shape("box"), still((0.0, 0.0, 0.03), COUNT))}
    return clip_of(
        frames(COUNT),
        hands={
            name: (human(), still(root.position, COUNT, root.wxyz), q)
            for name, (root, q) in hands.items()
        },
        bodies={**box, **(bodies or {})},
        environment=(floor(), *environment),
    )


def hands_through_each_other(turn=np.pi):
    """Two open hands are stuck through each other at the palms."""
    q = human().pose("open")
    one = Pose(np.array([-0.08, 0.0, 1.0]), UPRIGHT)
    other = Pose(np.array([0.08, 0.01, 1.005]), turning([0.0, 0.0, turn]))
    return hands_and_box({"one": (one, q), "two": (other, q)})


def hands_in_the_same_place():
    """Two hands are at the same place, one inside the other."""
    q, root = human().pose("rest"), Pose(np.array([0.0, 0.0, 1.0]), UPRIGHT)
    return hands_and_box({"one": (root, q), "two": (root, q)})


def fingers_of_two_hands_crossed():
    """The fingers of one hand go straight through those of the other, crosswise."""
    q = human().pose("open")
    one = Pose(np.array([-0.14, 0.0, 1.0]), UPRIGHT)
    other = Pose(np.array([0.0, -0.14, 1.0]), turning([0.0, 0.0, 0.5 * np.pi]))
    return hands_and_box({"one": (one, q), "two": (other, q)})


def finger_through_its_palm(names=("little",)):
    """A finger is bent so far that its tip is 12 mm deep in the flesh of its own palm."""
    model = human()
    q = model.pose("open").copy()
    for name in names:
        for joint in ("cmc", "mcp", "pip", "dip"):
            k = model.joints.index(f"{name}_{joint}_flexion")
            q[k] = model.joints.upper[k]
    return hands_and_box({"hand": (Pose(np.array([0.0, 0.0, 1.0]), UPRIGHT), q)})


def hand_through_a_thin_shelf(thickness=0.0015):
    """An open hand is stuck through a shelf of 1.5 mm up to its knuckles."""
    shelf = EnvironmentBox(
        Pose(np.array([0.0, 0.0, 1.0]), UPRIGHT), np.array([0.3, 0.3, 0.5 * thickness])
    )
    # Fingers down.
    root = Pose(np.array([0.0, 0.0, 1.08]), turning([0.0, 0.5 * np.pi, 0.0]))
    return hands_and_box({"hand": (root, human().pose("open"))}, environment=(shelf,))


def rod_through_the_palm(ahead=0.06, aside=0.03, radius=0.001):
    """A rod of 2 mm stands on the floor and goes through a palm, between its capsules."""
    rod = make_shape("cylinder", radius=radius, height=0.4)
    root = Pose(np.array([-ahead, -aside, 0.25]), UPRIGHT)
    return clip_of(
        frames(COUNT),
        hands={"hand": (human(), still(root.position, COUNT), human().pose("open"))},
        bodies={"rod": (rod, still((0.0, 0.0, 0.2), COUNT))},
        environment=(floor(),),
    )


def hand_through_a_plate(thickness=0.001):
    """A hand is stuck through a plate of 1 mm that stands on the floor."""
    plate = make_shape("box", width=thickness, depth=0.4, height=0.4)
    root = Pose(np.array([-0.08, 0.0, 0.2]), UPRIGHT)
    return clip_of(
        frames(COUNT),
        hands={"hand": (human(), still(root.position, COUNT), human().pose("open"))},
        bodies={"plate": (plate, still((0.0, 0.0, 0.2), COUNT))},
        environment=(floor(),),
    )


def _two(one, two, at, turned):
    return clip_of(
        frames(COUNT),
        hands=bystander(COUNT),
        bodies={"one": (one, still(at[0], COUNT)), "two": (two, still(at[1], COUNT, turned))},
        environment=(floor(),),
    )


def plates_cross(thickness=0.001):
    """Two standing plates of 1 mm go through each other, like an X from above."""
    plate = make_shape("box", width=thickness, depth=0.2, height=0.2)
    return _two(plate, plate, [(0.0, 0.0, 0.1), (0.0, 0.0, 0.1)], turning([0.0, 0.0, 0.5 * np.pi]))


def rods_cross(radius=0.001):
    """A rod goes through another one; both stand on the floor, one of them as a plate's edge."""
    rod = make_shape("cylinder", radius=radius, height=0.2)
    plate = make_shape("box", width=0.3, depth=2.0 * radius, height=0.2)
    return _two(rod, plate, [(0.0031, 0.0, 0.1), (0.0, 0.0, 0.1)], UPRIGHT)


def rods_lie_through_each_other(radius=0.002):
    """Two rods lie on the floor, crosswise, at the same height: each goes through the other."""
    rod = make_shape("cylinder", radius=radius, height=0.2)
    lying = turning([0.0, 0.5 * np.pi, 0.0])
    across = turning([0.5 * np.pi, 0.0, 0.0])
    return clip_of(
        frames(COUNT),
        hands=bystander(COUNT),
        bodies={
            "one": (rod, still((0.0, 0.0, radius), COUNT, lying)),
            "two": (rod, still((0.013, 0.017, radius), COUNT, across)),
        },
        environment=(floor(),),
    )


def rod_through_a_box():
    """A rod of 2 mm stands on the floor and goes through the middle of a box that stands there."""
    rod, box = make_shape("cylinder", radius=0.001, height=0.3), make_shape("box")
    return _two(rod, box, [(0.0131, 0.0071, 0.15), (0.0, 0.0, 0.03)], UPRIGHT)


def box_in_a_box():
    """A box stands inside a larger solid one."""
    large = make_shape("box", width=0.2, depth=0.2, height=0.2)
    return _two(large, make_shape("box"), [(0.0, 0.0, 0.1), (0.0, 0.0, 0.03)], UPRIGHT)


def box_through_a_thin_shelf(thickness=0.001):
    """A box stands on the floor and a shelf of 1 mm goes through its middle."""
    shelf = EnvironmentBox(
        Pose(np.array([0.0, 0.0, 0.03]), UPRIGHT), np.array([0.2, 0.2, 0.5 * thickness])
    )
    return hands_and_box(
        {"hand": (Pose(np.array([0.0, 1.0, 1.2]), UPRIGHT), human().pose("rest"))},
        environment=(shelf,),
    )


def box_on_a_spike(half=0.001):
    """A spike of 2 mm goes up through a box that stands on the floor, off all its corners."""
    spike = EnvironmentBox(
        Pose(np.array([0.011, 0.007, 0.1]), UPRIGHT), np.array([half, half, 0.1])
    )
    return hands_and_box(
        {"hand": (Pose(np.array([0.0, 1.0, 1.2]), UPRIGHT), human().pose("rest"))},
        environment=(spike,),
    )


def hand_on_a_spike(half=0.001):
    """A spike of 2 mm goes up through the palm of a hand, between the points of its skin."""
    spike = EnvironmentBox(Pose(np.array([0.06, 0.011, 1.0]), UPRIGHT), np.array([half, half, 0.1]))
    root = Pose(np.array([0.0, 0.0, 1.0]), UPRIGHT)
    return hands_and_box({"hand": (root, human().pose("open"))}, environment=(spike,))


def arms_through_each_other():
    """Two forearms lie across each other at the same height, one through the other."""
    return crossed_arms()


ATTACKS = (
    Attack(arms_through_each_other, SUNK),
    Attack(hands_through_each_other, SUNK),
    Attack(hands_in_the_same_place, SUNK),
    Attack(fingers_of_two_hands_crossed, SUNK),
    Attack(
        partial(finger_through_its_palm, ("index", "middle", "ring", "little")),
        SUNK,
        variant="all",
    ),
    Attack(hand_through_a_thin_shelf, SUNK),
    Attack(rod_through_the_palm, SUNK, variant="thenar"),
    Attack(partial(rod_through_the_palm, 0.1, -0.01), SUNK, variant="knuckles"),
    Attack(hand_through_a_plate, SUNK),
    Attack(plates_cross, SUNK),
    Attack(rods_cross, SUNK),
    Attack(rods_lie_through_each_other, SUNK),
    Attack(rod_through_a_box, SUNK),
    Attack(box_in_a_box, SUNK),
    Attack(box_through_a_thin_shelf, SUNK),
    Attack(box_on_a_spike, SUNK),
    Attack(hand_on_a_spike, SUNK),
)
