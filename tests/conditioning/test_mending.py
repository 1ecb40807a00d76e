"""Leaps of single poses and gaps of tracks, and motions that have none."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.conditioning.mending import leaping_poses, mended
from handwright.core.track import Track
from handwright.math import rotation
from handwright.math.pose import Pose


def swing(times, hz=1.0, size=0.2):
    phase = 2.0 * np.pi * hz * times
    place = size * np.stack([np.sin(phase), np.cos(phase), 0.3 * np.sin(2.0 * phase)], axis=1)
    return Track(times, Pose(place, rotation.exp(np.stack([phase, 0 * phase, 0 * phase], axis=1))))


@settings(max_examples=15)
@given(st.sampled_from([24.0, 30.0, 60.0, 120.0]), st.floats(0.1, 3.0), st.floats(0.0, 0.3))
def test_motion_without_faults_is_returned_as_it_is(rate, hz, size):
    track = swing(np.arange(0.0, 1.5, 1.0 / rate), hz, size)
    assert mended(track) is track


def test_a_leap_of_one_pose_is_mended():
    times = np.arange(0.0, 1.0, 1.0 / 60.0)
    clean = swing(times)
    place = clean.pose.position.copy()
    place[20] += [0.0, 0.05, 0.0]
    spoilt = Track(times, Pose(place, clean.pose.wxyz))
    np.testing.assert_array_equal(np.flatnonzero(leaping_poses(spoilt)), [20])
    found = mended(spoilt).at(times)
    away = np.linalg.norm(found.position - clean.pose.position, axis=1)
    assert away[20] < 1e-3
    assert np.delete(away, 20).max() == 0.0


def test_a_short_gap_is_bridged_along_the_curve_and_a_long_one_left():
    times = np.arange(0.0, 2.0, 1.0 / 60.0)
    clean = swing(times)
    keep = np.ones(len(times), dtype=bool)
    keep[30:36] = keep[70:90] = False
    holed = Track(times[keep], clean.pose[keep])
    found = mended(holed)
    assert set(times[30:36].round(9)) <= set(found.times.round(9))
    assert not set(times[70:90].round(9)) & set(found.times.round(9))
    short = slice(30, 36)
    away = np.linalg.norm(found.at(times[short]).position - clean.pose.position[short], axis=1)
    straight = np.linalg.norm(holed.at(times[short]).position - clean.pose.position[short], axis=1)
    assert away.max() < 0.2 * straight.max()


def test_tracks_of_few_poses_are_left():
    for count in (1, 2, 4):
        track = swing(0.1 * np.arange(count))
        assert mended(track) is track
