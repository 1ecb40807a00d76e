"""Mass matrices and velocity forces of hands."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.hands import human, trident
from handwright.physics.hand_dynamics import HandDynamics

STEP = 1e-5


@pytest.mark.parametrize("is_free", [False, True])
@pytest.mark.parametrize("model", [human(), trident()], ids=["human", "trident"])
def test_velocity_forces_grow_with_the_square_of_the_speed(model, is_free):
    dynamics, rng = HandDynamics(model, is_free=is_free), np.random.default_rng(1)
    q = model.joints.clamp(model.pose("rest") + rng.normal(0.0, 0.2, model.num_joints))
    velocity = rng.normal(size=dynamics.num_velocities)
    place, wxyz = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    _, still = dynamics.at(q, 0.0 * velocity, place, wxyz)
    _, once = dynamics.at(q, velocity, place, wxyz)
    _, twice = dynamics.at(q, 2.0 * velocity, place, wxyz)
    np.testing.assert_allclose(still, 0.0, atol=1e-12)
    assert np.abs(once).max() > 1e-6
    np.testing.assert_allclose(twice, 4.0 * once, rtol=1e-6, atol=1e-9)


def test_velocity_forces_do_the_work_that_the_changing_mass_matrix_asks_for():
    """Without other forces the energy v' M v / 2 stays: v' c = v' (dM/dt) v / 2."""
    model = human()
    dynamics, rng = HandDynamics(model, is_free=False), np.random.default_rng(2)
    q = model.joints.clamp(model.pose("rest") + rng.normal(0.0, 0.2, model.num_joints))
    velocity = rng.normal(size=dynamics.num_velocities)
    place, wxyz = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    _, force = dynamics.at(q, velocity, place, wxyz)
    before, after = (
        dynamics.at(q + sign * STEP * velocity, velocity, place, wxyz)[0].copy()
        for sign in (-1.0, 1.0)
    )
    rate = (after - before) / (2.0 * STEP)
    assert velocity @ force == pytest.approx(0.5 * velocity @ rate @ velocity, rel=1e-4)
