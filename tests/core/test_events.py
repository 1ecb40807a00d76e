"""Touch spans, grips, strokes and pushes: what they refuse, and what pushes give a body."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.core.events import Grip, Push, Stroke, TouchSpan, pushed
from handwright.errors import InvalidValueError
from handwright.math import rotation
from handwright.math.pose import Pose

ORIGIN = np.zeros(3)


@pytest.mark.parametrize("end", [1.0, 0.5, np.nan, np.inf])
def test_a_touch_span_ends_after_it_begins(end):
    with pytest.raises(InvalidValueError, match=r"TouchSpan of 'right'.*expected start < end"):
        TouchSpan("right", 1.0, end)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"believed_mass": 0.0}, "believed_mass is 0.0, expected a share above 0"),
        ({"believed_mass": -1.0}, "believed_mass is -1.0"),
        ({"believed_friction": 0.0}, "believed_friction is 0.0"),
        ({"believed_friction": np.nan}, "believed_friction is nan"),
        ({"response": 1.5}, "response is 1.5, expected 0 to 1"),
        ({"start": 2.0, "held": 1.0}, "starts at 2.0 and holds from 1.0 s"),
        ({"at": np.array([0.0, np.inf, 0.0])}, "three finite numbers"),
    ],
)
def test_a_grip_that_cannot_be_is_refused(given, text):
    with pytest.raises(InvalidValueError, match="Grip of 'right' on 'cup'") as error:
        Grip("right", "cup", "precision", **given)
    assert text in str(error.value)


def test_a_stroke_tells_all_of_its_faults_at_once():
    with pytest.raises(InvalidValueError) as error:
        Stroke("pen", ORIGIN, -1, 2.0, 1.0, force=-0.1)
    for text in ("surface is -1", "runs from 2.0 to 1.0 s", "force is -0.1 N"):
        assert text in str(error.value)


def test_a_push_is_felt_from_its_start_up_to_its_end():
    push = Push("cup", 1.0, 2.0, ORIGIN, np.array([1.0, 0.0, 0.0]))
    assert [push.is_on(time) for time in (0.99, 1.0, 1.5, 2.0, 2.01)] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_pushes_add_up_to_a_force_and_a_moment_about_the_centre():
    quarter = rotation.exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    pose, center = Pose(np.array([1.0, 0.0, 0.0]), quarter), np.array([1.0, 0.0, 0.0])
    # The body's x axis points along the world's y, so the point is at (1, 0.1, 0).
    side = Push("cup", 0.0, 1.0, np.array([0.1, 0.0, 0.0]), np.array([2.0, 0.0, 0.0]))
    down = Push("cup", 0.0, 1.0, ORIGIN, np.array([0.0, 0.0, -3.0]))
    other = Push("box", 0.0, 1.0, ORIGIN, np.array([9.0, 9.0, 9.0]))
    over = Push("cup", 2.0, 3.0, ORIGIN, np.array([9.0, 9.0, 9.0]))
    wrench = pushed([side, down, other, over], "cup", 0.5, pose, center)
    np.testing.assert_allclose(wrench, [2.0, 0.0, -3.0, 0.0, 0.0, -0.2], atol=1e-12)
