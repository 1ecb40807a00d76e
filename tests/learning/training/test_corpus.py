"""What networks are taught by: lessons, windows, noise, roll-outs, splits, figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from taught_grasps import taught_grasp

pytest.importorskip("torch")

from handwright.errors import InvalidValueError
from handwright.geometry.shapes import make_shape
from handwright.kinematics.fk import posed_sites
from handwright.learning.training.lessons.corpus import Corpus, lessons_of
from handwright.learning.training.lessons.measures import (
    MOVING,
    accelerations,
    deepest_sites,
    figures_of,
    joint_errors,
)
from handwright.learning.training.lessons.sources import GAP, recorded_motions, split_clip
from handwright.learning.training.lessons.states import Chains, Postures, taught_states
from handwright.learning.training.lessons.windows import draw_windows, lasting_noise
from handwright.learning.training.networks.windowed import MEMORY
from handwright.learning.training.recipe import Recipe
from handwright.methods.neural.sensing import JOINTS, assembled, finger_features, fixed_features


@pytest.fixture(scope="module")
def corpus():
    clips = [taught_grasp(0, 30), taught_grasp(1, 12), taught_grasp(2, 50)]
    return Corpus([lesson for clip in clips for lesson in lessons_of(clip)])


def test_frames_are_numbered_through_all_lessons(corpus):
    assert len(corpus) == 92
    np.testing.assert_array_equal(corpus.start, [0, 30, 42])
    np.testing.assert_array_equal(corpus.frame[[0, 29, 30, 41, 42, 91]], [0, 29, 0, 11, 0, 49])
    np.testing.assert_array_equal(np.setdiff1d(np.arange(92), corpus.has_next), [29, 41, 91])


def test_features_are_those_of_the_sensing_room_whatever_the_order_of_frames(corpus):
    rows = np.array([91, 3, 40, 4, 60, 30])
    q = np.array(corpus.q[rows])
    q[:, 2] += 0.1
    found = corpus.features(rows, q)
    for row, posture, features in zip(rows, q, found, strict=True):
        view = corpus.lessons[corpus.owner[row]].view
        frame = corpus.frame[[row]]
        fixed = fixed_features(view, frame).astype(np.float16).astype(np.float32)
        wanted = assembled(fixed, finger_features(view, frame, posture[None]))
        np.testing.assert_array_equal(features, wanted[0])
    np.testing.assert_allclose(
        corpus.features(rows), corpus.features(rows, corpus.q[rows]), atol=1e-3
    )


def test_fits_find_the_taught_postures(corpus):
    rows = np.array([5, 35, 80])
    start = np.stack([lesson.view.model.pose("rest") for lesson in corpus.lessons])
    q = corpus.fitted(rows, corpus.targets[rows], start)
    assert joint_errors(corpus.poses(rows, q), corpus.targets[rows]).max() < 0.1


def test_other_rates_and_other_hands_are_refused():
    clip = taught_grasp(0)
    slow = replace(clip, times=2.0 * clip.times)
    with pytest.raises(InvalidValueError, match="has 30 frames a second; expected 60"):
        lessons_of(slow)
    with pytest.raises(InvalidValueError, match="no lessons"):
        Corpus([])


def test_equal_data_have_equal_digests(corpus):
    again = Corpus(corpus.lessons)
    assert again.digest == corpus.digest
    assert Corpus(corpus.lessons[1:]).digest != corpus.digest


def test_noise_moves_joints_and_what_sensors_read_within_limits(corpus):
    rows = np.arange(0, 90, 7)
    plain = taught_states(corpus, rows, 0.0, np.random.default_rng(0))
    noisy = taught_states(corpus, rows, 0.1, np.random.default_rng(0))
    np.testing.assert_array_equal(plain[:, 198:1534], noisy[:, 198:1534])
    errors = joint_errors(noisy, plain)
    assert 1.0 < errors.mean() < 15.0
    limits = corpus.lessons[0].view.model.joints
    far = corpus.within_limits(rows, corpus.q[rows] + 10.0)
    np.testing.assert_array_equal(far, limits.clamp(far))


def test_chains_follow_the_network_and_begin_again(corpus):
    recipe = Recipe(chains=20, restart_chance=1e-9, restart_error=1e9)
    rng = np.random.default_rng(0)
    chains = Chains(corpus, recipe, rng)
    rows = chains.rows.copy()
    # A network that knows everything.
    chains.advance(corpus.targets[rows + 1], rng)
    going = np.isin(rows + 1, corpus.has_next)
    np.testing.assert_array_equal(chains.rows[going], rows[going] + 1)
    assert np.isin(chains.rows, corpus.has_next).all()
    q = chains.state()["q"].numpy()
    assert joint_errors(corpus.poses(chains.rows, q), corpus.targets[chains.rows]).max() < 0.5


def test_chains_that_are_far_off_begin_again(corpus):
    recipe = Recipe(chains=20, restart_chance=1e-9, restart_error=15.0)
    rng = np.random.default_rng(0)
    chains = Chains(corpus, recipe, rng)
    wrong = corpus.targets[chains.rows + 1].copy()
    pose = corpus.poses(np.array([0]), corpus.lessons[0].view.model.pose("closed")[None])
    wrong[:, :198] = pose
    chains.advance(wrong, rng)
    q = chains.state()["q"].numpy()
    errors = joint_errors(corpus.poses(chains.rows, q), corpus.targets[chains.rows])
    assert errors.max() <= 15.0
    assert (errors < 1e-3).sum() > 5


def test_contact_keeping_takes_hands_out_of_objects(corpus):
    rows = np.arange(len(corpus))
    deep = corpus.within_limits(rows, corpus.q + 0.4)
    outputs = corpus.targets.copy()
    outputs[:, :198] = corpus.poses(rows, deep)
    depths = {}
    for mode in ("none", "algorithm1", "contact"):
        postures = Postures(corpus, deep, mode)
        postures.step(rows, outputs)
        depths[mode] = figures_of(corpus, postures.q).penetration
    assert depths["none"] > 1.0
    assert depths["contact"] < 0.7 * depths["none"]
    assert depths["algorithm1"] < 0.9 * depths["none"]


def test_windows_cover_lessons_and_hold_their_ends(corpus):
    windows = draw_windows(corpus, 16, np.random.default_rng(0))
    assert windows.shape == (2 + 1 + 4, MEMORY + 16)
    owners = corpus.owner[windows]
    assert (owners == owners[:, :1]).all()
    steps = np.diff(windows, axis=1)
    assert set(np.unique(steps)) <= {0, 1}
    inner = steps[:, MEMORY:]
    # The lesson of twelve frames is shorter than a window, and held at its end.
    assert (inner[owners[:, 0] != 1] == 1).all()
    seen = np.concatenate(
        [draw_windows(corpus, 16, np.random.default_rng(n))[:, MEMORY:].ravel() for n in range(40)]
    )
    assert set(seen) == set(range(len(corpus)))


def test_lasting_noise_lasts(corpus):
    long = Corpus([replace_lesson(corpus, 2, times=60)])
    noise = lasting_noise(long, 0.1, np.random.default_rng(0))
    assert noise.std() == pytest.approx(0.1, rel=0.1)
    assert noise[0].std() == pytest.approx(0.1, rel=0.5)
    after = 15  # frames, a quarter of a second
    together = np.mean(noise[after:] * noise[:-after]) / noise.var()
    assert together == pytest.approx(np.exp(-1.0), abs=0.1)


def replace_lesson(corpus, number, *, times):
    """A lesson that repeats another one's frames, many times."""
    lesson = corpus.lessons[number]
    view = lesson.view
    repeated = {
        name: np.concatenate([getattr(view, name)] * times)
        for name in ("wrist_rotation", "wrist_position", "object_rotation", "object_position")
    }
    count = times * len(lesson)
    longer = replace(view, times=np.arange(count) / 60.0, **repeated)
    return replace(lesson, view=longer, q=np.concatenate([lesson.q] * times))


def test_errors_are_means_over_joints_that_move():
    names = [JOINTS[n] for n in MOVING]
    assert len(names) == 15
    assert {"wrist", "palm", "index_proximal"}.isdisjoint(names)
    pose = np.zeros((1, 198))
    shifted = pose.copy()
    shifted[0, 3 * JOINTS.index("index_tip")] = 0.015
    shifted[0, 3 * JOINTS.index("wrist")] = 1.0
    assert joint_errors(pose, shifted) == pytest.approx(1.0)


def test_depths_are_those_of_a_ball(corpus):
    lesson = corpus.lessons[0]
    view, model = lesson.view, lesson.view.model
    found = deepest_sites(view, lesson.q)
    sites = posed_sites(model, lesson.q).position
    world = np.einsum("tij,tsj->tsi", view.wrist_rotation, sites) + view.wrist_position[:, None]
    away = np.linalg.norm(world - view.object_position[:, None], axis=-1).min(axis=1)
    radius = np.linalg.norm(make_shape("sphere").vertices, axis=1).max()
    depth = 1e3 * np.maximum(radius - away, 0.0)
    assert depth.max() > 1.0
    np.testing.assert_allclose(found, depth, atol=0.3)


def test_accelerations_are_those_of_a_parabola():
    times = np.arange(10) / 60.0
    poses = np.zeros((10, 198))
    poses[:, 2:66:3] = (0.5 * 3.0 * times**2)[:, None]
    np.testing.assert_allclose(accelerations(poses), 300.0, rtol=1e-6)


def test_taught_motion_has_no_error(corpus):
    figures = figures_of(corpus, corpus.q)
    assert figures.error == pytest.approx(0.0, abs=1e-3)
    assert figures.score == figures.error + figures.penetration
    assert figures.smoothness > 0.0


def test_a_motion_is_cut_into_splits_with_gaps():
    clip = taught_grasp(0, 1000)
    parts = split_clip(clip)
    assert [split for _, split in parts] == ["train", "validation", "train", "test"]
    gap = round(60 * GAP)
    assert [part.num_frames for part, _ in parts] == [360, 80 - gap, 360 - gap, 200 - gap]
    for (part, _), start in zip(parts, (0, 360 + gap, 440 + gap, 800 + gap), strict=True):
        np.testing.assert_array_equal(
            part.hands["right"].q, clip.hands["right"].q[start : start + part.num_frames]
        )
        assert part.times[0] == 0.0
    with pytest.raises(InvalidValueError, match="has 60 frames, too few to be cut"):
        split_clip(taught_grasp(0, 60))


def test_folders_without_recordings_are_refused(tmp_path):
    with pytest.raises(InvalidValueError, match="holds no recordings"):
        recorded_motions(tmp_path)


@pytest.mark.data
def test_recordings_are_cut_before_their_frozen_tails(manipnet_data, tmp_path):
    folder = tmp_path / "some"
    folder.mkdir()
    (folder / "cube_med2.npz").symlink_to(manipnet_data / "sequences" / "cube_med2.npz")
    (folder / "objects").symlink_to(manipnet_data / "objects")
    for side in ("left", "right"):
        name = f"hand_skin_{side}.npz"
        (folder / name).symlink_to(manipnet_data / name)
    motions = recorded_motions(folder)
    splits = ["train", "validation", "train", "test", "train", "train"]
    assert [split for _, split in motions] == splits
    tail = motions[3][0]
    moved = np.abs(np.diff(tail.hands["right"].q, axis=0)).max(axis=1)
    assert (moved[-30:] > 0.0).all()
