"""Thin shelves, posts and rods in a hand are found; hands that lie on them are not."""

from __future__ import annotations

import numpy as np
import pytest
from moving_things import HAND, UPRIGHT, block, moving, poses, probed, shelf

from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.evidence.contacts.hand_contacts import hand_gaps
from handwright.evidence.contacts.probes import exact_distance
from handwright.evidence.contacts.table import ContactRule
from handwright.evidence.contacts.thin_things import body_between_knuckles, surroundings_in_flesh
from handwright.hands import trident
from handwright.hands.skin.build import skin_of
from handwright.kinematics.fk import link_poses, posed_capsules
from handwright.kinematics.skin.skinning import posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose

ALLOWED = 1e-3
FINGERS = ("index", "middle", "ring", "little")
RULE = ContactRule(reach=0.01, touching=1e-3, static_speed=5e-3)
LOWEST = float(posed_skin(HAND, skin_of(HAND), HAND.pose("open"))[:, 2].min())


def deep(root, environment, model=HAND, posture="open"):
    count = len(root.position)
    clip = moving(
        0.1 * np.arange(count),
        hands={"hand": (model, root, model.pose(posture))},
        environment=environment,
    )
    return surroundings_in_flesh(probed(clip)["hand"], clip.problem.environment)


def heights(*values):
    return poses(np.array(values)[:, None] * [0.0, 0.0, 1.0])


@pytest.mark.parametrize("thickness", [0.0002, 0.0015, 0.02])
def test_a_hand_stuck_through_a_shelf_is_found_and_one_that_lies_on_it_is_not(thickness):
    board = shelf(thickness=thickness)
    depth, names = deep(heights(0.0, 0.02, -LOWEST - 5e-4, 1.0), (board,))
    assert (depth[:2] > 5e-3).all()
    assert (depth[2:] <= ALLOWED).all()
    assert names[0].startswith("hand.")
    assert names[3] == ""


def test_surfaces_are_all_looked_at_and_a_hand_may_lie_on_a_floor():
    floor = HalfSpace(np.array([0.0, 0.0, 1.0]), 0.0)
    far = shelf(height=-2.0)
    upright = shelf(thickness=0.0015, height=0.00075)
    assert deep(heights(-LOWEST), (floor, far))[0].max() <= ALLOWED
    assert deep(heights(0.0), (far, upright))[0].max() > 5e-3
    assert deep(heights(0.0), ())[0].tolist() == [0.0]


@pytest.mark.parametrize("y", np.linspace(-0.02, 0.025, 7))
def test_a_thin_post_through_the_palm_is_found_between_its_bones_too(y):
    post = EnvironmentBox(Pose(np.array([0.06, y, 0.0]), UPRIGHT), np.array([0.001, 0.001, 0.3]))
    assert deep(heights(0.0), (post,), posture="neutral")[0].max() > ALLOWED


def test_a_hand_without_skin_is_its_capsules():
    model = trident()
    board = EnvironmentBox(Pose(np.zeros(3), UPRIGHT), np.array([1.0, 1.0, 0.001]))
    near = deep(heights(0.0, 5.0), (board,), model=model)[0]
    assert near[0] > 0.01
    assert near[1] == 0.0


def rod_depth(pose, rod, posture="neutral", of=HAND):
    """How deep a rod is in the hand, m, in each of some places: by capsules, between knuckles."""
    times = 0.1 * np.arange(len(pose))
    root = poses(np.zeros((len(pose), 3)))
    clip = moving(
        times,
        bodies={"rod": (rod, pose)},
        hands={"hand": (of, root, of.pose(posture))},
    )
    hand, exact = probed(clip)["hand"], exact_distance(rod)
    return (
        hand_gaps(hand, rod, pose, exact, times, RULE).skin_depth,
        body_between_knuckles(hand, pose, exact),
    )


@pytest.mark.parametrize("tilt", [[0.0, 0.0, 0.0], [0.3, 0.2, 0.5], [-0.5, 0.4, 1.0]])
def test_a_rod_and_a_blade_through_the_palm_are_found_wherever_they_go_through(tilt):
    x, y = np.meshgrid(np.linspace(0.03, 0.085, 12), np.linspace(-0.022, 0.024, 24))
    place = np.stack([x.ravel(), y.ravel(), np.full(x.size, -0.005)], axis=1)
    pose = Pose(place, rotation.exp(np.array(tilt)))
    for rod in (block(0.002, 0.002, 0.2), block(0.03, 0.001, 0.2)):
        assert (rod_depth(pose, rod)[0] > ALLOWED).all()


@pytest.mark.parametrize("name", ["thumb", "index", "middle", "ring", "little"])
def test_a_rod_through_the_bones_of_a_finger_is_found(name):
    rod, count = block(0.2, 0.002, 0.002), 40
    capsules = posed_capsules(HAND, HAND.pose("neutral"))
    for part in np.flatnonzero([n.startswith(f"{name}_") for n in HAND.capsules.names]):
        share = np.linspace(0.0, 1.0, count)[:, None]
        start, end = capsules.start[part], capsules.end[part]
        across = rotation.between(np.array([1.0, 0.0, 0.0]), np.cross(end - start, [0.2, 0.3, 1.0]))
        depth, _ = rod_depth(Pose(start + share * (end - start), across), rod)
        assert (depth > ALLOWED).all()


@pytest.mark.parametrize("posture", ["open", "neutral", "rest", "closed"])
def test_a_rod_that_lies_on_the_palm_or_on_the_back_of_the_hand_is_let_pass(posture):
    skin = posed_skin(HAND, skin_of(HAND), HAND.pose(posture))
    rod = block(0.002, 0.2, 0.002)
    flat = (np.abs(skin[:, 0] - 0.06) < 0.0012) & (np.abs(skin[:, 1]) < 0.03)
    top = float(skin[flat, 2].max()) + 0.001
    place = Pose(np.array([[0.06, 0.0, top]]), UPRIGHT)
    assert np.max(rod_depth(place, rod, posture)) <= ALLOWED


@pytest.mark.parametrize("posture", ["open", "neutral", "rest", "pinch"])
def test_a_rod_between_the_knuckles_of_two_fingers_is_found(posture):
    rod = block(0.002, 0.002, 0.2)
    knuckles = link_poses(HAND, HAND.pose(posture))[1][
        HAND.capsules.link[[HAND.capsules.names.index(f"{n}_proximal") for n in FINGERS]]
    ]
    middle = 0.5 * (knuckles[1:] + knuckles[:-1])
    by_capsules, between = rod_depth(Pose(middle, UPRIGHT), rod, posture)
    assert (by_capsules <= ALLOWED).any()
    assert (between > ALLOWED).all()
    away = Pose(middle + np.array([0.0, 0.0, 0.12]), UPRIGHT)
    assert rod_depth(away, rod, posture)[1].max() == 0.0


def test_a_hand_without_skin_has_no_flesh_between_its_knuckles():
    pose = poses(np.zeros((1, 3)))
    assert rod_depth(pose, block(0.5, 0.5, 0.5), "open", of=trident())[1].tolist() == [0.0]
