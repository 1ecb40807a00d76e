"""What digits are told frame by frame: pins and kept motions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.methods.sampling import Pin
from handwright.methods.sampling.constraints.pins import on_surface, pin_frames
from handwright.methods.sampling.constraints.schedule import (
    NEVER,
    PIN_TOLERANCE,
    ROLLED,
    empty_schedule,
    find_unpinned_frame,
    with_start_frames,
)
from handwright.methods.sampling.search.workspace import FREE, HOLD, make_path

FRAMES, DIGITS = 8, 2
FREE_JOINTS = np.array([[0, 1, -1], [2, -1, -1]])
POINT = np.array([0.01, 0.02, 0.03])
TIMES = np.arange(FRAMES) / 10.0


def pinned(first=3, last=5, *, is_lasting=True):
    """Digit 1 is pinned from frame ``first`` to ``last``."""
    schedule = empty_schedule(FRAMES, FREE_JOINTS, 3)
    schedule.pin[first : last + 1, 1] = 0
    return with_start_frames(
        schedule._replace(
            point=POINT[None], first=np.array([first]), is_lasting=np.array([is_lasting])
        )
    )


def test_nothing_is_asked_by_an_empty_schedule():
    schedule = with_start_frames(empty_schedule(FRAMES, FREE_JOINTS, 3))
    assert not schedule.has_any()
    assert (schedule.start == NEVER).all()
    assert not any(schedule.binds(t, d) for t in range(FRAMES) for d in range(DIGITS))


def test_the_start_of_a_pin_is_known_before_it_and_not_after():
    schedule = pinned()
    assert schedule.has_any()
    assert schedule.start[:, 1].tolist() == [3, 3, 3, *[NEVER] * 5]
    assert (schedule.start[:, 0] == NEVER).all()
    assert schedule.is_pinned[:, 1].tolist() == [False] * 3 + [True] * 3 + [False] * 2


def test_a_pin_without_an_end_binds_in_its_first_frame_only():
    schedule = pinned(is_lasting=False)
    assert np.flatnonzero(schedule.is_pinned[:, 1]).tolist() == [3]


def test_a_kept_motion_that_follows_a_pin_begins_anew():
    schedule = pinned(last=4)
    schedule.is_kept[5:, 1] = True
    schedule = with_start_frames(schedule)
    assert schedule.start[:, 1].tolist() == [3, 3, 3, 5, 5, NEVER, NEVER, NEVER]
    assert schedule.binds(6, 1)


@pytest.mark.parametrize(
    ("mode", "away", "digit"),
    [(HOLD, 0.0, -1), (HOLD, 0.9 * ROLLED, -1), (HOLD, 1.1 * ROLLED, 1), (FREE, 0.0, 1)],
)
def test_a_pinned_digit_that_is_elsewhere_has_missed_its_point(mode, away, digit):
    schedule = pinned()
    path = make_path(SimpleNamespace(sizes={"J": 3, "D": DIGITS, "C": 1}), FRAMES)
    path.reached[4, 1] = mode
    path.target[4, 1] = POINT + np.array([away, 0.0, 0.0])
    assert schedule.missed(path, 4) == digit
    assert schedule.missed(path, 1) == -1


def test_a_frame_without_a_contact_at_the_pin_is_found():
    schedule, shift = pinned(), 10
    frame = shift + np.array([3, 4, 5])
    digit, point = np.ones(3, dtype=int), np.tile(POINT, (3, 1))
    assert find_unpinned_frame(schedule, shift, frame, digit, point) is None
    point[1, 0] += 1.1 * PIN_TOLERANCE
    assert find_unpinned_frame(schedule, shift, frame, digit, point) == shift + 4
    assert find_unpinned_frame(schedule, shift, frame[1:], digit[1:], point[1:]) == shift + 3


def test_kept_digits_are_guided_and_started_by_their_joint_values():
    schedule = empty_schedule(FRAMES, FREE_JOINTS, 3)
    schedule.is_kept[:, 0] = True
    schedule.mode[:, 0] = HOLD
    schedule.q[:] = [0.1, 0.2, 0.3]
    schedule.target[2, 0] = POINT
    guide = SimpleNamespace(
        mode=np.zeros(DIGITS, dtype=int),
        link=np.zeros(DIGITS, dtype=int),
        local=np.zeros((DIGITS, 3)),
        target=np.zeros((DIGITS, 3)),
        normal=np.zeros((DIGITS, 3)),
    )
    work = SimpleNamespace(
        guide=guide, must_touch=np.ones(DIGITS, dtype=bool), reference=np.zeros(3)
    )
    schedule.guide(work, 2)
    assert guide.mode.tolist() == [HOLD, FREE]
    np.testing.assert_array_equal(guide.target[0], POINT)
    np.testing.assert_array_equal(work.reference, [0.1, 0.2, 0.0])
    assert work.must_touch.tolist() == [False, True]
    q = np.zeros(3)
    schedule.start_kept(q)
    np.testing.assert_array_equal(q, [0.1, 0.2, 0.0])


@pytest.mark.parametrize(
    ("start", "end", "frames"),
    [(0.2, 0.5, (2, 5)), (0.15, None, (2, None)), (-1.0, 0.0, (0, 0)), (2.0, None, None)],
)
def test_frames_of_a_pin(start, end, frames):
    assert pin_frames(Pin("index", (0.0, 0.0, 0.0), start, end), TIMES) == frames


def test_a_pin_is_brought_to_the_surface_and_refused_far_from_it():
    body = make_shape("box")
    exact = ExactDistance.from_body(body)
    top = float(body.bounds[1][2])
    near = Pin("index", (0.001, 0.002, top + 0.004), 0.0)
    found = on_surface(7, near, 1, (0, None), exact)
    np.testing.assert_allclose(found.point, [0.001, 0.002, top], atol=1e-9)
    np.testing.assert_allclose(found.normal, [0.0, 0.0, 1.0], atol=1e-9)
    assert (found.number, found.digit, found.first, found.last) == (7, 1, 0, None)
    far = Pin("index", (0.0, 0.0, top + 0.03), 0.0)
    with pytest.raises(InvalidValueError, match="30 mm away"):
        on_surface(7, far, 1, (0, None), exact)
