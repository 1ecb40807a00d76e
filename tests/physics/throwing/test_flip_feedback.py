"""Flips that answer how a can lies in the hand, and flips that are rehearsed."""

from dataclasses import replace

import numpy as np
import pytest

from handwright.geometry.shapes import make_shape
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.physics.throwing.arm import standing_arm
from handwright.physics.throwing.catching import long_catch
from handwright.physics.throwing.flight import Flight
from handwright.physics.throwing.flip_feedback import FlipFeedback, lie
from handwright.physics.throwing.flips import SCALES, Flip, flip_home, flip_throw, half_turns
from handwright.physics.throwing.machine import Machine, MachineSettings
from handwright.physics.throwing.rehearsal import Rehearsal, rehearsed
from handwright.physics.throwing.simulation import Simulation
from handwright.physics.throwing.spinning import Tumble


def holding(side="right"):
    can = make_shape("cylinder", radius=0.03, height=0.1, mass=0.1)
    simulation = Simulation([standing_arm(side)], {"can": replace(can, friction=0.8)})
    flip = Flip()
    found = Machine(simulation, side, "can", flip.settings(MachineSettings()))
    found.home = flip_home(found, flip)
    found.take()
    found.run()
    return found


@pytest.mark.parametrize("side", ["right", "left"])
def test_lies_are_seen_in_the_hand(side):
    machine = holding(side)
    machine.servo.rest_at(machine.home, machine.servo.fingers("cup"))
    palm, across = machine.simulation.palm(side), machine.arm.across
    seat = machine.seat + np.array([0.004, 0.003 * across, -0.002])
    axis = np.array([0.3, 0.9 * across, -0.1]) / np.sqrt(0.91)
    turn = rotation.between(np.array([0.0, 0.0, 1.0]), -axis)
    place = palm.position + rotation.rotate(palm.wxyz, seat)
    machine.simulation.place_body("can", Pose.normalized(place, rotation.multiply(palm.wxyz, turn)))
    expected = [0.004, 0.003, -0.002, axis[0], axis[2]]
    np.testing.assert_allclose(lie(machine), expected, atol=1e-9)


def test_corrections_are_linear_and_bounded():
    feedback = FlipFeedback()
    usual, spread = np.array(feedback.usual), np.array(feedback.spread)

    def by(off):
        return (feedback.corrected(Flip(), usual + off * spread).vector - Flip().vector) / SCALES

    leaning = np.eye(5)[3]
    np.testing.assert_allclose(by(leaning) - by(0.0), by(0.0) - by(-leaning), atol=1e-12)
    # A can that leans ahead gets its spin from the hand less roll.
    assert by(leaning)[5] < by(0.0)[5]
    assert np.abs(by(100.0 * np.ones(5))).max() <= feedback.most + 1e-9
    np.testing.assert_allclose(by(100.0 * leaning), by(feedback.furthest * leaning), atol=1e-9)
    assert by(leaning)[[3, 10, 11, 12, 13]] == pytest.approx(np.zeros(5))


def test_rehearsing_leaves_the_hand_as_it_was():
    machine = holding()
    before, time = machine.simulation.snapshot(), machine.simulation.time
    few = Rehearsal(tries=2, repeats=1, good=-1.0)
    flip = rehearsed(machine, Flip(), np.random.default_rng(0), rehearsal=few)
    np.testing.assert_array_equal(machine.simulation.snapshot(), before)
    assert machine.is_ready
    assert machine.simulation.time == time
    assert flip != Flip()


def test_flips_that_are_lost_are_liked_least():
    machine, rehearsal = holding(), Rehearsal()
    lost = rehearsal.cost(machine, None)
    axis = machine.axis
    machine.throw(flip_throw(machine, Flip()))
    machine.run()
    assert half_turns(machine, axis) == 1
    assert rehearsal.cost(machine, 1) < rehearsal.cost(machine, None) < lost


def test_answered_flips_chain():
    machine, rng = holding(), np.random.default_rng(3)
    for _ in range(5):
        flip = FlipFeedback().corrected(Flip(), lie(machine))
        noise = 0.03 * SCALES * rng.normal(size=len(SCALES))
        axis = machine.axis
        machine.throw(flip_throw(machine, Flip.of(flip.vector + noise)))
        machine.run()
        assert half_turns(machine, axis) == 1


def test_a_can_that_turns_too_far_is_met_sooner():
    machine = holding()
    place = machine.home.position + np.array([0.0, 0.0, 0.1])
    flight = Flight(0.0, place, np.array([0.0, 0.0, 2.8]))
    height = float(machine.arm.base.position[2]) - 0.2
    usual = flight.falls_through(height)
    across = np.array([1.0, 0.0, 0.0])

    def met(further):
        """The catch of a can that at the usual height has turned so much past level, rad."""
        spin = np.array([0.0, -5.0, 0.0])
        axis = rotation.rotate(rotation.exp(-np.array([0.0, further, 0.0])), across)
        tumble = Tumble(usual, axis, spin)
        return long_catch(machine.servo.chain, flight, tumble, machine.seat, 0.1, height)

    assert met(0.0).time == pytest.approx(usual, abs=0.01)
    assert met(0.3).time == pytest.approx(usual, abs=0.01)
    assert met(1.0).time < usual - 0.04
