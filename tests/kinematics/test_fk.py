"""Forward kinematics and Jacobians."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handwright.errors import InvalidValueError
from handwright.hands import human, mirror, trident
from handwright.kinematics import (
    frame_poses,
    link_poses,
    point_jacobians,
    posed_capsules,
    posed_nails,
    posed_pads,
    posed_sites,
    posed_tips,
)
from handwright.math import rotation
from handwright.math.pose import Pose

HANDS = {
    "right": human(),
    "left_arm": human("left", arm=True),
    "coupled": human(coupled=True),
    "trident": trident(),
}
FLIP = np.array([1.0, -1.0, 1.0])


def random_pose(rng):
    return Pose(rng.normal(size=3), rotation.random(rng))


@pytest.mark.parametrize("name", HANDS)
def test_jacobians_are_the_derivatives_of_the_points(name):
    model, rng = HANDS[name], np.random.default_rng(3)
    q = model.joints.random(rng)
    link = np.array([digit.tip.link for digit in model.digits])
    local = rng.normal(size=(len(link), 3)) * 0.02
    root = random_pose(rng)
    _, linear, angular = point_jacobians(model, q, link, local, root)
    step = 1e-6
    for joint in range(model.num_joints):
        moved = [q.copy(), q.copy()]
        moved[0][joint] -= step
        moved[1][joint] += step
        places = [point_jacobians(model, x, link, local, root)[0] for x in moved]
        turns = [rotation.from_matrix(link_poses(model, x, root)[0][link]) for x in moved]
        rate = rotation.log(rotation.multiply(turns[1], rotation.conjugate(turns[0]))) / (2 * step)
        np.testing.assert_allclose(
            linear[:, :, joint], (places[1] - places[0]) / (2 * step), atol=1e-8
        )
        np.testing.assert_allclose(angular[:, :, joint], rate, atol=1e-8)


@given(seed=st.integers(0, 2**32 - 1))
def test_a_world_transform_moves_everything_rigidly(seed):
    model, rng = HANDS["right"], np.random.default_rng(seed)
    q = model.joints.random(rng)
    world, root = random_pose(rng), random_pose(rng)
    here, there = posed_capsules(model, q, root), posed_capsules(model, q, world @ root)
    np.testing.assert_allclose(world.apply(here.start), there.start, atol=1e-12)
    sites, moved = posed_sites(model, q, root), posed_sites(model, q, world @ root)
    np.testing.assert_allclose(world.rotate(sites.normal), moved.normal, atol=1e-12)


def test_batches_equal_single_poses():
    model, rng = HANDS["right"], np.random.default_rng(0)
    q = model.joints.random(rng, (2, 3))
    turns, places = link_poses(model, q)
    assert turns.shape == (2, 3, 31, 3, 3)
    for index in np.ndindex(2, 3):
        one_turn, one_place = link_poses(model, q[index])
        np.testing.assert_array_equal(turns[index], one_turn)
        np.testing.assert_array_equal(places[index], one_place)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_left_hand_mirrors_the_right_at_the_same_joint_values(seed):
    right, rng = HANDS["right"], np.random.default_rng(seed)
    left = human("left")
    q = right.joints.random(rng)
    for posed in (posed_pads, posed_sites):
        a, b = posed(right, q), posed(left, q)
        np.testing.assert_allclose(a.position * FLIP, b.position, atol=1e-13)
        np.testing.assert_allclose(a.normal * FLIP, b.normal, atol=1e-13)


def test_mirroring_twice_gives_the_same_hand():
    right = HANDS["right"]
    again = mirror(mirror(right))
    np.testing.assert_array_equal(again.joints.axis, right.joints.axis)
    np.testing.assert_array_equal(again.masses.inertia, right.masses.inertia)
    np.testing.assert_allclose(rotation.angle(again.frames.wxyz, right.frames.wxyz), 0.0, atol=1e-7)
    assert again.side == "right"
    assert again.name == right.name


@pytest.mark.parametrize("side", ["right", "left"])
def test_openxr_frames_look_along_the_bones_with_the_back_up(side):
    model = human(side)
    frames = frame_poses(model, model.pose("neutral"))
    index = model.frames.index
    bone = frames.position[index("index_intermediate")] - frames.position[index("index_proximal")]
    bone /= np.linalg.norm(bone)
    turn = rotation.to_matrix(frames.wxyz[index("index_proximal")])
    np.testing.assert_allclose(-turn[:, 2], bone, atol=1e-9)
    assert turn[2, 1] > 0.98
    # x points to the right of a palm-down hand on both sides.
    assert turn[1, 0] < -0.98


def test_followers_follow():
    model = HANDS["coupled"]
    q = model.joints.random(np.random.default_rng(5), (20,))
    pip, dip = model.joints.index("ring_pip_flexion"), model.joints.index("ring_dip_flexion")
    np.testing.assert_allclose(q[:, dip], 2.0 / 3.0 * q[:, pip])


def test_wrong_shapes_and_nan_are_refused():
    model = HANDS["right"]
    with pytest.raises(InvalidValueError, match=r"shape \(29,\); expected \(\.\.\., 30\)"):
        link_poses(model, np.zeros(29))
    with pytest.raises(InvalidValueError, match="NaN or infinity"):
        link_poses(model, np.full(30, np.nan))
    with pytest.raises(InvalidValueError, match="one pose at a time"):
        point_jacobians(model, np.zeros((2, 30)), np.zeros(1, int), np.zeros((1, 3)))
    with pytest.raises(InvalidValueError, match="links 0 to 31 are asked for; expected 0 to 30"):
        point_jacobians(model, np.zeros(30), np.array([0, 31]), np.zeros((2, 3)))
    with pytest.raises(InvalidValueError, match=r"expected \(N,\) and \(N, 3\)"):
        point_jacobians(model, np.zeros(30), np.array([0, 1]), np.zeros((1, 3)))
    with pytest.raises(InvalidValueError, match="local points hold NaN"):
        point_jacobians(model, np.zeros(30), np.array([1]), np.full((1, 3), np.nan))


@pytest.mark.parametrize("name", HANDS)
def test_tips_pads_and_nails_ride_on_their_links(name):
    model, rng = HANDS[name], np.random.default_rng(1)
    q, root = model.joints.random(rng, (2,)), random_pose(rng)
    turns, places = link_poses(model, q, root)
    for posed, kind in ((posed_tips, "tip"), (posed_pads, "pad"), (posed_nails, "nail")):
        points = [getattr(digit, kind) for digit in model.digits if getattr(digit, kind)]
        found = posed(model, q, root)
        assert found.position.shape == (2, len(points), 3)
        for n, point in enumerate(points):
            turn, place = turns[:, point.link], places[:, point.link]
            np.testing.assert_allclose(found.position[:, n], turn @ point.position + place)
            np.testing.assert_allclose(found.normal[:, n], turn @ point.normal)
