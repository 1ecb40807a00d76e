"""Hands in each other and digits in their palm are found; touching hands and fists are not."""

from __future__ import annotations

import igl
import numpy as np
import pytest
from moving_things import HAND, moving, poses, probed

from handwright.core.clip import Clip
from handwright.evidence.contacts.overlaps import hand_hand_depth, palm_depth
from handwright.hands import human
from handwright.hands.registry import HANDS, make_hand
from handwright.hands.skin.build import skin_of
from handwright.kinematics.fk import posed_tips
from handwright.kinematics.skin.samples import vertex_capsules
from handwright.kinematics.skin.skinning import posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose

LEFT = human("left")
ALLOWED = 1e-3


def two_hands(apart) -> Clip:
    """Flat hands, palm to palm with the fingers side by side, some distances (m) apart."""
    times = 0.1 * np.arange(len(apart))
    up = np.array([0.0, 0.0, 1.0])
    over = Pose(
        np.zeros((len(times), 3)) + np.asarray(apart)[:, None] * -up,
        rotation.exp(np.array([np.pi, 0.0, 0.0])),
    )
    return moving(
        times,
        hands={
            "right": (HAND, poses(np.zeros((len(times), 3))), HAND.pose("open")),
            "left": (LEFT, over, LEFT.pose("open")),
        },
    )


def skin_of_hand(clip, name, frame):
    model, motion = clip.problem.hands[name], clip.hands[name]
    skin = skin_of(model)
    return posed_skin(model, skin, motion.q[frame], motion.root[frame]), skin.faces


def skins_meet(clip, frame) -> bool:
    one, other = (skin_of_hand(clip, name, frame) for name in ("right", "left"))
    winding = igl.FastWindingNumberBVH()
    winding.init(*one)
    return bool((winding.winding_number(other[0]) > 0.5).any())


def test_hands_in_each_other_are_found_and_hands_that_touch_are_not():
    apart = np.arange(0.0, 0.13, 0.005)
    clip = two_hands(apart)
    meets = np.array([skins_meet(clip, t) for t in range(len(apart))])
    touching = float(apart[meets].max())
    assert 0.09 < touching < 0.11
    depth, names = hand_hand_depth(probed(clip))
    assert (depth[~meets] <= ALLOWED).all()
    assert (depth[apart <= touching - 0.015] > ALLOWED).all()
    assert "right." in names[0]
    assert " in left." in names[0]


@pytest.mark.parametrize("seed", range(8))
def test_fingers_of_one_hand_through_the_palm_of_another_are_found_wherever_they_are(seed):
    rng = np.random.default_rng(seed)
    world = Pose(rng.normal(size=3), rotation.exp(rng.normal(size=3)))
    # The left hand points straight down through the middle of the right palm.
    place = np.array([0.065 + rng.uniform(-0.02, 0.02), rng.uniform(-0.015, 0.015), 0.14])
    down = Pose(place[None], rotation.exp(np.array([0.0, np.pi / 2, 0.0])))
    clip = moving(
        np.zeros(1),
        hands={
            "right": (HAND, world @ poses(np.zeros((1, 3))), HAND.pose("neutral")),
            "left": (LEFT, world @ down, LEFT.pose("neutral")),
        },
    )
    assert hand_hand_depth(probed(clip))[0].max() > ALLOWED


def test_one_hand_alone_is_in_no_other():
    clip = two_hands([0.0, 0.5])
    hands = probed(clip)
    depth, names = hand_hand_depth({"right": hands["right"]})
    assert depth.tolist() == [0.0, 0.0]
    assert names == ["", ""]


def postures(model, q):
    return probed(
        moving(
            0.1 * np.arange(len(q)),
            hands={"hand": (model, poses(np.zeros((len(q), 3))), q)},
        )
    )["hand"]


@pytest.mark.parametrize("name", HANDS)
def test_named_postures_and_a_fist_with_all_joints_at_their_limits_are_let_pass(name):
    model = make_hand(name)
    fist = model.joints.upper.copy()
    thumb = list(model.digits[0].joints)
    fist[thumb] = model.pose("closed")[thumb]
    depth, _ = palm_depth(postures(model, np.stack([*model.poses.values(), fist])))
    assert (depth <= ALLOWED).all()


@pytest.mark.parametrize("name", ["index", "middle", "ring", "little"])
def test_a_finger_bent_through_its_palm_is_found(name):
    joints = HAND.joints
    bend = np.radians([60.0, 120.0])
    q = np.tile(HAND.pose("open"), (2, 1))
    q[:, joints.index(f"{name}_mcp_flexion")] = bend
    q[:, joints.index(f"{name}_pip_flexion")] = np.radians(140.0)
    digit = [digit.name for digit in HAND.digits].index(name)
    before, after = posed_tips(HAND, q).position[:, digit, 2]
    # z points out of the back of the hand: the tip is past the bones of the palm.
    assert before < -0.01
    assert after > -0.003
    depth, names = palm_depth(postures(HAND, q))
    assert depth[0] <= ALLOWED < depth[1]
    assert names[1].startswith(f"{name}_")


def test_a_finger_of_the_trident_bent_through_its_palm_is_found():
    model = make_hand("trident")
    q = np.tile(model.pose("open"), (40, 1))
    q[:, model.joints.index("finger1_proximal")] = np.linspace(0.0, 3.0, 40)
    depth, names = palm_depth(postures(model, q))
    assert depth.max() > 10.0 * ALLOWED
    assert "finger1_" in names[int(depth.argmax())]


def palm_collision(q) -> float:
    """Depth of the outer phalanges' skin in the palm between its metacarpals, m, by its mesh."""
    skin, names = skin_of(HAND), HAND.capsules.names
    owner = vertex_capsules(HAND, skin)
    outer = [i for i, n in enumerate(names) if n.endswith(("_intermediate", "_distal"))]
    palm = [i for i, n in enumerate(names) if n.endswith(("_metacarpal", "hypothenar"))]
    faces = skin.faces[np.isin(owner, palm)[skin.faces].all(axis=1)]
    vertices = posed_skin(HAND, skin, q)
    winding, tree = igl.FastWindingNumberBVH(), igl.AABB()
    winding.init(vertices, faces)
    points = vertices[np.isin(owner, outer)]
    inside = points[winding.winding_number(points) > 0.5]
    if len(inside) == 0:
        return 0.0
    tree.init(vertices, faces)
    return float(np.sqrt(np.max(tree.squared_distance(vertices, faces, inside)[0])))


def test_random_postures_of_a_digit_are_let_pass_unless_skin_is_deep_in_the_palm():
    rng = np.random.default_rng(0)
    q = np.tile(HAND.pose("rest"), (1500, 1))
    drawn = HAND.joints.random(rng, (len(q),))
    for row, digit in enumerate(rng.integers(0, 5, len(q))):
        joints = list(HAND.digits[digit].joints)
        q[row, joints] = drawn[row, joints]
    depth, _ = palm_depth(postures(HAND, q))
    found = np.flatnonzero(depth > ALLOWED)
    assert 0 < len(found) < 0.03 * len(q)
    assert min(palm_collision(q[row]) for row in found) > 5e-3
    deepest = max(palm_collision(q[row]) for row in np.flatnonzero(depth == 0.0)[::100])
    assert deepest < 0.012
