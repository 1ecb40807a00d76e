"""Strategies counted on contacts written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.verify import carried_ball
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode, ContactTrack
from handwright.evidence.metrics.strategies import (
    count_strategies,
    digit_touches,
    digits_touching,
    total_strategies,
)

FRAMES = 60
"""At 60 Hz: a tenth of a second has seven frames, its ends included."""


@pytest.fixture(scope="module")
def ball():
    return carried_ball(FRAMES)


def touch(clip, name, frames, place, mode=ContactMode.STATIC, toucher="hand", way=0.0, push=20.0):
    """Contacts of a capsule at a place of the body, which itself travels and turns.

    Along y it goes ``way`` metres in all, and presses with ``push`` newtons.
    """
    model = clip.problem.hands["hand"]
    part = model.capsules.names.index(name) if toucher == "hand" else 0
    pose = clip.bodies["ball"]
    places = np.array(place) + np.outer(np.linspace(0.0, way, len(frames)), [0.0, 1.0, 0.0])
    up = np.array([0.0, 0.0, 1.0])
    return [
        Contact(frame, toucher, part, "ball", pose[frame].apply(here), up, 0.0, push * up, mode)
        for frame, here in zip(frames, places, strict=True)
    ]


def capsule_of(clip, digit):
    model = clip.problem.hands["hand"]
    row = [one.name for one in model.digits].index(digit)
    return model.capsules.names[int(np.flatnonzero(model.capsules.digit == row)[0])]


def palm_of(clip):
    capsules = clip.problem.hands["hand"].capsules
    return capsules.names[int(np.flatnonzero(capsules.digit < 0)[0])]


def with_contacts(clip, *parts):
    return replace(clip, contacts=ContactTrack.of([row for part in parts for row in part]))


def test_each_strategy_is_counted_once(ball):
    index, thumb = capsule_of(ball, "index"), capsule_of(ball, "thumb")
    clip = with_contacts(
        ball,
        touch(ball, index, range(15), (0.0, 0.0, 0.03)),
        touch(ball, index, range(25, 40), (0.0, 0.02, 0.03), ContactMode.SLIDING, way=0.004),
        touch(ball, thumb, range(FRAMES), (0.03, 0.0, 0.0)),
    )
    assert count_strategies(clip) == {"hold": 2, "slide": 1, "relocate": 1}
    assert total_strategies([clip, clip]) == {"hold": 4, "slide": 2, "relocate": 2}


def test_a_digit_that_comes_back_to_its_place_has_not_relocated(ball):
    index = capsule_of(ball, "index")
    clip = with_contacts(
        ball,
        touch(ball, index, range(20), (0.0, 0.0, 0.03)),
        touch(ball, index, range(30, 50), (0.0, 0.009, 0.03)),
    )
    assert count_strategies(clip) == {"hold": 2, "slide": 0, "relocate": 0}


@pytest.mark.parametrize(("length", "counted"), [(6, 0), (7, 1)])
def test_flicker_does_not_count(ball, length, counted):
    clip = with_contacts(ball, touch(ball, capsule_of(ball, "ring"), range(length), (0.0, 0, 0.03)))
    assert count_strategies(clip)["hold"] == counted


def test_creeping_is_not_sliding(ball):
    index = capsule_of(ball, "index")
    for way, counted in ((0.002, 0), (0.004, 1)):
        rows = touch(ball, index, range(20), (0.0, 0.0, 0.03), ContactMode.SLIDING, way=way)
        assert count_strategies(with_contacts(ball, rows))["slide"] == counted


def test_digits_that_carry_nothing_do_nothing(ball):
    index = capsule_of(ball, "index")
    clip = with_contacts(
        ball,
        touch(ball, index, range(15), (0.0, 0.0, 0.03), push=1e-4),
        touch(ball, index, range(25, 40), (0.0, 0.02, 0.03), ContactMode.SLIDING, way=0.004),
        touch(ball, index, range(45, 60), (0.0, 0.05, 0.03), push=1e-4),
    )
    assert count_strategies(clip) == {"hold": 0, "slide": 1, "relocate": 0}
    assert digits_touching(clip).sum() == 45


def test_palm_and_surroundings_are_no_digits(ball):
    clip = with_contacts(
        ball,
        touch(ball, palm_of(ball), range(30), (0.0, 0.0, 0.03)),
        touch(ball, "", range(30), (0.0, 0.0, -0.03), toucher=ENVIRONMENT),
    )
    assert digit_touches(clip) == {}
    assert count_strategies(clip) == {"hold": 0, "slide": 0, "relocate": 0}
    assert digits_touching(clip).tolist() == [0.0] * FRAMES


def test_two_capsules_of_a_digit_are_one_digit(ball):
    model = ball.problem.hands["hand"]
    row = [one.name for one in model.digits].index("middle")
    first, second = (
        model.capsules.names[c] for c in np.flatnonzero(model.capsules.digit == row)[:2]
    )
    clip = with_contacts(
        ball,
        touch(ball, first, range(10), (0.0, 0.0, 0.03)),
        touch(ball, second, range(5, 20), (0.0, 0.01, 0.03), ContactMode.SLIDING),
        touch(ball, capsule_of(ball, "little"), range(15, 18), (0.0, 0.0, -0.03)),
    )
    found = digit_touches(clip)["hand", "middle", "ball"]
    assert found.touches.tolist() == [frame < 20 for frame in range(FRAMES)]
    assert found.slides.tolist() == [5 <= frame < 20 for frame in range(FRAMES)]
    np.testing.assert_allclose(found.place[7], [0.0, 0.005, 0.03], atol=1e-12)
    assert digits_touching(clip)[[0, 7, 16, 19, 20]].tolist() == [1, 1, 2, 1, 0]
