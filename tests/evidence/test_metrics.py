"""Published metrics, smoothness, diversity and the report."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls
from scripted_clips import GRASP_ROOT, UPRIGHT, grasp, lift_clip, make_clip, throw_clip, with_hand

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence import (
    PublishedConventions,
    diversity,
    evaluate,
    physical_realism,
    smoothness,
    sweep_contact_distance,
)
from handwright.evidence.metrics.diversity import strategies
from handwright.evidence.metrics.realism import _generators, capsule_contacts, thinned
from handwright.evidence.metrics.smoothness import smoothness_of
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math import rotation
from handwright.math.pose import Pose


@pytest.fixture(scope="module")
def lift():
    return lift_clip(frames=61)


def test_a_lift_is_explained_and_a_floating_ball_is_not(lift):
    assert physical_realism(lift, "ball").percent == 100.0
    away = with_hand(lift, root=Pose(lift.hands["hand"].root.position + 0.5, UPRIGHT))
    found = physical_realism(away, "ball")
    assert found.percent == 0.0
    assert found.counted == lift.num_frames
    # Nothing pushes: the residual is the weight of one kilogram, and what moves it.
    assert found.residual[0] == pytest.approx(9.81, abs=0.02)


def test_the_mass_of_the_body_does_not_matter(lift):
    heavy = {"ball": lift.problem.bodies["ball"].with_mass(7.0)}
    other = replace(lift, problem=replace(lift.problem, bodies=heavy))
    here, there = physical_realism(lift, "ball"), physical_realism(other, "ball")
    np.testing.assert_allclose(here.residual, there.residual, atol=1e-9)


def test_penetration_is_the_mean_over_penetrating_pairs_in_centimetres(lift):
    large = {"ball": make_shape("sphere", radius=0.038)}
    deep = replace(lift, problem=replace(lift.problem, bodies=large))
    gap = capsule_contacts(deep, "ball", reach=0.005).gap
    found = physical_realism(deep, "ball")
    # Relative to the ball of 35 mm every capsule of the grasp is within a millimetre, or off.
    assert 0.1 < found.penetration < 0.4
    assert found.penetration == pytest.approx(-100.0 * gap[gap < 0].mean())
    assert found.deepest == pytest.approx(-100.0 * gap.min())


def test_frames_too_deep_or_on_the_table_are_left_out(lift):
    huge = {"ball": make_shape("sphere", radius=0.052)}
    deep = replace(lift, problem=replace(lift.problem, bodies=huge))
    found = physical_realism(deep, "ball")
    assert found.counted == 0
    assert np.isnan(found.percent)
    lying = replace(lift, problem=replace(lift.problem, environment=(floor(-0.035),)))
    raised = lift.bodies["ball"].position[:, 2] > 0.005
    assert abs(physical_realism(lying, "ball").counted - raised.sum()) <= 1
    every = PublishedConventions(only_airborne=False)
    assert physical_realism(lying, "ball", every).counted == lift.num_frames


def test_fast_sliding_leaves_one_force_direction():
    """A ball that spins fast in the grip cannot be held by sliding friction alone."""
    clip = lift_clip(frames=61)
    pose = clip.bodies["ball"]
    spin = rotation.exp(clip.times[:, None] * np.array([8.0, 0.0, 0.0]))
    spun = replace(clip, bodies={"ball": Pose(pose.position, rotation.multiply(pose.wxyz, spin))})
    assert physical_realism(spun, "ball").percent < 50.0
    loose = PublishedConventions(sliding_speed=10.0)
    assert physical_realism(spun, "ball", loose).percent == 100.0


def test_the_contact_distance_decides(lift):
    small = {"ball": make_shape("sphere", radius=0.033)}
    loose = replace(lift, problem=replace(lift.problem, bodies=small))
    swept = sweep_contact_distance(loose, "ball")
    assert swept[0.0] == 0.0
    assert swept[0.003] == 100.0
    assert list(swept.values()) == sorted(swept.values())


def test_faster_clips_are_thinned_out():
    clip = lift_clip(frames=121)
    thin = thinned(clip, 60.0)
    assert thin.num_frames == 61
    np.testing.assert_array_equal(thin.times, clip.times[::2])
    assert thinned(thin, 60.0) is thin


def test_smoothness_of_known_motion():
    times = np.arange(40) / 60.0
    line = np.zeros((40, 2, 3))
    line[:, 0, 0] = 0.5 * 3.0 * times**2
    line[:, 1, 1] = times**3
    found = smoothness_of(line, times)
    # Accelerations 3 and 6 t m/s^2, jerks 0 and 6 m/s^3.
    assert found.acceleration == pytest.approx(100 * 0.5 * (3.0 + 6.0 * times[1:-1].mean()))
    assert found.jerk == pytest.approx(100 * 0.5 * 6.0)


def test_smoothness_is_in_the_wrists_frame(lift):
    assert smoothness(lift).acceleration == pytest.approx(0.0, abs=1e-6)
    q = lift.hands["hand"].q.copy()
    q[:, 8] += 0.2 * np.sin(2 * np.pi * lift.times)
    waving = with_hand(lift, q=q)
    assert smoothness(waving).acceleration > 1.0
    world = Pose(lift.hands["hand"].root.position * 3.0, lift.hands["hand"].root.wxyz)
    shaken = with_hand(waving, root=world)
    assert smoothness(shaken).acceleration == pytest.approx(smoothness(waving).acceleration)


def test_turned_and_resampled_clips_keep_their_metrics(lift):
    world = Pose(np.array([0.4, -0.2, 0.1]), rotation.exp(np.array([0.0, 0.0, 1.1])))
    turned = with_hand(lift, root=world @ lift.hands["hand"].root)
    turned = replace(turned, bodies={"ball": world @ lift.bodies["ball"]})
    here = evaluate(lift)
    for other, band in ((turned, 1e-3), (lift_clip(frames=121), 0.02)):
        there = evaluate(other)
        for metric in here.metrics:
            if metric.name in ("frames", "rate", "ball.counted_frames"):
                continue
            assert there[metric.name] == pytest.approx(
                metric.value, rel=band, abs=1e-4, nan_ok=True
            )


def test_equal_clips_are_one_cluster_and_other_grasps_are_others(lift):
    same = diversity([lift, lift], "ball")
    assert same.clusters == 1
    assert same.pose_distance == 0.0
    assert same.contact_distance == 0.0
    q = lift.hands["hand"].q.copy()
    q[:, [8, 14, 20]] -= 0.4
    other = with_hand(lift, q=q)
    both = diversity([lift, lift, other], "ball", cluster_distance=0.005)
    assert both.clusters == 2
    assert both.pose_distance > 0.002
    assert both.contact_distance > 0.001
    with pytest.raises(InvalidValueError, match="no clips"):
        diversity([], "ball")
    with pytest.raises(InvalidValueError, match="one length"):
        diversity([lift, throw_clip()], "ball")


def test_strategies_are_told_apart(lift):
    assert strategies(lift, "ball") == {"static"}
    pose = lift.bodies["ball"]
    spin = rotation.exp(lift.times[:, None] * np.array([1.0, 0.0, 0.0]))
    spun = replace(lift, bodies={"ball": Pose(pose.position, rotation.multiply(pose.wxyz, spin))})
    assert "slide" in strategies(spun, "ball")
    # The ball turns by a right angle while the hand is away, and is grasped again.
    times = np.linspace(0.0, 1.0, 31)
    turn = np.pi / 2 * np.clip((times - 0.4) / 0.2, 0.0, 1.0)
    body = Pose(np.zeros((31, 3)), rotation.exp(turn[:, None] * np.array([0.0, 0.0, 1.0])))
    off = np.where((times > 0.35) & (times < 0.65), 0.3, 0.0)
    root = Pose(GRASP_ROOT.position + off[:, None] * np.array([0, 0, 1.0]), UPRIGHT)
    again = make_clip(times, root, np.tile(grasp().q, (31, 1)), body)
    assert strategies(again, "ball") == {"static", "relocate"}


def test_a_finger_that_rolls_over_a_ball_is_seen():
    """Ball and straight finger as a rack and pinion: no slip, and the point of contact wanders."""
    model = human()
    times = np.linspace(0.0, 1.0, 61)
    radius, angle = 0.035, 0.25 * times
    clip = lift_clip(frames=61)
    q = np.tile(model.pose("neutral"), (61, 1))
    # Where the flat hand's lowest capsule touches a ball below it.
    root = Pose(np.zeros((61, 3)), UPRIGHT)
    probe = make_clip(times, root, q, clip.bodies["ball"])
    from handwright.kinematics import posed_capsules

    capsules = posed_capsules(model, q[0])
    c = model.capsules.names.index("middle_intermediate")
    middle = 0.5 * (capsules.start[c] + capsules.end[c])
    under = middle - [0.0, 0.0, capsules.radius[c] + radius]
    along = np.array([1.0, 0.0, 0.0])
    position = under + (radius * (angle - 0.125))[:, None] * along
    turn = rotation.exp(-angle[:, None] * np.array([0.0, 1.0, 0.0]))
    rolling = replace(probe, bodies={"ball": Pose(position, turn)})
    assert "roll" in strategies(rolling, "ball")
    assert "slide" not in strategies(rolling, "ball")


def test_the_report_prints_its_conventions(lift):
    report = evaluate(lift)
    assert report["ball.physical_realism"] == 100.0
    assert report["ball.skin_depth_max"] == pytest.approx(0.53, abs=0.1)
    assert report["joint_acceleration"] < 1e-3
    text, whole = str(report), json.loads(report.to_json())
    assert "contact at 3 mm" in text
    assert whole["conventions"]["contact_distance"] == 0.003
    assert {m["unit"] for m in whole["metrics"].values()} & {"cm", "cm/s"} == set()
    assert report["smoothness_rate"] == pytest.approx(60.0)
    assert "smoothness (" not in text
    slow = str(evaluate(lift_clip(frames=31)))
    assert "smoothness (joint_acceleration, joint_jerk) is at 30 Hz" in slow
    with pytest.raises(KeyError, match="no metric"):
        report["beauty"]
    empty = json.loads(evaluate(throw_clip()).to_json())
    assert empty["metrics"]["ball.contact_gap_mean"]["value"] is None


def test_the_edges_lie_on_the_cone_or_on_the_square_around_it():
    rng = np.random.default_rng(0)
    normal = rotation.rotate(rotation.random(rng, 3), np.array([0.0, 0.0, 1.0]))
    arm, still, down = rng.normal(size=(3, 3)), np.zeros((3, 3)), np.array([0.0, 0.0, -9.81])
    inner, outer = (
        _generators(normal, still, arm, down, PublishedConventions(friction=0.5, cone=cone))
        for cone in ("inscribed", "circumscribed")
    )
    assert inner.shape == outer.shape == (6, 12)
    for edges, slope in ((inner, 0.5), (outer, 0.5 * np.sqrt(2.0))):
        across = edges[:3] - np.tile(normal, (4, 1)).T
        np.testing.assert_allclose(np.linalg.norm(across, axis=0), slope)
    # What edges on the cone can do, edges around it can.
    assert all(nnls(outer, edge)[1] < 1e-9 for edge in inner.T)
    assert any(nnls(inner, edge)[1] > 1e-3 for edge in outer.T)
    with pytest.raises(UnknownNameError, match="inscribed"):
        PublishedConventions(cone="round")


def test_a_speed_may_be_infinite_but_nothing_else_and_json_says_null(lift):
    never = PublishedConventions(sliding_speed=float("inf"))
    document = json.loads(evaluate(lift, conventions=never).to_json())
    assert document["conventions"]["sliding_speed"] is None
    assert document["conventions"]["cone"] == "inscribed"
    for name in ("fps", "mass", "contact_distance", "sliding_speed"):
        for value in (float("nan"), -1.0):
            with pytest.raises(InvalidValueError, match=f"{name} {value}"):
                PublishedConventions(**{name: value})
    with pytest.raises(InvalidValueError, match="contact_distance inf"):
        PublishedConventions(contact_distance=float("inf"))
