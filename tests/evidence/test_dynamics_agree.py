"""The judge and the methods ask for the same forces, by code of their own."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.core.track import Track
from handwright.evidence.certificate import dynamics
from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import required_wrench


@pytest.mark.parametrize("cutoff", [None, 8.0, 5.0])
def test_noisy_tracks_ask_for_the_same_wrench(cutoff):
    rng = np.random.default_rng(3)
    times = np.arange(60) / 30.0
    body = make_shape("mug")
    turn = np.cumsum(0.02 * rng.normal(size=(60, 3)), axis=0)
    pose = Pose(
        np.cumsum(2e-3 * rng.normal(size=(60, 3)), axis=0) + 3e-4 * rng.normal(size=(60, 3)),
        rotation.exp(turn),
    )
    gravity = np.array([0.0, 0.0, -9.81])
    mine = required_wrench(Track(times, pose), body, gravity=gravity, cutoff_hz=cutoff)
    judge = dynamics.required_wrench(body, pose, times, gravity, smoothing_hz=cutoff)
    weight = 9.81 * body.mass
    np.testing.assert_allclose(mine.force, judge.force, atol=1e-6 * weight)
    np.testing.assert_allclose(mine.moment, judge.moment, atol=1e-6 * weight * 0.1)
