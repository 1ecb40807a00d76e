"""Bodies that lie on planes and boxes: where they touch, held against geometry and statics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.core.clip import Clip, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.surface import EnvironmentBox
from handwright.core.track import still
from handwright.evidence import certify
from handwright.evidence.contacts.hand_contacts import environment_contacts
from handwright.evidence.contacts.table import ContactRule
from handwright.geometry.distance.environment import floor, table
from handwright.geometry.distance.support import contacts_along, surface_contacts
from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import force_contacts, least_forces
from handwright.methods.sampling.setup.intervals import find_carry_intervals, ground_contacts
from tools.scenes.checking import support_contacts

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
BAR = make_shape("box", width=0.3, depth=0.02, height=0.016, mass=0.2)
CUBE = make_shape("box", width=0.1, depth=0.1, height=0.1, mass=0.5)
PLATE = make_shape("box", width=0.4, depth=0.4, height=0.01, mass=0.5)
SLOPE = 0.2


def block(x: float, top: float, *, width: float = 0.02, friction: float = 0.6) -> EnvironmentBox:
    half = np.array([0.5 * width, 0.05, 0.5 * top])
    return EnvironmentBox(Pose(np.array([x, 0.0, 0.5 * top]), UPRIGHT), half, friction)


def blocks(friction: float = 0.6) -> tuple[EnvironmentBox, EnvironmentBox]:
    return block(-0.05, 0.05, friction=friction), block(0.05, 0.03, friction=friction)


def bar_across() -> Pose:
    """Its lower side goes through (-0.04, y, 0.05) and (0.06, y, 0.03)."""
    wxyz = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.arctan(SLOPE))
    up = rotation.rotate(wxyz, np.array([0.0, 0.0, 1.0]))
    return Pose(np.array([0.01, 0.0, 0.04]) + 0.008 * up, wxyz)


def resting(body, pose, environment, *, count=8) -> Problem:
    times = np.arange(count) / 30.0
    return Problem(
        "resting", times, {}, {"body": body}, environment=environment,
        tracks={"body": still(pose, times)},
    )  # fmt: skip


def test_a_bar_lies_on_the_edges_of_two_blocks_of_different_height():
    normal = np.array([SLOPE, 0.0, 1.0]) / np.hypot(1.0, SLOPE)
    for surface, x, z in zip(blocks(), (-0.04, 0.06), (0.05, 0.03), strict=True):
        found = surface_contacts(surface, BAR, bar_across())
        touching = found.gap <= 1e-9
        assert touching.sum() >= 2
        np.testing.assert_allclose(found.point[touching][:, [0, 2]], [[x, z]] * touching.sum())
        np.testing.assert_allclose(np.ptp(found.point[touching][:, 1]), 0.02)
        np.testing.assert_allclose(found.normal[touching], [normal] * touching.sum(), atol=1e-12)
        assert found.distance == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("friction", "is_carried"), [(SLOPE + 0.02, True), (SLOPE - 0.02, False)])
def test_the_bar_stays_if_friction_is_more_than_its_slope(friction, is_carried):
    problem = resting(BAR, bar_across(), blocks(friction))
    assert (find_carry_intervals(problem, cutoff_hz=None) == []) == is_carried
    clip = Clip(
        problem, problem.times, {}, {"body": problem.track("body").pose}, ContactTrack.empty(),
        Provenance("resting", "none"),
    )  # fmt: skip
    assert (certify(clip).check("force_residual").passed) == is_carried


def test_all_that_look_at_support_see_the_same_points():
    problem = resting(BAR, bar_across(), blocks())
    points, normals, _ = support_contacts(problem, "body", 0)
    every = [surface_contacts(surface, BAR, bar_across()) for surface in problem.environment]
    near = [
        np.concatenate(part)
        for part in zip(
            *((found.point[found.gap < 1e-3], found.normal[found.gap < 1e-3]) for found in every),
            strict=True,
        )
    ]
    np.testing.assert_allclose(points, near[0], atol=1e-12)
    np.testing.assert_allclose(normals, near[1], atol=1e-12)
    pose = problem.track("body").pose
    ground = ground_contacts(problem, BAR, pose, problem.times)
    first = slice(ground.first[0], ground.first[1])
    np.testing.assert_allclose(pose[0].apply(ground.point[first]), near[0], atol=1e-12)
    np.testing.assert_allclose(pose[0].rotate(ground.normal[first]), near[1], atol=1e-12)
    clip = Clip(
        problem, problem.times, {}, {"body": pose}, ContactTrack.empty(), Provenance("x", "none")
    )
    judged, _ = environment_contacts(clip, "body", ContactRule(1e-3, 1e-3, 5e-3))
    mine = judged.frame == 0
    np.testing.assert_allclose(judged.point[mine], near[0], atol=1e-12)
    np.testing.assert_allclose(judged.normal[mine], near[1], atol=1e-12)


@pytest.mark.parametrize("height", [7e-4, 7.9e-4, 8.5e-4, 9.5e-4, 1.05e-3])
def test_no_force_is_offered_where_a_certificate_sees_a_gap(height):
    # Corners of a slightly tilted cube: one may touch while others on its level do not.
    wxyz = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), 1.5e-3)
    lowest = rotation.rotate(wxyz, CUBE.vertices)[:, 2].min()
    pose = Pose(np.array([0.0, 0.0, 0.4 + height - lowest]), wxyz)
    problem = resting(CUBE, pose, (table(0.4),))
    ground = ground_contacts(problem, CUBE, problem.track("body").pose, problem.times)
    world = pose.apply(ground.point)
    assert (world[:, 2] - 0.4 <= 1e-3 - 5e-5).all()
    assert (ground.first[-1] > 0) == (height <= 9e-4)


@settings(deadline=None, max_examples=40)
@given(
    beyond=st.floats(-0.09, 0.09).filter(lambda x: abs(x) > 4e-3),
    yaw=st.floats(-np.pi, np.pi),
)
def test_a_cube_over_the_edge_of_a_table_falls_if_its_middle_is_beyond(beyond, yaw):
    top = table(0.4, size=(1.0, 1.0), friction=0.6)
    wxyz = rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), yaw)
    pose = Pose(np.array([0.5 + beyond, 0.1, 0.45]), wxyz)
    found = surface_contacts(top, CUBE, pose)
    touching = found.gap <= 1e-9
    corners = pose.apply(CUBE.vertices)[:, 0]
    if corners.min() > 0.5 + 1e-6:
        assert found.distance == pytest.approx(corners.min() - 0.5, abs=1e-9)
        return
    assert touching.any()
    assert found.point[touching][:, 0].max() <= 0.5 + 1e-9
    np.testing.assert_allclose(found.normal[touching], [[0.0, 0.0, 1.0]] * touching.sum())
    contacts = force_contacts(
        found.point[touching], found.normal[touching], center=pose.position,
        friction=np.full(touching.sum(), 0.6),
    )  # fmt: skip
    weight = 9.81 * CUBE.mass
    wanted = np.array([0.0, 0.0, weight, 0.0, 0.0, 0.0])
    solved = least_forces(
        contacts, wanted, force_scale=weight, length_scale=CUBE.radius_of_gyration
    )
    missing = float(np.abs(solved.residual).max()) / weight
    assert (missing < 1e-4) == (beyond < 0.0)


def test_a_plate_over_a_block_touches_its_four_corners():
    found = surface_contacts(
        block(0.0, 0.1, width=0.06), PLATE, Pose(np.array([0.02, 0.01, 0.1052]), UPRIGHT)
    )
    np.testing.assert_allclose(found.gap, 2e-4, atol=1e-12)
    expected = {(x, y) for x in (-0.03, 0.03) for y in (-0.05, 0.05)}
    assert expected <= {(round(x, 9), round(y, 9)) for x, y, _ in found.point}
    assert found.distance == pytest.approx(2e-4)


@pytest.mark.parametrize("depth", [2e-4, 3e-3, 0.02])
def test_a_bar_that_is_sunk_in_a_block_is_as_deep_as_it_is(depth):
    level = Pose(np.array([0.03, 0.0, 0.1 + 0.008 - depth]), UPRIGHT)
    surface = block(0.0, 0.1, width=0.06)
    found = surface_contacts(surface, BAR, level)
    # No vertex of the bar is in the block.
    assert found.distance == pytest.approx(-depth)
    np.testing.assert_allclose(found.gap.min(), -depth)


def test_a_cube_beside_a_table_is_not_in_it():
    top = table(0.4, size=(1.0, 1.0), thickness=0.04)
    for gap in (0.0, 3e-4, -3e-4):
        pose = Pose(np.array([0.55 + gap, 0.0, 0.44]), UPRIGHT)
        found = surface_contacts(top, CUBE, pose)
        assert found.distance == pytest.approx(gap, abs=1e-9)
        near = found.gap < 1e-3
        np.testing.assert_allclose(found.normal[near], [[1.0, 0.0, 0.0]] * near.sum(), atol=1e-9)


def test_a_cube_far_above_a_floor_is_as_far_as_its_lowest_corner():
    pose = Pose.normalized(np.array([0.0, 0.0, 3.0]), np.array([0.9, 0.2, -0.3, 0.1]))
    found = surface_contacts(floor(), CUBE, pose)
    assert found.distance == pytest.approx(pose.apply(CUBE.vertices)[:, 2].min())
    assert len(found.gap) == 1


def test_frames_of_a_motion_are_those_of_its_poses():
    position = np.array([[0.0, 0.0, 0.45], [0.0, 0.0, 0.45], [0.46, 0.0, 0.45], [0.0, 0.0, 0.6]])
    poses = Pose(position, np.tile(UPRIGHT, (4, 1)))
    top = table(0.4, size=(1.0, 1.0))
    for t, found in enumerate(contacts_along(top, CUBE, poses)):
        alone = surface_contacts(top, CUBE, poses[t])
        np.testing.assert_array_equal(found.point, alone.point)
        assert found.distance == alone.distance


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**31), within=st.floats(0.0, 0.05))
def test_frames_that_are_left_out_are_farther_than_asked_for(seed, within):
    rng = np.random.default_rng(seed)
    poses = Pose.normalized(
        rng.uniform(-0.2, 0.2, (6, 3)) + np.array([0.0, 0.0, 0.2]), rng.normal(size=(6, 4))
    )
    for surface in (block(0.0, 0.1, width=0.06), floor(0.02)):
        every = contacts_along(surface, CUBE, poses)
        for found, alone in zip(
            contacts_along(surface, CUBE, poses, within=within), every, strict=True
        ):
            if len(found.gap) == 0:
                assert alone.distance > within
                assert found.distance <= alone.distance + 1e-9
            else:
                np.testing.assert_array_equal(found.gap, alone.gap)
