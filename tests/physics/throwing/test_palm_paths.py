"""Paths of the palm, and the joints that follow them."""

import numpy as np
import pytest

from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import ARM_JOINTS, LOCKED, arm_model, standing_arm
from handwright.physics.throwing.arm_ik import PREFERRED, ArmChain
from handwright.physics.throwing.catching import palm_up
from handwright.physics.throwing.segments import PalmState, hermite, palm_path


def test_hermite_has_its_ends_and_rates():
    rng = np.random.default_rng(0)
    start, rate, end, end_rate = rng.normal(size=(4, 3))
    step = 1e-6
    share = np.array([0.0, step, 1.0 - step, 1.0])
    found = hermite(start, rate, end, end_rate, 0.4, share)
    np.testing.assert_allclose(found[[0, 3]], [start, end], atol=1e-12)
    np.testing.assert_allclose((found[1] - found[0]) / (0.4 * step), rate, atol=1e-4)
    np.testing.assert_allclose((found[3] - found[2]) / (0.4 * step), end_rate, atol=1e-4)


def test_turns_have_their_ends_and_rates():
    rng = np.random.default_rng(1)
    ends = [
        PalmState(Pose(rng.normal(size=3), rotation.random(rng)), *rng.normal(size=(2, 3)))
        for _ in range(2)
    ]
    step, lasts = 1e-6, 0.5
    path = palm_path(*ends, lasts, np.array([0.0, step, 1.0 - step, 1.0]))
    for k, end in ((0, ends[0]), (3, ends[1])):
        assert rotation.angle(path.wxyz[k], end.pose.wxyz) == pytest.approx(0.0, abs=1e-6)
    for before, after, end in ((0, 1, ends[0]), (2, 3, ends[1])):
        turn = rotation.multiply(path.wxyz[after], rotation.conjugate(path.wxyz[before]))
        np.testing.assert_allclose(rotation.log(turn) / (lasts * step), end.rate, atol=2e-3)


def test_thirty_two_joints_are_simulated():
    names = arm_model("right").joints.names
    assert names[: len(ARM_JOINTS)] == ARM_JOINTS
    assert len(set(names) - set(LOCKED)) == 32


@pytest.mark.parametrize("side", ["right", "left"])
def test_arms_follow_a_throw(side):
    arm = standing_arm(side)
    chain = ArmChain(arm)
    home = arm.beside((-0.08, 0.38, -0.39))
    wxyz = palm_up(arm, home)
    there = PalmState.resting(Pose(home, wxyz))
    still = palm_path(there, there, 1.0, np.zeros(400))
    q = chain.follow(PREFERRED, still)[0][-1]
    assert np.linalg.norm(chain.palm(q).position - home) < 5e-4
    up = PalmState(
        Pose(home + np.array([0.0, 0.0, 0.2]), wxyz), np.array([0.0, 0.0, 3.5]), np.zeros(3)
    )
    found, error = chain.follow(q, palm_path(there, up, 0.13, np.linspace(0.0, 1.0, 66)))
    assert error.max() < 1e-3
    assert (found >= chain.lower).all()
    assert (found <= chain.upper).all()


def test_a_left_arm_is_the_mirror_image():
    places = []
    for side in ("right", "left"):
        arm = standing_arm(side)
        places.append(ArmChain(arm).palm(PREFERRED).position)
    np.testing.assert_allclose(places[0], places[1] * [-1.0, 1.0, 1.0], atol=1e-9)
