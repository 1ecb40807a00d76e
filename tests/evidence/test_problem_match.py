"""A clip is held against the problem that was asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.track import Track
from handwright.evidence.problem_match import problem_differences
from handwright.io.clip.file import load_clip, save_clip
from handwright.math.pose import Pose
from handwright.scenes import load_scene

SCENE = "milk_box_turn"


@pytest.fixture(scope="module")
def problem():
    return load_scene(SCENE)


def clip_on_tracks(problem) -> Clip:
    """Bodies and wrists on the tracks of the problem; the fingers hold nothing."""
    times = problem.times
    poses = {name: track.at(times) for name, track in problem.tracks.items()}
    hands = {
        name: HandMotion(poses[name], np.tile(problem.posture(name), (len(times), 1)))
        for name in problem.hands
    }
    bodies = {name: poses[name] for name in problem.bodies}
    stored = ContactTrack.empty()
    return Clip(problem, times, hands, bodies, stored, Provenance(SCENE, "scripted"))


def test_a_clip_of_the_scene_is_one_from_a_file_too(problem, tmp_path):
    clip = clip_on_tracks(problem)
    save_clip(clip, tmp_path / "clip.npz")
    assert problem_differences(clip, problem) == []
    assert problem_differences(load_clip(tmp_path / "clip.npz"), load_scene(SCENE)) == []


def with_body(problem, **given):
    body = replace(problem.bodies["milk_box"], **given)
    return replace(problem, bodies={"milk_box": body})


def other_track(problem):
    track = problem.tracks["milk_box"]
    moved = Pose(track.pose.position + np.array([0.0, 0.0, 0.01]), track.pose.wxyz)
    return replace(problem, tracks={**problem.tracks, "milk_box": Track(track.times, moved)})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda p: with_body(p, mass=0.01), "bodies/milk_box/mass is 0.01, expected "),
        (lambda p: with_body(p, friction=1.4), "bodies/milk_box/friction is 1.4, expected "),
        (
            lambda p: with_body(p, vertices=1.01 * p.bodies["milk_box"].vertices),
            "bodies/milk_box/vertices differs by up to ",
        ),
        (lambda p: replace(p, environment=()), "environment: there are 0, expected 1"),
        (
            lambda p: replace(p, gravity=np.array([0.0, 0.0, -1.6])),
            "gravity is 0, 0, -1.6, expected",
        ),
        (other_track, "tracks/milk_box/pose/position differs by up to 0.01"),
        (lambda p: replace(p, is_cyclic=True), "is_cyclic is True, expected False"),
    ],
)
def test_what_differs_is_named(problem, change, said):
    clip = clip_on_tracks(change(problem))
    found = problem_differences(clip, problem)
    assert any(text.startswith(said) for text in found), found


def test_a_motion_that_leaves_its_track_is_named(problem):
    clip = clip_on_tracks(problem)
    pose = clip.bodies["milk_box"]
    away = pose.position.copy()
    away[30:] += [0.0, 0.005, 0.0]
    clip = replace(clip, bodies={"milk_box": Pose(away, pose.wxyz)})
    found = problem_differences(clip, problem)
    assert found == ["'milk_box' is up to 5 mm off its track, first at frame 30"]
