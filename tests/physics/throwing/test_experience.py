"""A hand learns from its own throws."""

import numpy as np

from handwright.physics.throwing.experience import Experience


def test_knowing_nothing_asks_for_what_is_wanted():
    assert Experience().asked(0.6, np.zeros(3)) == 0.6


def test_errors_that_follow_height_and_seat_are_learned():
    rng, experience = np.random.default_rng(0), Experience()

    def error(height, seat):
        return 0.02 + 0.03 * (height - 0.7) + 0.8 * seat[0] + rng.normal(0.0, 1e-4)

    misses = []
    for _ in range(60):
        height, seat = rng.uniform(0.4, 1.0), rng.normal(0.0, 0.004, 3)
        asked = experience.asked(height, seat)
        found = error(asked, seat)
        misses.append(abs(asked + found - height))
        experience.learn(asked, seat, found)
    assert misses[0] > 0.01
    assert np.mean(misses[-20:]) < 1e-3


def test_another_thing_is_expected_to_go_alike_and_is_learned_faster():
    usual, seat = Experience(), np.zeros(3)
    for height in np.linspace(0.4, 1.0, 60):
        usual.learn(float(height), seat, 0.01)
    other = usual.of_another_thing()
    assert other.asked(0.7, seat) == usual.asked(0.7, seat)
    for experience in (usual, other):
        experience.learn(0.7, seat, 0.05)
    assert other.asked(0.7, seat) < usual.asked(0.7, seat) - 0.01
