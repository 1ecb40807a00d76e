"""What hands must do to a body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.geometry import table
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.sensing import plain_load
from handwright.methods.neural.sensing.load import load_of
from tests.methods.neural.sensing.test_views import two_hands_and_bodies

TIMES = np.arange(90) / 60.0
TILT = rotation.exp(np.array([0.4, -0.2, 0.1]))


def moved(height, turn=TILT):
    """A body that is turned and at these heights, m."""
    place = np.stack([np.zeros(90), np.zeros(90), height], axis=1)
    return Pose(place, np.tile(turn, (90, 1)))


def test_at_rest_the_weight_is_carried():
    problem = two_hands_and_bodies()
    load = load_of(problem, "ball", moved(np.ones(90)), TIMES)
    up = rotation.rotate(rotation.conjugate(TILT), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(load.force, np.tile(up, (90, 1)), atol=1e-9)
    assert load.friction == problem.bodies["ball"].friction


def test_in_free_fall_nothing_is_carried():
    load = load_of(two_hands_and_bodies(), "ball", moved(9.0 - 4.905 * TIMES**2), TIMES)
    np.testing.assert_allclose(load.force[10:-10], 0.0, atol=5e-3)


def test_hands_take_hold_before_the_lift():
    lift = np.maximum(TIMES - 0.5, 0.0) ** 2
    problem = replace(two_hands_and_bodies(), environment=(table(0.0),))
    vertices = problem.bodies["ball"].vertices
    lowest = rotation.rotate(TILT, vertices)[:, 2].min()
    load = load_of(problem, "ball", moved(lift - lowest), TIMES)
    first = int(np.argmax(load.is_carried))
    lifted = int(np.argmax(lift > 0.004))
    assert first == lifted - 12
    assert load.is_carried[first:].all()


@pytest.mark.parametrize("speed", [0.0, 0.1])
def test_without_surroundings_what_moves_is_carried(speed):
    load = plain_load("ball", moved(speed * TIMES))
    assert load.is_carried.all() == (speed > 0.0)
    up = rotation.rotate(rotation.conjugate(TILT), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(load.force[0], up, atol=1e-9)
