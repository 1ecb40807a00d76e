"""Bounds of joint velocities: joints stop at their limits."""

from __future__ import annotations

import numpy as np

from handwright.methods.stepwise.qp.joint_bounds import stoppable

STEP = 1.0 / 30.0


def test_a_joint_that_goes_as_fast_as_it_may_stops_at_its_limit():
    room, speeds = 1.0, []
    for _ in range(60):
        speeds.append(float(stoppable(np.array([room]), STEP)[0]))
        room -= STEP * speeds[-1]
        assert room >= 0.0
    assert room < 1e-3
    braking = -np.diff(speeds) / STEP
    assert braking.max() < 15.0 * 1.05
    # Beyond its limit it comes back.
    assert stoppable(np.array([-0.01]), STEP)[0] < 0.0
