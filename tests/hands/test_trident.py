from __future__ import annotations

import numpy as np
import pytest

from handwright.core.hand import Capsules, HandModel, JointTree
from handwright.errors import InvalidValueError
from handwright.hands.capsules import capsule_properties, distances_to_axes, spread_sites
from handwright.hands.trident import trident
from handwright.kinematics import link_poses, posed_capsules, posed_pads

POSES = ("rest", "open", "closed", "pinch", "neutral")


@pytest.fixture(scope="module")
def hand() -> HandModel:
    return trident()


def test_has_every_named_pose_and_they_obey_the_limits_and_the_follower(hand):
    assert set(hand.poses) == set(POSES)
    for name in POSES:
        np.testing.assert_array_equal(hand.joints.clamp(hand.pose(name)), hand.pose(name))


def test_fingers_point_out_of_the_palm_at_zero(hand):
    _, places = link_poses(hand, np.zeros(hand.num_joints))
    for digit in hand.digits:
        knuckle, tip = places[digit.joints[-2] + 1], places[digit.tip.link] + digit.tip.position
        assert tip[0] - knuckle[0] == pytest.approx(0.070 + 0.058)
        np.testing.assert_allclose(tip[1:], knuckle[1:], atol=1e-12)


def test_bending_brings_the_pads_together(hand):
    def span(value: float) -> float:
        q = np.zeros(hand.num_joints)
        q[[0, 3, 6]] = value
        pads = posed_pads(hand, q).position
        return float(np.linalg.norm(pads[0] - pads[1]) + np.linalg.norm(pads[0] - pads[2]))

    spans = [span(value) for value in (-1.2, -0.6, 0.0, 0.3)]
    assert spans == sorted(spans, reverse=True)
    assert spans[0] > 2 * spans[-1]


def test_spread_turns_the_two_fingers_as_mirror_images_round_to_the_thumb(hand):
    q = np.zeros(hand.num_joints)
    for spread in np.linspace(0.0, np.pi, 7):
        q[2] = spread
        pads = posed_pads(hand, hand.joints.clamp(q))
        mirror = np.array([1.0, -1.0, 1.0])
        np.testing.assert_allclose(pads.position[1], mirror * pads.position[2], atol=1e-12)
        np.testing.assert_allclose(pads.normal[1], mirror * pads.normal[2], atol=1e-12)
    # After half a turn all three stand side by side and face the same way.
    np.testing.assert_allclose(pads.normal, np.tile(pads.normal[0], (3, 1)), atol=1e-12)
    np.testing.assert_allclose(pads.position[:, 2], pads.position[0, 2], atol=1e-12)


def test_pinch_faces_the_pads_across_a_thin_gap(hand):
    pads = posed_pads(hand, hand.pose("pinch"))
    gap = pads.position[1:, 2] - pads.position[0, 2]
    np.testing.assert_allclose(gap, 0.010, atol=0.001)
    np.testing.assert_allclose(np.ptp(pads.position[:, 0]), 0.0, atol=1e-9)
    # Normals point out of the hand, so into the gap from either side.
    assert pads.normal[0, 2] > 0.9
    assert np.all(pads.normal[1:, 2] < -0.9)


@pytest.mark.parametrize("name", POSES)
def test_digits_do_not_run_into_each_other(hand, name):
    posed = posed_capsules(hand, hand.pose(name))
    digit = hand.capsules.digit
    steps = np.linspace(0.0, 1.0, 60)[:, None]
    for first in range(len(hand.capsules)):
        points = posed.start[first] + steps * (posed.end[first] - posed.start[first])
        clear = distances_to_axes(points, posed.start, posed.end).min(axis=0)
        clear -= posed.radius[first] + posed.radius
        others = (digit != digit[first]) & (digit >= 0) & (digit[first] >= 0)
        # Knuckles turn in their own plane below the fingers and meet above the palm's middle.
        is_knuckle = np.array(["knuckle" in n for n in hand.capsules.names])
        others &= ~(is_knuckle & is_knuckle[first])
        assert np.all(clear[others] > -1e-4), hand.capsules.names[first]


def test_closed_fingers_stay_off_the_palm(hand):
    posed = posed_capsules(hand, hand.pose("closed"))
    for index, name in enumerate(hand.capsules.names):
        if name.endswith("distal"):
            points = np.array([posed.start[index], posed.end[index]])
            palm = hand.capsules.digit < 0
            gap = distances_to_axes(points, posed.start[palm], posed.end[palm])
            assert np.all(gap > posed.radius[palm] + posed.radius[index])


def test_pads_and_tips_lie_on_the_capsules_with_outward_normals(hand):
    for digit in hand.digits:
        last = hand.capsules.names.index(f"{digit.name}_distal")
        start, end = hand.capsules.start[[last]], hand.capsules.end[[last]]
        for point in (digit.tip, digit.pad):
            np.testing.assert_allclose(
                distances_to_axes(point.position[None], start, end)[0, 0],
                hand.capsules.radius[last],
                atol=1e-12,
            )
            inner = point.position - hand.capsules.radius[last] * point.normal
            assert distances_to_axes(inner[None], start, end)[0, 0] < 1e-12


def test_sites_lie_on_the_surface_face_the_grasp_and_are_spread(hand):
    sites = hand.sites
    assert len(sites) == 100
    for index in range(len(sites)):
        own = hand.capsules.link == sites.link[index]
        depth = (
            distances_to_axes(
                sites.position[[index]], hand.capsules.start[own], hand.capsules.end[own]
            )[0]
            - hand.capsules.radius[own]
        )
        assert depth.min() == pytest.approx(0.0, abs=1e-12)
    # Thumb sites look up, finger sites down, palm sites out.
    for links, direction in (((1, 2), [0, 0, 1]), ((4, 5, 7, 8), [0, 0, -1]), ((0,), [1, 0, 0])):
        chosen = np.isin(sites.link, links)
        assert chosen.sum() >= 8
        assert np.all(sites.normal[chosen] @ np.array(direction) >= 0.5 - 1e-12)
    _, places = link_poses(hand, np.zeros(hand.num_joints))
    world = places[sites.link] + sites.position
    gaps = np.linalg.norm(world[:, None] - world[None], axis=-1) + np.eye(len(world))
    assert gaps.min() > 0.005


def test_weight_is_that_of_the_model_hand(hand):
    assert hand.masses.mass.sum() == pytest.approx(0.98)
    eigenvalues = np.linalg.eigvalsh(hand.masses.inertia)
    assert np.all(eigenvalues > 0.0)
    assert np.all(eigenvalues[:, 2] <= eigenvalues[:, 0] + eigenvalues[:, 1])


def test_scale_keeps_angles_and_scales_lengths_masses_and_inertias(hand):
    large = trident(scale=1.5)
    np.testing.assert_allclose(large.joints.offset, 1.5 * hand.joints.offset)
    np.testing.assert_allclose(large.sites.position, 1.5 * hand.sites.position, atol=1e-12)
    np.testing.assert_allclose(large.masses.mass, 1.5**3 * hand.masses.mass)
    np.testing.assert_allclose(large.masses.inertia, 1.5**5 * hand.masses.inertia, atol=1e-15)
    np.testing.assert_array_equal(large.pose("pinch"), hand.pose("pinch"))


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_refuses_a_scale_that_is_no_size(scale):
    with pytest.raises(InvalidValueError, match=r"scale is .*; expected a positive number"):
        trident(scale=scale)


def test_capsule_inertia_agrees_with_a_monte_carlo_solid():
    start, end, radius = np.array([0.01, -0.02, 0.03]), np.array([0.05, 0.01, 0.02]), 0.015
    rng = np.random.default_rng(3)
    low, high = np.minimum(start, end) - radius, np.maximum(start, end) + radius
    points = rng.uniform(low, high, (400_000, 3))
    points = points[distances_to_axes(points, start[None], end[None])[:, 0] < radius]
    centered = points - points.mean(axis=0)
    second = centered.T @ centered / len(points)
    expected = 0.2 * (np.trace(second) * np.eye(3) - second)
    got = capsule_properties(start, end, radius, 0.2)
    np.testing.assert_allclose(got.center, points.mean(axis=0), atol=2e-4)
    np.testing.assert_allclose(got.inertia, expected, atol=0.01 * np.trace(expected))


def test_capsule_without_length_is_a_ball():
    got = capsule_properties(np.ones(3), np.ones(3), 0.1, 2.0)
    np.testing.assert_allclose(got.inertia, 0.4 * 2.0 * 0.01 * np.eye(3), atol=1e-15)


def test_too_many_sites_are_refused_with_the_room_there_is():
    joints = JointTree(
        (),
        *(np.zeros(0, dtype=int), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)),
        *(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0, dtype=int), np.zeros(0), np.zeros(0)),
    )
    ball = Capsules(
        ("ball",),
        np.array([0]),
        np.zeros((1, 3)),
        np.zeros((1, 3)),
        np.array([0.01]),
        np.array([-1]),
    )
    with pytest.raises(InvalidValueError, match=r"100000 sites asked for.*room for \d+"):
        spread_sites(joints, ball, np.array([[0.0, 0.0, 1.0]]), 100_000)
