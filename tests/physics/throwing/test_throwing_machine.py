"""The simulated arm: it holds, throws and catches."""

from dataclasses import replace

import numpy as np
import pytest

from handwright.core.surface import EnvironmentBox
from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.engine import mujoco
from handwright.physics.throwing.aiming import aim_at_box, throw_for_height
from handwright.physics.throwing.arm import ARM_JOINTS, Gains, standing_arm
from handwright.physics.throwing.flight import Rebound
from handwright.physics.throwing.machine import Machine, State
from handwright.physics.throwing.rally import begin_rally, hit
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.targets import BoxPath
from handwright.physics.throwing.torques import ArmDynamics
from handwright.physics.throwing.world import driven_masses

BOX = EnvironmentBox(Pose.identity(), np.full(3, 0.05), friction=0.3)


def ball(radius=0.03, mass=0.1):
    return replace(make_shape("sphere", radius=radius, mass=mass), friction=0.8)


def machine(drive="computed_torque", box=None, side="right"):
    simulation = Simulation(
        [standing_arm(side)], {"ball": ball()}, gains=Gains(drive=drive), box=box
    )
    found = Machine(simulation, side, "ball")
    found.take()
    found.run()
    return found


@pytest.mark.parametrize("direction", np.concatenate([np.eye(3), -np.eye(3)]).tolist())
def test_a_grip_holds_in_every_direction(direction):
    found = machine()
    found.servo.close(found.servo.fingers("closed"), 0.1)
    for _ in range(150):
        found.update()
        found.simulation.step()
    found.simulation.model.opt.gravity[:] = 2.0 * 9.81 * np.array(direction)
    for _ in range(200):
        found.update()
        found.simulation.step()
    assert found.has_it


def test_throws_to_heights_and_catches():
    found = machine()
    for height in (0.45, 0.95, 0.7, 0.6):
        found.throw(throw_for_height(found, height))
        top = found.run()
        assert found.has_it
        assert top - found.home.position[2] == pytest.approx(height, abs=0.03)


def test_a_left_hand_throws_too():
    found = machine(side="left")
    found.throw(throw_for_height(found, 0.6))
    found.run()
    assert found.has_it


def test_flies_freely_between_throw_and_catch():
    found = machine()
    found.throw(throw_for_height(found, 0.8))
    free = []
    while not found.is_ready:
        found.update()
        found.simulation.step()
        if not found.simulation.touches("right", "ball"):
            free.append(float(found.simulation.body("ball").velocity[2]))
    falls = np.diff(free) / found.simulation.timestep
    # Some steps are not neighbours; all others fall as things do.
    assert np.median(falls) == pytest.approx(-9.81, abs=1e-6)
    assert len(free) * found.simulation.timestep > 0.4


def test_hits_a_box_and_catches_what_comes_back():
    found = machine(box=BOX)
    place = found.usual_home + np.array([0.0, 0.42, 0.60])
    assert begin_rally(found, BoxPath.still(place), 0.05)
    assert all(hit(found, BoxPath.still(place), 0.05) for _ in range(3))


def test_hits_a_box_on_the_other_side():
    found = machine(box=BOX)
    box = BoxPath.still(found.usual_home + np.array([-0.26, 0.45, 0.55]))
    assert begin_rally(found, box, 0.05)
    assert found.home.position[0] < found.usual_home[0] - 0.1
    assert all(hit(found, box, 0.05) for _ in range(2))


def test_hits_a_box_that_moves():
    found = machine(box=BOX)
    start = found.usual_home + np.array([-0.1, 0.42, 0.60])
    box = BoxPath(start, np.array([0.3, 0.0, 0.1]), 0.2)
    assert begin_rally(found, box, 0.05)
    assert all(hit(found, box, 0.05) for _ in range(3))


def test_no_throw_leads_to_a_box_behind_the_back():
    found = machine(box=BOX)
    behind = BoxPath.still(found.usual_home + np.array([0.0, -1.0, 0.3]))
    assert aim_at_box(found, behind, 0.05) is None


def test_a_snapshot_goes_on_alike():
    found = machine()
    found.throw(throw_for_height(found, 0.7))
    saved = found.snapshot()
    tops = []
    for _ in range(2):
        tops.append(found.run())
        found.restore(saved)
        assert found.state is State.THROW
    assert tops[0] == tops[1]


def test_springs_alone_are_those_of_the_thesis():
    found = machine("pd")
    index = found.simulation.arms["right"]
    count = len(ARM_JOINTS)
    mass = driven_masses(index.arm.model)[:count]
    np.testing.assert_allclose(index.stiffness[:count], 500.0 * mass**2 + 0.1)
    np.testing.assert_allclose(index.damping[:count], 0.2 * mass)


def test_torques_are_those_of_inverse_dynamics():
    dynamics = ArmDynamics(standing_arm())
    rng = np.random.default_rng(0)
    q, rate, acceleration = rng.normal(size=(3, 1, 7)) * [[[0.3]], [[1.0]], [[5.0]]]
    found = dynamics.torques(q, rate, acceleration)
    model, data = dynamics._model, dynamics._data
    data.qpos[:], data.qvel[:], data.qacc[:] = q[0], rate[0], acceleration[0]
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(found[0], data.qfrc_inverse, atol=1e-9)


def test_palms_look_up_at_home():
    found = machine()
    up = rotation.rotate(found.simulation.palm("right").wxyz, np.array([0.0, 0.0, -1.0]))
    assert up[2] > 0.99


def test_boxes_throw_back_as_the_planner_expects():
    simulation = Simulation([standing_arm()], {"ball": ball()}, box=BOX)
    simulation.place_box(BoxPath.still(np.array([0.0, 2.0, 2.0])))
    simulation.place_body("ball", Pose(np.array([0.0, 1.8, 2.0]), np.array([1.0, 0.0, 0.0, 0.0])))
    before = np.array([0.2, 1.6, 0.5])
    simulation.data.qvel[-6:-3] = before
    while not simulation.hits_box("ball"):
        before = simulation.body("ball").velocity
        simulation.step()
    while simulation.hits_box("ball"):
        simulation.step()
    after = simulation.body("ball").velocity
    wanted = Rebound().after(before, np.array([0.0, -1.0, 0.0]))
    assert after[1] == pytest.approx(wanted[1], rel=0.05)
    assert np.linalg.norm((after - wanted)[[0, 2]]) < 0.1
