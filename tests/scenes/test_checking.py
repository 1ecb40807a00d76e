"""Hands can do their work in the scenes; and the checker sees when they cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion
from handwright.core.track import Track
from handwright.geometry.distance.exact import ExactDistance
from handwright.hands.skin.build import skin_of
from handwright.kinematics import posed_skin
from handwright.math.pose import Pose
from handwright.scenes import load_scene
from tools.scenes.checking import SceneReport, check_clip, check_scene
from tools.scenes.files import load_holds
from tools.scenes.registry import SCENES
from tools.scenes.sketch import CLOSING, sketch
from tools.scenes.stage import SHOULDERS

# Not a divisor of the phases, so that no part of a motion is passed over in every scene.
STEP = 13


@pytest.mark.parametrize("name", list(SCENES))
def test_hands_can_do_their_work(name):
    report = check_scene(name, step=STEP)
    frames = np.arange(0, len(load_scene(name).times), STEP)
    assert report.palm_depth.max() < 1e-4
    assert report.body_depth.max() < 1e-9
    assert report.hand_depth.max() < 1e-3
    held = report.is_held
    # The stand-in fingers go straight to their places, so the few frames of closing and opening
    # are not looked at: what matters is where the wrist lets them go.
    moving = np.zeros(len(frames), dtype=bool)
    for span in SCENES[name].spans:
        moving |= (frames >= span.first - CLOSING) & (frames < span.first)
        moving |= (frames > span.last) & (frames <= span.last + CLOSING)
    assert report.skin_depth[held & ~moving].max() < 1e-3
    assert report.skin_depth[~held & ~moving].max() < 1e-4
    assert report.table_depth[~moving].max() < 1e-4
    assert report.num_touching[held].min() >= 3
    assert report.is_feasible.all()
    assert np.degrees(report.wrist_bend.max()) < 75.0
    assert "forces in 100 % of held frames" in str(report)


@pytest.mark.parametrize("name", list(SCENES))
def test_an_open_hand_fits_where_the_wrist_grasps(name):
    problem = load_scene(name)
    for span in SCENES[name].spans:
        model = problem.hands[span.hand]
        exact = ExactDistance.from_body(problem.bodies[span.body])
        for frame in (span.first, span.last):
            root = problem.track(span.hand).pose[frame]
            skin = posed_skin(model, skin_of(model), model.pose("open"), root)
            local = problem.track(span.body).pose[frame].inverse().apply(skin)
            assert exact.signed_distance(local)[0].min() > 0.0


def moved(clip: Clip, shift: tuple[float, float, float]) -> Clip:
    hands = {
        name: HandMotion(Pose(motion.root.position + np.array(shift), motion.root.wxyz), motion.q)
        for name, motion in clip.hands.items()
    }
    return replace(clip, hands=hands)


@pytest.fixture(scope="module")
def turn() -> Clip:
    return sketch(load_scene("milk_box_turn"), SCENES["milk_box_turn"].spans, load_holds())


def checked(clip: Clip) -> SceneReport:
    return check_clip(clip, SCENES["milk_box_turn"].spans, SHOULDERS, step=12)


def test_a_palm_in_the_box_is_seen(turn):
    report = checked(moved(turn, (-0.04, 0.0, 0.0)))
    assert report.palm_depth.max() > 5e-3
    assert report.palm_depth.max() <= report.skin_depth.max()


def test_a_hand_in_the_table_is_seen(turn):
    assert checked(moved(turn, (0.0, 0.0, -0.08))).table_depth.max() > 0.01


def test_a_hand_far_from_the_box_holds_nothing(turn):
    report = checked(moved(turn, (0.12, 0.0, 0.0)))
    assert report.num_touching.max() == 0
    in_air = report.is_held & ~report.is_feasible
    assert in_air.sum() >= 3


def test_a_hand_from_beyond_the_table_is_seen(turn):
    assert not np.isfinite(checked(moved(turn, (0.0, 0.5, 0.0))).wrist_bend.max())


def test_a_sunken_box_is_seen(turn):
    sunk = {
        name: Pose(pose.position - [0.0, 0.0, 0.01], pose.wxyz)
        for name, pose in turn.bodies.items()
    }
    assert checked(replace(turn, bodies=sunk)).body_depth.max() == pytest.approx(0.01, abs=1e-9)


def test_a_box_that_is_thrown_needs_more_than_fingers_give(turn):
    problem = turn.problem
    track = problem.track("milk_box")
    position = track.pose.position.copy()
    # Up and down by 12 cm three times a second: more than gravity, both ways.
    position[:, 2] += 0.06 * (1.0 - np.cos(6.0 * np.pi * track.times))
    tracks = {**problem.tracks, "milk_box": Track(track.times, Pose(position, track.pose.wxyz))}
    thrown = replace(turn, problem=replace(problem, tracks=tracks))
    report = check_clip(thrown, SCENES["milk_box_turn"].spans, SHOULDERS, step=4)
    assert not report.is_feasible.all()
