"""Contact sampling on corrected tracks: the raw ones stay, and the verdict names the moves."""

from dataclasses import replace

import numpy as np
import pytest
from tiny_problems import tiny_turn

import handwright as hw
from handwright.conditioning import Conditioning, corrected
from handwright.core.track import Track
from handwright.io.clip.file import load_clip, save_clip
from handwright.math.pose import Pose
from handwright.methods.provenance import method_of
from handwright.methods.tracks import on_tracks
from handwright.synthesis import synthesize

ONLY_SMOOTH = Conditioning(wrists=False, smoothing_hz=6.0)


@pytest.fixture(scope="module")
def trembling():
    problem, rng = tiny_turn(), np.random.default_rng(0)
    tracks = {
        name: Track(
            track.times,
            Pose(track.pose.position + 1e-4 * rng.normal(size=(len(track), 3)), track.pose.wxyz),
        )
        for name, track in problem.tracks.items()
    }
    return replace(problem, tracks=tracks)


@pytest.fixture(scope="module")
def solved(trembling):
    method = hw.ContactSampling(
        num_solutions=1,
        corrected=True,
        conditioning=ONLY_SMOOTH,
        soft_tissue=0.002,
        skin_stretch=0.002,
        smoothing_hz=8.0,
    )
    return synthesize(trembling, method, throw=True)


def test_the_clip_moves_on_corrected_tracks_and_keeps_the_raw_ones(trembling, solved):
    clip = solved.best
    found = corrected(trembling, ONLY_SMOOTH).problem
    for name, track in trembling.tracks.items():
        pose = clip.hands[name].root if name in clip.hands else clip.bodies[name]
        np.testing.assert_array_equal(pose.position, found.track(name).at(clip.times).position)
        np.testing.assert_array_equal(clip.problem.track(name).pose.position, track.pose.position)


def test_the_verdict_says_by_how_much(trembling, solved):
    moves = {one.name: one for one in corrected(trembling, ONLY_SMOOTH).corrections}
    verdict = solved.certificates[0].verdict
    for name, one in moves.items():
        kind = "wrist" if name in trembling.hands else "body"
        told = verdict.split(f"{kind} '{name}' moved by at most ")[1]
        assert 0.0 <= float(told.split()[0]) - 1e3 * one.shift <= 0.1


def test_such_a_clip_is_saved_loaded_and_made_again(solved, tmp_path):
    clip = solved.best
    save_clip(clip, tmp_path / "one.npz")
    loaded = load_clip(tmp_path / "one.npz")
    method = method_of(loaded.provenance)
    assert method.corrected
    assert method.conditioning == ONLY_SMOOTH
    again = synthesize(loaded.problem, method).best
    for name, motion in clip.hands.items():
        np.testing.assert_array_equal(again.hands[name].q, motion.q)


def test_tracks_are_as_given_unless_asked_otherwise(trembling):
    assert not hw.ContactSampling().corrected
    assert not hw.NeuralFingers().corrected
    assert on_tracks(trembling, False, None) is trembling
    assert on_tracks(trembling, True, ONLY_SMOOTH) is not trembling
