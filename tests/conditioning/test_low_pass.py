"""The low-pass over tracks: what it keeps, what it takes away, and how far it may go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.conditioning.low_pass import Bounds, smoothed, smoothing_width
from handwright.core.track import Track
from handwright.math import rotation
from handwright.math.pose import Pose

WIDE = Bounds(1.0, 3.0)
CENTER = np.array([0.02, -0.03, 0.05])


def uneven_times(rng, count=90):
    return np.concatenate([[0.0], np.cumsum(rng.uniform(0.004, 0.014, count - 1))])


def track_of(times, place, turns):
    return Track(times, Pose(place, rotation.exp(turns)))


def pass_one(track, cutoff=6.0, bounds=WIDE, left=None, center=CENTER):
    frames = np.zeros(len(track), dtype=bool) if left is None else left
    return smoothed({"it": track}, {"it": center}, {"it": frames}, cutoff, bounds)["it"]


def moves(before, after, center=CENTER):
    shift = np.linalg.norm(after.pose.apply(center) - before.pose.apply(center), axis=1)
    return shift, np.asarray(rotation.angle(before.pose.wxyz, after.pose.wxyz))


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_steady_motion_is_kept_however_unevenly_it_is_sampled(seed):
    rng = np.random.default_rng(seed)
    times = uneven_times(rng)
    # The centre goes straight on; turns would need arcs, which a line does not keep.
    track = track_of(
        times, times[:, None] * rng.normal(size=3), np.tile(rng.normal(size=3), (90, 1))
    )
    shift, turn = moves(track, pass_one(track))
    assert shift.max() < 1e-9
    assert turn.max() < 1e-7


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_moving_and_turning_the_world_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    times = uneven_times(rng)
    track = track_of(times, 0.01 * rng.normal(size=(90, 3)), 0.1 * rng.normal(size=(90, 3)))
    world = Pose(rng.normal(size=3), rotation.random(rng))
    one, two = pass_one(track.moved(world)), pass_one(track).moved(world)
    np.testing.assert_allclose(one.pose.position, two.pose.position, atol=1e-9)
    assert np.asarray(rotation.angle(one.pose.wxyz, two.pose.wxyz)).max() < 1e-7


@pytest.mark.parametrize(("hz", "left"), [(1.0, 0.999), (6.0, np.sqrt(0.5)), (30.0, 0.001)])
def test_half_of_the_power_is_left_at_the_cutoff(hz, left):
    times = np.arange(0.0, 4.0, 1.0 / 240.0)
    wave = np.stack([np.sin(2.0 * np.pi * hz * times), 0.0 * times, 0.0 * times], axis=1)
    track = track_of(times, 0.01 * wave, np.zeros((len(times), 3)))
    middle = slice(240, -240)
    found = pass_one(track, center=np.zeros(3)).pose.position[middle, 0]
    share = float(found @ wave[middle, 0] / (0.01 * wave[middle, 0] @ wave[middle, 0]))
    assert share == pytest.approx(left, abs=2e-3)


def test_the_width_belongs_to_the_cutoff():
    kept = np.exp(-0.5 * (2.0 * np.pi * 6.0 * smoothing_width(6.0)) ** 2)
    assert 2.0 * kept - kept**2 == pytest.approx(np.sqrt(0.5))


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0.0, 5e-3), st.floats(0.0, 0.1))
def test_nothing_is_moved_farther_than_the_bounds(seed, shift, turn):
    rng = np.random.default_rng(seed)
    times = uneven_times(rng)
    track = track_of(times, 4e-3 * rng.normal(size=(90, 3)), 0.05 * rng.normal(size=(90, 3)))
    found = moves(track, pass_one(track, bounds=Bounds(shift, turn)))
    assert found[0].max() <= shift + 1e-12
    assert found[1].max() <= turn + 1e-7


def test_where_one_track_would_go_too_far_all_are_left_as_they_are():
    times = np.arange(0.0, 2.0, 0.01)
    calm = 5e-4 * np.random.default_rng(0).normal(size=(200, 3))
    jerk = calm.copy()
    jerk[100:] += 0.02
    tracks = {name: track_of(times, place, 0.0 * place) for name, place in
              (("calm", calm), ("jerk", jerk))}  # fmt: skip
    none = dict.fromkeys(tracks, np.zeros(3))
    off = dict.fromkeys(tracks, np.zeros(200, dtype=bool))
    found = smoothed(tracks, none, off, 6.0, Bounds(3e-3, 0.05))
    for name, track in tracks.items():
        shift, _ = moves(track, found[name], np.zeros(3))
        assert shift[99:101].max() == 0.0
        assert shift[:70].max() > 2e-4


def test_frames_to_be_left_are_left():
    times = np.arange(0.0, 1.0, 0.01)
    place = 1e-3 * np.random.default_rng(0).normal(size=(100, 3))
    track = track_of(times, place, np.zeros((100, 3)))
    left = times < 0.3
    shift, _ = moves(track, pass_one(track, left=left))
    assert shift[left].max() == 0.0
    assert shift[60:].max() > 1e-4


def test_tracks_of_few_frames_pass():
    for count in (1, 2, 3):
        times = 0.01 * np.arange(count)
        track = track_of(times, np.zeros((count, 3)), np.zeros((count, 3)))
        assert moves(track, pass_one(track))[0].max() < 1e-12
