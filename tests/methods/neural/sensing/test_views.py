"""Views: what hands sense, frames that map one to one, and tracks that are refused."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sensed_motion import BEFORE_THE_PALM, SensedMotion, at_rate

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track, still
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.sensing import (
    FEATURES,
    clip_views,
    finger_features,
    fixed_features,
    hand_view,
    hand_views,
    pose_of,
    targets,
)

HANDS = {"right": human("right"), "left": human("left")}
BODIES = {"ball": make_shape("sphere"), "box": make_shape("box")}
MOTION = at_rate(60.0, 0.5)


def two_hands_and_bodies() -> Problem:
    """A ball in the right hand, and a box that stays in the left."""
    left = MOTION.wrist[:1] @ Pose(np.array([0.0, 0.6, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    held = left @ Pose(BEFORE_THE_PALM, np.array([1.0, 0.0, 0.0, 0.0]))
    return Problem(
        name="two",
        times=MOTION.times,
        hands=HANDS,
        bodies=BODIES,
        tracks={
            "right": Track(MOTION.times, MOTION.wrist),
            "left": still(left[0], MOTION.times),
            "ball": Track(MOTION.times, MOTION.object),
            "box": still(held[0], MOTION.times),
        },
    )


def test_each_hand_senses_the_body_that_it_is_nearest_to() -> None:
    problem = two_hands_and_bodies()
    views = hand_views(problem)
    assert set(views) == {"right", "left"}
    centers = {name: view.object_position for name, view in views.items()}
    np.testing.assert_array_equal(centers["right"], problem.tracks["ball"].pose.position)
    np.testing.assert_array_equal(centers["left"], problem.tracks["box"].pose.position)
    np.testing.assert_array_equal(
        views["left"].other_position, problem.tracks["right"].pose.position
    )
    assert (views["right"].sign, views["left"].sign) == (1.0, -1.0)
    told = hand_views(problem, {"left": "ball"})
    np.testing.assert_array_equal(told["left"].object_position, MOTION.object.position)
    with pytest.raises(UnknownNameError, match=r"bowl.*Known: ball, box"):
        hand_views(problem, {"left": "bowl"})


def test_views_of_a_clip_follow_its_motion_and_not_its_problem() -> None:
    problem = two_hands_and_bodies()
    aside = Pose(np.array([0.0, 0.0, 0.5]), np.array([1.0, 0.0, 0.0, 0.0]))
    moved = {name: aside @ track.pose for name, track in problem.tracks.items()}
    clip = Clip(
        problem=problem,
        times=MOTION.times,
        hands={
            name: HandMotion(moved[name], MOTION.postures(model)) for name, model in HANDS.items()
        },
        bodies={name: moved[name] for name in BODIES},
        contacts=ContactTrack.empty(),
        provenance=Provenance(scene="two", method="none"),
    )
    views = clip_views(clip)
    np.testing.assert_array_equal(views["right"].wrist_position, moved["right"].position)
    np.testing.assert_array_equal(views["left"].object_position, moved["box"].position)
    np.testing.assert_array_equal(views["left"].times, clip.times)
    told = clip_views(clip, {"right": "box"})
    np.testing.assert_array_equal(told["right"].object_position, moved["box"].position)


def test_hands_share_the_only_body_and_may_be_alone() -> None:
    problem = two_hands_and_bodies()
    tracks = dict(problem.tracks)
    del tracks["box"]
    views = hand_views(replace(problem, tracks=tracks))
    np.testing.assert_array_equal(views["left"].object_position, MOTION.object.position)
    del tracks["left"]
    views = hand_views(replace(problem, tracks=tracks))
    assert set(views) == {"right"}
    assert views["right"].other_position is None


def test_frames_at_sixty_a_second_map_one_to_one() -> None:
    # Rounded, as files have them.
    times = np.round(MOTION.times + 3.7, 4)
    view = hand_view(HANDS["right"], BODIES["ball"], times, MOTION.wrist, MOTION.object)
    np.testing.assert_array_equal(view.times, times)
    np.testing.assert_array_equal(view.wrist_position, MOTION.wrist.position)
    np.testing.assert_array_equal(view.object_rotation, rotation.to_matrix(MOTION.object.wxyz))


def test_other_rates_cover_the_whole_track() -> None:
    for fps in (24.0, 37.0, 59.0, 61.0, 120.0):
        motion = at_rate(fps, 0.5)
        view = hand_view(HANDS["right"], BODIES["ball"], motion.times, motion.wrist, motion.object)
        np.testing.assert_allclose(np.diff(view.times), 1.0 / 60.0)
        assert view.times[0] == motion.times[0]
        assert -1e-9 <= view.times[-1] - motion.times[-1] + 1e-4 < 1.0 / 60.0
        wanted = SensedMotion(np.minimum(view.times, motion.times[-1])).wrist.position
        np.testing.assert_allclose(view.wrist_position, wanted, atol=4e-4)


def test_two_frames_are_enough() -> None:
    motion = at_rate(24.0, 1.0 / 24.0)
    view = hand_view(HANDS["right"], BODIES["ball"], motion.times, motion.wrist, motion.object)
    assert len(view) == 4
    assert np.isfinite(fixed_features(view)).all()


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (np.array([0.0]), "at least two frames"),
        (np.zeros(0), "at least two frames"),
        (np.array([0.0, 0.5]), "at most 0.1 s apart"),
        (np.array([0.0, 0.02, 0.01]), "increasing times"),
        (np.array([0.0, np.nan, 0.02]), "increasing times"),
    ],
)
def test_tracks_that_say_too_little_are_refused(times: np.ndarray, message: str) -> None:
    poses = Pose.identity(len(times))
    with pytest.raises(InvalidValueError, match=message):
        hand_view(HANDS["right"], BODIES["ball"], times, poses, poses)


def test_tracks_of_other_lengths_or_with_nan_are_refused() -> None:
    poses = Pose.identity(3)
    times = np.arange(4) / 60.0
    with pytest.raises(InvalidValueError, match=r"the wrist has \(3,\) poses for \(4,\) times"):
        hand_view(HANDS["right"], BODIES["ball"], times, poses, Pose.identity(4))
    view = hand_view(HANDS["right"], BODIES["ball"], times, Pose.identity(4), Pose.identity(4))
    spoilt = np.array(view.wrist_position)
    spoilt[2, 1] = np.nan
    with pytest.raises(InvalidValueError, match="wrist_position"):
        replace(view, wrist_position=spoilt)


def test_problems_without_what_is_needed_are_refused() -> None:
    problem = two_hands_and_bodies()
    only_bodies = {name: problem.tracks[name] for name in BODIES}
    with pytest.raises(InvalidValueError, match="of a wrist and of a body"):
        hand_views(replace(problem, tracks=only_bodies))
    arms = {**HANDS, "right": human("right", arm=True)}
    with pytest.raises(InvalidValueError, match="has an arm"):
        hand_views(replace(problem, hands=arms))
    with pytest.raises(InvalidValueError, match="lacks the frames"):
        hand_views(replace(problem, hands={**HANDS, "right": trident()}))


def test_wrong_frames_and_postures_are_refused() -> None:
    view = hand_views(two_hands_and_bodies())["right"]
    q = MOTION.postures(view.model)
    for frames in ([-1], [len(view)], [[0]]):
        with pytest.raises(InvalidValueError, match="expected"):
            fixed_features(view, np.array(frames))
    with pytest.raises(InvalidValueError, match="one row for each frame"):
        finger_features(view, np.array([0, 1]), q[:1])
    with pytest.raises(InvalidValueError, match="NaN"):
        targets(view, np.array([0]), np.full((1, view.model.num_joints), np.nan))
    with pytest.raises(InvalidValueError, match="expected"):
        pose_of(view.model, q[:, :-1])
    assert finger_features(view, np.zeros(0, dtype=int), q[:0]).shape == (0, 1020)


def test_a_hand_with_an_arm_is_sensed_from_its_wrist() -> None:
    """What fingers feel depends on the wrist and on them, not on what lies behind the wrist."""
    bare, armed = human("right"), human("right", arm=True)
    q = MOTION.postures(bare)[:3]
    arm = np.random.default_rng(0).uniform(-0.3, 0.3, (3, armed.num_joints - bare.num_joints))
    given = (BODIES["box"], MOTION.times, MOTION.wrist, MOTION.object)
    frames = np.arange(3)
    plain = finger_features(hand_view(bare, *given), frames, q)
    behind = finger_features(hand_view(armed, *given), frames, np.hstack([arm, q]))
    np.testing.assert_allclose(behind, plain, atol=1e-5)
    np.testing.assert_allclose(
        fixed_features(hand_view(armed, *given)), fixed_features(hand_view(bare, *given)), atol=1e-6
    )


def test_views_go_to_other_processes() -> None:
    view = hand_views(two_hands_and_bodies())["left"]
    back = pickle.loads(pickle.dumps(view))
    q = MOTION.postures(view.model)[:4]
    np.testing.assert_array_equal(fixed_features(back), fixed_features(view))
    np.testing.assert_array_equal(
        finger_features(back, np.arange(4), q), finger_features(view, np.arange(4), q)
    )
    far = FEATURES[4].slice.start - 198
    assert (fixed_features(view)[:, far : far + 21] < 1.0).any()
