"""Contact sampling: certified motions, control, and clear answers to the impossible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from corpus import solved

from handwright.core.problem import Problem
from handwright.core.result import Status
from handwright.core.track import Track, still
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence import Tolerances, certify
from handwright.geometry.distance.environment import table
from handwright.geometry.distance.sdf import sample_field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.regions.hollows import filled_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.hands.skin.build import skin_of
from handwright.kinematics import link_poses
from handwright.kinematics.skin.skinning import posed_skin
from handwright.kinematics.tree import Links
from handwright.math.pose import Pose
from handwright.methods import ContactSampling
from handwright.methods.sampling import FixedJoint, NoContact, Preference
from handwright.methods.sampling.search.posing import place_hands
from handwright.methods.sampling.search.workspace import make_workspace
from handwright.methods.sampling.setup.candidates import key_frames, surface_points
from handwright.methods.sampling.setup.hands_as_one import hands_as_one, sunk_pads
from handwright.methods.sampling.setup.hold_data import make_hold_data
from handwright.methods.sampling.setup.intervals import (
    CarryInterval,
    find_carry_intervals,
    ground_contacts,
)
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

FEW = ContactSampling(num_solutions=3, time_budget=600.0)


@pytest.fixture(scope="module")
def turned_box():
    return load_scene("milk_box_turn"), solved("milk_box_turn", FEW)


def test_everything_that_is_returned_is_certified(turned_box):
    _, result = turned_box
    assert result.status is Status.SOLVED
    assert len(result.clips) == 3
    for clip in result.clips:
        certificate = certify(clip)
        assert certificate.passed, str(certificate)
        assert certificate.check("penetration").worst <= 1e-3


def test_tracks_are_kept_and_forces_are_given(turned_box):
    problem, result = turned_box
    for clip in result.clips:
        for name in problem.bodies:
            np.testing.assert_array_equal(
                clip.bodies[name].position, problem.track(name).pose.position
            )
        contacts = clip.contacts
        assert np.isfinite(contacts.force).all()
        carried = [frame for frame in range(30, 45) if frame in contacts.frame]
        assert carried == list(range(30, 45))


def test_the_motions_differ(turned_box):
    _, result = turned_box
    joints = [clip.hands["right"].q for clip in result.clips]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(joints[one] - joints[other]).max() > 0.05


def test_workers_do_not_change_the_result(turned_box):
    problem, alone = turned_box
    together = synthesize(problem, replace(FEW, num_workers=2), seed=0)
    assert [clip.hands["right"].q.tobytes() for clip in together.clips] == [
        clip.hands["right"].q.tobytes() for clip in alone.clips
    ]
    assert together.statistics == alone.statistics


def test_statistics_have_the_columns_of_the_papers_table(turned_box):
    _, result = turned_box
    numbers = result.statistics
    assert numbers["solutions"] >= 3
    assert numbers["total_frames"] >= numbers["success_frames"] > 0
    assert 0.0 < numbers["solution_ratio"] <= 1.0


def test_a_finger_that_must_keep_off_keeps_off(turned_box):
    problem, _ = turned_box
    method = replace(FEW, num_solutions=1, no_contact=(NoContact(("little",)),))
    clip = synthesize(problem, method, seed=2).best
    names = problem.hands["right"].capsules.names
    pressed = {
        names[clip.contacts.part[row]]
        for row in range(len(clip.contacts))
        if clip.contacts.touchers[clip.contacts.toucher[row]] == "right"
        and np.linalg.norm(clip.contacts.force[row]) > 0.05
    }
    assert pressed
    assert not any(name.startswith("little") for name in pressed)


def test_a_fixed_joint_keeps_its_angle(turned_box):
    problem, _ = turned_box
    method = replace(
        FEW, num_solutions=1, fixed_joints=(FixedJoint("right", "little_pip_flexion", 0.6),)
    )
    clip = synthesize(problem, method, seed=1).best
    joint = problem.hands["right"].joints.index("little_pip_flexion")
    np.testing.assert_allclose(clip.hands["right"].q[:, joint], 0.6, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"num_solutions": 0}, InvalidValueError),
        ({"time_budget": float("nan")}, InvalidValueError),
        ({"strategy": "lucky"}, InvalidValueError),
        ({"friction_margin": 1.5}, InvalidValueError),
    ],
)
def test_settings_out_of_range_are_refused(change, error):
    with pytest.raises(error, match=next(iter(change))):
        replace(FEW, **change)


def test_unknown_names_are_refused(turned_box):
    problem, _ = turned_box
    with pytest.raises(UnknownNameError, match="pinky"):
        synthesize(problem, replace(FEW, preferences=(Preference("static", ("pinky",)),)))
    with pytest.raises(UnknownNameError, match="leftt"):
        synthesize(problem, replace(FEW, fixed_joints=(FixedJoint("leftt", "x", 0.0),)))
    wild = FixedJoint("right", "little_pip_flexion", 3.0)
    with pytest.raises(InvalidValueError, match="limits"):
        synthesize(problem, replace(FEW, fixed_joints=(wild,)))


def moved(problem, name, offset):
    track = problem.track(name)
    far = Track(track.times, Pose(track.pose.position + offset, track.pose.wxyz))
    return replace(problem, tracks={**problem.tracks, name: far})


def test_a_body_out_of_reach_is_said_to_be(turned_box):
    problem, _ = turned_box
    result = synthesize(moved(problem, "right", np.array([0.0, -0.12, 0.12])), FEW)
    assert result.status is Status.INFEASIBLE
    assert "reach" in result.message
    far = synthesize(moved(problem, "right", np.array([0.0, 0.0, 2.0])), FEW)
    assert far.status is Status.INFEASIBLE
    assert "wrist" in far.message


def test_a_body_without_friction_is_said_to_be_so(turned_box):
    problem, _ = turned_box
    slick = replace(problem.bodies["milk_box"], friction=0.0)
    result = synthesize(replace(problem, bodies={"milk_box": slick}), FEW)
    assert result.status is Status.INFEASIBLE
    assert "friction" in result.message


def test_a_body_that_is_too_heavy_for_its_track_ends_within_the_budget(turned_box):
    problem, _ = turned_box
    slippery = replace(problem.bodies["milk_box"], friction=0.02)
    method = replace(FEW, time_budget=5.0)
    result = synthesize(replace(problem, bodies={"milk_box": slippery}), method)
    assert not result.status.is_success
    assert "frame" in result.message


def test_hands_side_by_side_stand_where_they_stand_alone():
    right, left, rng = human(), human("left"), np.random.default_rng(4)
    times = np.arange(4) / 30.0
    body = make_shape("box")
    still_body = still(Pose(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0])), times).pose
    roots = [Pose.normalized(rng.normal(size=(4, 3)), rng.normal(size=(4, 4))) for _ in range(2)]
    poses = {"r": roots[0], "l": roots[1], "box": still_body}
    tracks = {name: Track(times, pose) for name, pose in poses.items()}
    models = {"r": right, "l": left}
    problem = Problem("two", times, models, {"box": body}, tracks=tracks)
    interval = CarryInterval("box", models, 0, 4)
    data = make_hold_data(problem, interval, times, ContactSampling())
    hands = data.hands
    q = np.zeros(len(hands.rest))
    poses = [model.joints.random(rng) for model in (right, left)]
    for h, pose in enumerate(poses):
        q[hands.offset[h] : hands.offset[h] + 30] = pose
    links: Links = make_workspace(data).now
    place_hands(data, 2, q, links)
    for h, model in enumerate((right, left)):
        local = still_body[2].inverse() @ roots[h][2]
        turns, places = link_poses(model, poses[h], local)
        own = slice(int(hands.offset[h]), int(hands.offset[h]) + model.num_links)
        np.testing.assert_allclose(links.position[own], places, atol=1e-12)
        np.testing.assert_allclose(links.rotation[own], turns, atol=1e-12)


def test_a_sliding_body_is_dragged_against_its_motion():
    times = np.arange(5) / 30.0
    body = make_shape("box")
    position = np.stack([0.3 * times, 0.0 * times, 0.0 * times + 0.4 + 0.03], axis=1)
    pose = Pose(position, np.tile([1.0, 0.0, 0.0, 0.0], (5, 1)))
    problem = Problem("slide", times, {"hand": trident()}, {"box": body}, environment=(table(0.4),))
    ground = ground_contacts(problem, body, pose, times)
    assert np.diff(ground.first).tolist() == [4] * 5
    np.testing.assert_allclose(ground.drag, np.tile([-1.0, 0.0, 0.0], (20, 1)), atol=1e-9)
    np.testing.assert_allclose(ground.normal, np.tile([0.0, 0.0, 1.0], (20, 1)), atol=1e-9)


def test_a_holding_is_where_the_table_does_not_carry():
    problem = load_scene("milk_box_turn")
    (interval,) = find_carry_intervals(problem, cutoff_hz=None)
    height = problem.track("milk_box").pose.position[:, 2]
    lifted = np.flatnonzero(height > height[0] + 1e-3)
    assert interval.start <= lifted[0]
    assert interval.stop > lifted[-1]
    assert height[: interval.start - 1].max() <= height[0] + 1e-4


def test_surface_points_lie_on_the_surface_away_from_edges():
    body = make_shape("box")
    point, normal = surface_points(body, 80, np.random.default_rng(0), edge_clearance=0.005)
    half = 0.03
    on = np.isclose(np.abs(point), half, atol=1e-9)
    assert np.all(on.sum(axis=1) == 1)
    np.testing.assert_allclose(normal[on], np.sign(point[on]))
    inner = np.where(on, 0.0, np.abs(point))
    assert inner.max() <= half - 0.005 + 1e-9


def turning(angles):
    """(T, 1, 3, 3) turns about z."""
    c, s, o, i = np.cos(angles), np.sin(angles), np.zeros(len(angles)), np.ones(len(angles))
    return np.array([[c, -s, o], [s, c, o], [o, o, i]]).transpose(2, 0, 1)[:, None]


def test_key_frames_hold_both_ends_and_fast_turns_have_more():
    assert key_frames(turning(np.zeros(14)), 6, 0.35).tolist() == [0, 6, 12, 13]
    assert key_frames(turning(np.zeros(1)), 6, 0.35).tolist() == [0]
    fast = np.cumsum(np.repeat([0.0, 0.2, 0.0], (7, 6, 6)))
    keys = key_frames(turning(fast), 6, 0.35)
    assert (keys[0], keys[-1]) == (0, 18)
    assert np.diff(keys).max() <= 6
    assert np.all(np.diff(fast[keys]) <= 0.35)


def test_pads_sink_in_towards_the_bone():
    hands = hands_as_one([human()], 0.006)
    sunk = sunk_pads(hands, 1e-3)
    np.testing.assert_allclose(np.linalg.norm(sunk - hands.pads, axis=-1), 1e-3)
    tips = hands.table.capsule[:, 0]
    start, end = hands.table.capsule_start[tips], hands.table.capsule_end[tips]
    along = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
    arm = sunk[:, 0] - start
    share = np.clip(np.einsum("di,di->d", arm, along), 0.0, np.linalg.norm(end - start, axis=1))
    apart = np.linalg.norm(arm - share[:, None] * along, axis=1)
    arm = hands.pads[:, 0] - start
    share = np.clip(np.einsum("di,di->d", arm, along), 0.0, np.linalg.norm(end - start, axis=1))
    assert np.all(apart < np.linalg.norm(arm - share[:, None] * along, axis=1))


def test_soft_pads_sink_in_and_the_certificate_says_so():
    result = synthesize(
        load_scene("milk_box_turn"), replace(FEW, num_solutions=1, soft_tissue=4e-3), seed=0
    )
    assert result.status is Status.SOLVED
    assert not certify(result.clips[0]).passed
    soft = certify(result.clips[0], tolerances=Tolerances(soft_tissue=4e-3))
    assert soft.passed, str(soft)
    assert "soft_tissue" in soft.verdict
    assert 1e-3 < soft.check("penetration").worst < 3e-3


def test_a_filled_mug_is_held_from_outside_and_no_wall_is_pierced():
    problem = load_scene("mug")
    method = replace(FEW, num_solutions=2, soft_tissue=4e-3, treat_as_solid=True)
    result = synthesize(problem, method, seed=0)
    assert result.status is Status.SOLVED
    body = problem.bodies["mug"]
    filled = filled_field(body, signed_distance_field(body))
    model = problem.hands["right"]
    for clip in result.clips:
        assert certify(clip, tolerances=Tolerances(soft_tissue=4e-3)).passed
        motion = clip.hands["right"]
        for t in range(0, len(clip.times), 3):
            skin = posed_skin(model, skin_of(model), motion.q[t], motion.root[t])
            local = clip.bodies["mug"][t].inverse().apply(skin)
            assert sample_field(filled, np.ascontiguousarray(local))[0].min() > -5e-3
