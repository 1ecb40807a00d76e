"""Free flight, rebounds, and throws that lead somewhere."""

import numpy as np
import pytest

from handwright.physics.throwing.flight import GRAVITY, Flight, Rebound


def test_flight_is_a_parabola():
    flight = Flight(1.0, np.array([0.1, 0.2, 1.0]), np.array([0.3, -0.2, 3.0]))
    place, velocity = flight.at(1.5)
    np.testing.assert_allclose(place, [0.25, 0.1, 1.0 + 1.5 - 0.125 * GRAVITY])
    np.testing.assert_allclose(velocity, [0.3, -0.2, 3.0 - 0.5 * GRAVITY])
    assert flight.top == pytest.approx(1.0 + 9.0 / (2.0 * GRAVITY))


def test_falls_through_a_height_on_its_way_down():
    flight = Flight(2.0, np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 2.0]))
    time = flight.falls_through(1.1)
    place, velocity = flight.at(time)
    assert place[2] == pytest.approx(1.1)
    assert velocity[2] < 0.0
    assert flight.falls_through(flight.top + 0.01) is None


def test_places_along_a_flight_are_those_at_each_time():
    flight = Flight(0.2, np.array([0.1, 0.4, 1.2]), np.array([0.0, 0.8, 1.5]))
    places, velocities = flight.along(np.array([0.3, 0.5]))
    np.testing.assert_allclose(places[1], flight.at(0.5)[0])
    np.testing.assert_allclose(velocities[0], flight.at(0.3)[1])


def test_rebound_turns_what_goes_into_the_face():
    after = Rebound(0.8, 0.9).after(np.array([0.5, 2.0, -1.0]), np.array([0.0, -1.0, 0.0]))
    np.testing.assert_allclose(after, [0.45, -1.6, -0.9])
