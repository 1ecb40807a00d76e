"""What fingers are meant to do in a play."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.hands import human
from handwright.learning.data.guides import _postures
from handwright.learning.data.play import Actor, Station
from handwright.math.pose import Pose

TIMES = np.arange(0.0, 4.0, 1.0 / 60.0)


@pytest.fixture
def model():
    return human()


def test_a_hand_holds_with_the_planned_posture_and_is_at_rest_before_and_after(model):
    held = model.joints.clamp(model.pose("pinch"))
    hold = Station(Pose.identity(), "box", since=1.5, until=2.5, posture=held)
    q = _postures(model, Actor([Station(Pose.identity()), hold]), TIMES)
    np.testing.assert_allclose(q[0], model.joints.clamp(model.pose("rest")), atol=1e-12)
    during = (TIMES >= 1.5) & (TIMES <= 2.5)
    np.testing.assert_allclose(q[during], np.tile(held, (during.sum(), 1)), atol=1e-9)
    np.testing.assert_allclose(q[-1], model.joints.clamp(model.pose("rest")), atol=1e-9)
    # No joint is faster than hands are, and none leaps.
    assert np.abs(np.diff(q, axis=0)).max() * 60.0 < 12.0


def test_fingers_open_wider_than_the_hold_before_they_close(model):
    held = model.joints.clamp(model.pose("pinch"))
    hold = Station(Pose.identity(), "box", since=1.5, posture=held)
    q = _postures(model, Actor([hold]), TIMES)
    bend = model.joints.index("index_mcp_flexion")
    before = q[np.searchsorted(TIMES, 1.2), bend]
    assert before < held[bend]
    np.testing.assert_allclose(q[-1], held, atol=1e-9)
