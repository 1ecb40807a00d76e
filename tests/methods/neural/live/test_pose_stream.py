from __future__ import annotations

import numpy as np
import pytest

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.live.pose_numbers import pose_numbers
from handwright.methods.neural.live.pose_stream import CAPACITY, PoseStream
from handwright.methods.neural.sensing.resampling import resampled

GAP = 0.1


def moved(times):
    """A smooth motion."""
    t = np.asarray(times)[:, None]
    place = 0.2 * np.sin(t * [3.0, 4.0, 5.0] + [0.0, 1.0, 2.0])
    turn = rotation.exp(np.sin(t * [2.0, 3.0, 2.5] + [1.0, 0.0, 2.0]))
    return Pose(place, turn)


def fed(times, order=None):
    stream, poses = PoseStream(), moved(times)
    for n in range(len(times)) if order is None else order:
        assert stream.add(times[n], np.concatenate([poses.position[n], poses.wxyz[n]]))
    return stream


def even(stream, first=0.0, count=61, gap=GAP):
    return stream.at_even_times(first, 1.0 / 60.0, count, longest_gap=gap)


def test_poses_at_the_even_times_come_back_as_they_are():
    times = np.arange(61) / 60.0
    found, wanted = even(fed(times)), moved(times)
    np.testing.assert_allclose(found.position, wanted.position, atol=1e-12)
    np.testing.assert_allclose(found.rotation, rotation.to_matrix(wanted.wxyz), atol=1e-12)
    np.testing.assert_allclose(rotation.to_matrix(found.wxyz), found.rotation, atol=1e-12)


def test_the_order_in_which_poses_come_does_not_matter():
    rng = np.random.default_rng(3)
    times = np.sort(rng.uniform(0.0, 1.0, 80)) + 2e-3 * np.arange(80)
    one, other = even(fed(times)), even(fed(times, rng.permutation(80)))
    np.testing.assert_array_equal(one.position, other.position)
    np.testing.assert_allclose(one.rotation, other.rotation, atol=1e-15)


@pytest.mark.parametrize(("rate", "bound"), [(24, 8e-4), (30, 5e-4), (90, 5e-5), (120, 5e-5)])
def test_other_rates_give_what_tracks_give_that_are_resampled_as_a_whole(rate, bound):
    times = np.arange(-rate, 2 * rate) / rate
    wanted = np.arange(61) / 60.0
    found, whole = even(fed(times)), resampled(times, moved(times), wanted)
    np.testing.assert_allclose(found.position, whole.position, atol=1e-12)
    np.testing.assert_allclose(found.rotation, rotation.to_matrix(whole.wxyz), atol=bound)
    np.testing.assert_allclose(found.position, moved(wanted).position, atol=bound)


def test_a_short_gap_is_filled_evenly_and_a_long_one_held_first():
    stream = PoseStream()
    for time, x in ((0.0, 0.0), (0.09, 0.9), (1.0, 2.9)):
        assert stream.add(time, np.array([x, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    at = stream.at_even_times(0.0, 0.01, 101, longest_gap=GAP).position[:, 0]
    np.testing.assert_allclose(at[:10], 0.1 * np.arange(10), atol=1e-12)
    np.testing.assert_allclose(at[9:91], 0.9, atol=1e-12)
    np.testing.assert_allclose(at[90:], 0.9 + 0.2 * np.arange(11), atol=1e-12)
    held = [stream.is_held(time, GAP) for time in (-0.01, 0.0, 0.05, 0.5, 0.95, 1.05, 1.2)]
    assert held == [True, False, False, True, False, False, True]


def test_a_thing_stands_still_before_its_first_and_after_its_last_pose():
    found = even(fed(np.array([0.4, 0.41, 0.42])), count=61).position
    np.testing.assert_array_equal(found[:25], np.tile(found[0], (25, 1)))
    np.testing.assert_array_equal(found[26:], np.tile(found[-1], (35, 1)))
    assert (found[0] != found[-1]).any()


def test_a_moment_is_taken_once():
    stream = fed(np.array([0.0, 0.1]))
    for time in (0.0, 0.1004, 0.0996):
        assert not stream.add(time, np.array([9.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    assert len(stream) == 2


def test_forgetting_changes_nothing_later():
    times = np.sort(np.random.default_rng(5).uniform(0.0, 2.0, 90))
    times = times[np.concatenate([[True], np.diff(times) > 2e-3])]
    stream = fed(times)
    before = even(stream, first=0.9)
    stream.forget(0.9)
    assert len(stream) < 0.7 * len(times)
    np.testing.assert_array_equal(before.position, even(stream, first=0.9).position)
    stream.forget(100.0)
    assert len(stream) == 2


def test_a_stream_that_nobody_reads_stays_small():
    stream, row = PoseStream(), np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    for n in range(CAPACITY + 50):
        row[0] = n
        assert stream.add(0.01 * n, row)
    assert len(stream) == CAPACITY
    last = stream.at_even_times(0.01 * (CAPACITY + 49), 0.01, 1, longest_gap=GAP)
    assert last.position[0, 0] == CAPACITY + 49


def test_quaternions_of_either_sign_are_one_rotation():
    times = np.arange(61) / 60.0
    stream, poses = PoseStream(), moved(times)
    for n, time in enumerate(times[::2]):
        sign = -1.0 if n % 3 == 1 else 1.0
        stream.add(time, np.concatenate([poses.position[2 * n], sign * poses.wxyz[2 * n]]))
    expected = rotation.to_matrix(poses.wxyz)
    np.testing.assert_allclose(even(stream).rotation, expected, atol=1e-3)


@pytest.mark.parametrize(
    "given",
    [
        ((np.nan, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
        ((np.inf, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
        ((1e6, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (np.nan, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
        ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    ],
)
def test_what_is_no_pose_is_none(given):
    assert pose_numbers(given) is None


def test_rounded_quaternions_become_unit():
    found = pose_numbers(((1.0, 2.0, 3.0), (0.707, 0.0, 0.707, 0.0)))
    assert found is not None
    np.testing.assert_allclose(found, [1.0, 2.0, 3.0, 0.5**0.5, 0.0, 0.5**0.5, 0.0], atol=1e-12)
