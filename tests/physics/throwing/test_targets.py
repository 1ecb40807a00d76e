"""Boxes that go to and fro."""

import numpy as np

from handwright.physics.throwing.targets import BoxPath


def test_a_box_turns_where_it_should():
    box = BoxPath(np.array([1.0, 0.0, 0.0]), np.array([0.4, 0.0, 0.0]), 0.2)
    places, velocities = box.at(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    np.testing.assert_allclose(places[:, 0], [1.0, 1.2, 1.4, 1.2, 1.0, 1.2])
    np.testing.assert_allclose(velocities[[1, 3, 5], 0], [0.2, -0.2, 0.2])


def test_a_box_that_stays_stays():
    places, velocities = BoxPath.still(np.ones(3)).at(np.array([0.0, 7.0]))
    np.testing.assert_array_equal(places, np.ones((2, 3)))
    np.testing.assert_array_equal(velocities, np.zeros((2, 3)))
