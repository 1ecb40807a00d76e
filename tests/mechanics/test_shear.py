"""Skin gives way up to a limit over the whole life of a contact, and slips beyond it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from handwright.contact.shear import frame_durations, skin_shears, slip_velocity
from handwright.methods.sampling.search.contacts import apply_skin_stretch

STEP = 0.1
UP = np.array([0.0, 0.0, 1.0])
LIMIT = 2e-3


def followed(speed, normal=None, touches=None, limit=LIMIT):
    """Shear before each frame, and slip in it, of one contact with velocities (T, 3)."""
    velocity = np.asarray(speed, dtype=float)[:, None]
    count = len(velocity)
    times = STEP * np.arange(count)
    normal = np.tile(UP, (count, 1)) if normal is None else normal
    touches = np.ones(count, dtype=bool) if touches is None else np.asarray(touches)
    before = skin_shears(velocity, normal[:, None], touches[:, None], times, limit)[:, 0]
    return before, slip_velocity(velocity[:, 0], before, frame_durations(times), limit)


def along_x(*speeds):
    return np.array([[speed, 0.0, 0.0] for speed in speeds])


def test_frames_last_as_long_as_the_motion():
    times = np.array([0.0, 0.1, 0.3, 0.4])
    np.testing.assert_allclose(frame_durations(times), [0.05, 0.15, 0.15, 0.05])
    np.testing.assert_array_equal(frame_durations(np.zeros(1)), [0.0])


def test_without_shear_all_motion_is_slip():
    speed = np.random.default_rng(0).normal(size=(6, 3))
    before, slip = followed(speed, limit=0.0)
    assert not before.any()
    np.testing.assert_array_equal(slip, speed)


def test_it_sticks_until_the_limit_and_slips_on_from_there():
    before, slip = followed(along_x(*[0.01] * 6))
    # Half a frame, then 1 mm a frame: 0.5, 1.5, 2 (and 0.5 beyond), then all of it.
    np.testing.assert_allclose(1e3 * before[:, 0], [0.0, 0.5, 1.5, 2.0, 2.0, 2.0], atol=1e-9)
    np.testing.assert_allclose(slip[:, 0], [0.0, 0.0, 0.005, 0.01, 0.01, 0.01], atol=1e-12)


def test_a_contact_that_turns_back_sticks_until_it_is_stretched_the_other_way():
    before, slip = followed(along_x(*[0.01] * 5, *[-0.01] * 6))
    assert slip[4, 0] > 0.0
    np.testing.assert_allclose(slip[5:9], 0.0, atol=1e-12)
    assert slip[9, 0] < 0.0
    assert np.linalg.norm(before, axis=1).max() <= LIMIT + 1e-12


def test_slow_creep_is_not_forgotten():
    _, slip = followed(along_x(*[0.001] * 40))
    assert not slip[:20].any()
    np.testing.assert_allclose(slip[-5:, 0], 0.001, atol=1e-12)


def test_only_a_contact_that_comes_off_starts_anew():
    touches = [True, True, True, True, False, True, True, True]
    before, slip = followed(along_x(*[0.01] * 8), touches=touches)
    assert not before[4].any()
    assert not before[5].any()
    assert slip[3, 0] > 0.0
    np.testing.assert_allclose(slip[[5, 6]], 0.0, atol=1e-12)


def test_rolling_round_a_bend_leaves_the_skin_as_stretched():
    angle = np.linspace(0.0, 1.5, 12)
    normal = np.stack([np.sin(angle), np.zeros(12), np.cos(angle)], axis=1)
    speed = np.zeros((12, 3))
    speed[:2, 0] = 0.01
    before, slip = followed(speed, normal=normal)
    np.testing.assert_allclose(np.linalg.norm(before[2:], axis=1), 1.5e-3, rtol=0.01)
    np.testing.assert_allclose(np.linalg.norm(np.diff(before[2:], axis=0)[0]), 2e-4, rtol=0.1)
    np.testing.assert_allclose(np.ptp(np.linalg.norm(before[2:], axis=1)), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.einsum("ti,ti->t", before, normal), 0.0, atol=1e-12)
    assert not slip.any()


class Stretch(NamedTuple):
    shear: float


class Here(NamedTuple):
    limits: Stretch


class Touching(NamedTuple):
    num: np.ndarray
    capsule: np.ndarray


class Facing(NamedTuple):
    normal: np.ndarray


class Memory(NamedTuple):
    found: Touching
    contacts: Facing
    sheared: np.ndarray
    shear: np.ndarray


@pytest.mark.parametrize("limit", [0.0, LIMIT])
def test_the_search_follows_the_same_rule(limit):
    rng = np.random.default_rng(3)
    count = 30
    turn = np.cumsum(rng.normal(scale=0.1, size=count))
    normal = np.stack([np.sin(turn), np.zeros(count), np.cos(turn)], axis=1)
    speed = rng.normal(scale=0.01, size=(count, 3))
    speed -= np.einsum("ti,ti->t", speed, normal)[:, None] * normal
    before, slip = followed(speed, normal=normal, limit=limit)
    lasts = frame_durations(STEP * np.arange(count))
    work = Memory(
        Touching(np.array([1, 0]), np.zeros(1, dtype=np.int64)),
        Facing(np.zeros((1, 3))),
        np.zeros((1, 3)),
        np.zeros((1, 3)),
    )
    for t in range(count):
        work.sheared[:] = work.shear
        work.contacts.normal[0] = normal[t]
        found = apply_skin_stretch(Here(Stretch(limit)), work, 0, tuple(lasts[t] * speed[t]))
        np.testing.assert_allclose(found, lasts[t] * slip[t], atol=1e-12)
        if limit > 0.0 and t + 1 < count:
            np.testing.assert_allclose(
                np.linalg.norm(work.shear[0]), np.linalg.norm(before[t + 1]), atol=1e-12
            )
