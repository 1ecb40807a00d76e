"""Joint torques by virtual work."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.hands import human, trident
from handwright.kinematics import link_poses, point_jacobians
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.mechanics import gravity_torques, joint_torques, torque_maps

HANDS = {"right": human(), "arm": human("left", arm=True), "trident": trident()}


@pytest.mark.parametrize("name", HANDS)
def test_work_of_the_torques_is_the_work_of_the_forces(name):
    model, rng = HANDS[name], np.random.default_rng(0)
    q = model.joints.random(rng)
    link = np.array([digit.tip.link for digit in model.digits])
    local = rng.normal(size=(len(link), 3)) * 0.02
    root = Pose(rng.normal(size=3), rotation.random(rng))
    forces = rng.normal(size=(len(link), 3))

    def places(values):
        return point_jacobians(model, values, link, local, root)[0]

    torque = joint_torques(model, q, link, places(q), forces, root)
    assert np.abs(torque).max() > 1e-3
    for joint in range(model.num_joints):
        step = np.zeros(model.num_joints)
        step[joint] = 1e-6
        work = -np.sum(forces * (places(q + step) - places(q - step))) / 2e-6
        assert torque[joint] == pytest.approx(work, abs=1e-8)


def test_a_fingertip_that_presses_is_pushed_open():
    model = HANDS["right"]
    q = np.zeros(model.num_joints)
    digit = model.digits[1]
    link = np.array([digit.tip.link])
    point, jacobian, _ = point_jacobians(model, q, link, np.zeros((1, 3)))
    # A flat hand presses on a table under the palm (-z): all flexion joints are pushed back.
    torque = joint_torques(model, q, link, point, np.array([[0.0, 0.0, -1.0]]))
    flexing = jacobian[0, 2] < -1e-4
    assert flexing.sum() >= 3
    assert np.all(torque[flexing] < 0.0)


def test_no_contacts_and_nonsense():
    model = HANDS["right"]
    q, none = np.zeros(model.num_joints), np.zeros((0, 3))
    np.testing.assert_array_equal(joint_torques(model, q, np.zeros(0, dtype=int), none, none), 0.0)
    one = np.zeros((1, 3))
    with pytest.raises(InvalidValueError, match="shapes"):
        joint_torques(model, q, np.array([1]), none, one)
    with pytest.raises(InvalidValueError, match="NaN"):
        joint_torques(model, q, np.array([1]), one, one * np.nan)
    with pytest.raises(InvalidValueError, match="link holds"):
        joint_torques(model, q, np.array([999]), one, one)


@pytest.mark.parametrize("name", HANDS)
def test_maps_of_many_contacts_give_the_torques_of_each(name):
    model, rng = HANDS[name], np.random.default_rng(1)
    q = model.joints.random(rng, (7,))
    link = rng.integers(0, model.num_links, 7)
    points, forces = rng.normal(size=(7, 3)) * 0.1, rng.normal(size=(7, 3))
    root = Pose(rng.normal(size=(7, 3)), rotation.random(rng, (7,)))
    maps = torque_maps(model, q, link, points, root)
    for n in range(7):
        row = slice(n, n + 1)
        one = joint_torques(model, q[n], link[row], points[row], forces[row], root[n])
        np.testing.assert_allclose(maps[n] @ forces[n], -one, atol=1e-12)


@pytest.mark.parametrize("name", HANDS)
def test_holding_the_hand_up_is_the_slope_of_its_height_energy(name):
    model, rng = HANDS[name], np.random.default_rng(2)
    gravity = np.array([1.0, -2.0, -9.0])
    q = model.joints.random(rng)
    root = Pose(rng.normal(size=3), rotation.random(rng))

    def energy(values):
        turns, places = link_poses(model, values, root)
        center = places + np.einsum("lij,lj->li", turns, model.masses.center)
        return -model.masses.mass @ (center @ gravity)

    torque = gravity_torques(model, q[None], gravity, root[None])[0]
    for joint in range(model.num_joints):
        step = np.zeros(model.num_joints)
        step[joint] = 1e-6
        slope = (energy(q + step) - energy(q - step)) / 2e-6
        assert torque[joint] == pytest.approx(slope, abs=1e-7)
