"""Long things that turn in flight."""

from dataclasses import replace

import numpy as np
import pytest

from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import standing_arm
from handwright.physics.throwing.flips import SCALES, Flip, flip_home, flip_throw, half_turns
from handwright.physics.throwing.machine import Machine, MachineSettings
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.spinning import Tumble, laid_across, long_axis


def can():
    made = make_shape("cylinder", radius=0.03, height=0.1, mass=0.1)
    return replace(made, friction=0.8)


def test_cans_are_long_and_balls_are_not():
    assert abs(long_axis(can())[2]) == pytest.approx(1.0)
    assert long_axis(make_shape("sphere", radius=0.03, mass=0.1)) is None


def test_axes_turn_as_predicted():
    simulation = Simulation([standing_arm()], {"can": can()})
    rng = np.random.default_rng(0)
    start = Pose(np.array([0.0, 2.0, 3.0]), rotation.random(rng))
    simulation.place_body("can", start)
    simulation.data.qvel[-3:] = [2.0, -7.0, 3.0]
    state = simulation.body("can")
    own = long_axis(can())
    tumble = Tumble.of(can(), own, state.pose.wxyz, state.rate, simulation.time)
    for _ in range(150):
        simulation.step()
    axis = rotation.rotate(simulation.body("can").pose.wxyz, own)
    predicted = tumble.at(np.array([simulation.time]))[0]
    assert np.arccos(np.clip(axis @ predicted, -1.0, 1.0)) < 0.03


def test_palms_are_turned_across_an_axis_but_not_too_far():
    rng = np.random.default_rng(1)
    wxyz, axis = rotation.random(rng), np.array([0.6, 0.8, 0.0])
    turned = laid_across(wxyz, axis, np.pi)
    assert abs(rotation.rotate(turned, np.array([0.0, 1.0, 0.0])) @ axis) == pytest.approx(1.0)
    assert rotation.angle(wxyz, laid_across(wxyz, axis, 0.1)) <= 0.1 + 1e-9


def test_constants_of_a_flip_are_a_vector():
    assert Flip.of(Flip().vector) == Flip()
    assert SCALES.shape == Flip().vector.shape


def test_a_can_turns_over_in_free_flight():
    flip = Flip()
    simulation = Simulation([standing_arm()], {"can": can()})
    found = Machine(simulation, "right", "can", flip.settings(MachineSettings()))
    found.home = flip_home(found, flip)
    found.take()
    found.run()
    before = found.axis
    found.throw(flip_throw(found, flip))
    found.run()
    assert half_turns(found, before) == 1
    assert np.degrees(found.turned) == pytest.approx(180.0, abs=40.0)
