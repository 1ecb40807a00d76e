"""Motions beside their given tracks: the verdict says by how much, whoever moved them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.verify import carried_ball
from handwright.core.clip import HandMotion
from handwright.core.track import Track
from handwright.evidence import certify
from handwright.evidence.certificate.given.moved_tracks import moved_tracks
from handwright.math import rotation
from handwright.math.pose import Pose


@pytest.fixture(scope="module")
def ball():
    clip = carried_ball(12)
    tracks = {name: Track(clip.times, motion.root) for name, motion in clip.hands.items()}
    tracks |= {name: Track(clip.times, pose) for name, pose in clip.bodies.items()}
    return replace(clip, problem=replace(clip.problem, tracks=tracks))


def with_track(clip, name, change):
    track = clip.problem.track(name)
    tracks = {**clip.problem.tracks, name: Track(track.times, change(track.pose))}
    return replace(clip, problem=replace(clip.problem, tracks=tracks))


def test_a_motion_on_its_tracks_needs_no_words(ball):
    assert moved_tracks(ball) == []
    assert moved_tracks(replace(ball, problem=replace(ball.problem, tracks={}))) == []


def test_a_moved_wrist_is_named_in_the_verdict(ball):
    turn = rotation.exp(np.array([0.0, 0.0, np.radians(2.1)]))
    moved = with_track(ball, "hand", lambda pose: pose @ Pose(np.array([0.0034, 0.0, 0.0]), turn))
    words = "wrist 'hand' moved by at most 3.4 mm and 2.1 degrees from its track"
    assert moved_tracks(moved) == [words]
    found = certify(moved)
    assert found.passed
    assert words in found.verdict
    assert certify(ball).passed
    assert words not in certify(ball).verdict


def test_of_a_body_the_centre_of_mass_counts(ball):
    (name,) = ball.bodies
    center = ball.problem.bodies[name].center
    turn = rotation.exp(np.array([0.05, 0.0, 0.0]))
    about = Pose(center - rotation.rotate(turn, center), turn)
    (words,) = moved_tracks(with_track(ball, name, lambda pose: pose @ about))
    assert words.startswith(f"body '{name}' moved by at most ")
    assert words.endswith("and 2.9 degrees from its track")
    assert "at most 0.0 mm" in words


@settings(max_examples=2)
@given(st.integers(0, 1000))
def test_moving_and_turning_the_world_changes_no_word(ball, seed):
    rng = np.random.default_rng(seed)
    moved = with_track(ball, "hand", lambda pose: Pose(pose.position + 0.004, pose.wxyz))
    world = Pose(rng.normal(size=3), rotation.random(rng))
    tracks = {name: track.moved(world) for name, track in moved.problem.tracks.items()}
    there = replace(
        moved,
        problem=replace(moved.problem, tracks=tracks),
        hands={name: HandMotion(world @ one.root, one.q) for name, one in moved.hands.items()},
        bodies={name: world @ pose for name, pose in moved.bodies.items()},
    )
    assert moved_tracks(there) == moved_tracks(moved)


def test_frames_beside_a_track_are_not_held_against_it(ball):
    later = replace(ball, times=ball.times + 1.0)
    assert moved_tracks(later) == []
