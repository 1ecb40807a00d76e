"""Scenes with grips: what is held and pushed, and what hands believe."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import handwright as hw
from handwright.grasping.grip_styles import GRIP_STYLES
from handwright.methods import default_method
from handwright.scenes import goal_scenes

CUPS = ("cup_pushed_fast", "cup_pushed_slow")
BELIEFS = {"lift_light": 0.5, "lift_expected": 1.0, "lift_heavy": 1.5}
SOAPS = ("soap_slips", "soap_held")
ONE_HAND = ("lift_book", "lift_cup", *CUPS, "gift_box_pushed", *BELIEFS, *SOAPS)
TWO_HANDS = ("hammer_nail", "pour_wine")
NAMES = (*ONE_HAND, *TWO_HANDS)
EVERY = pytest.mark.parametrize("name", NAMES)
TABLE = 0.75

load = functools.cache(hw.load_scene)


def test_the_wanted_scenes_are_there():
    assert {name for name, scene in goal_scenes().items() if scene.has_grips} == set(NAMES)


@EVERY
def test_every_body_is_taken_by_a_hand_on_an_arm_at_30_frames_a_second(name):
    problem = load(name)
    assert default_method(problem) == "stepwise"
    assert {grip.body for grip in problem.grips} == set(problem.bodies)
    assert {grip.hand for grip in problem.grips} == set(problem.hands)
    assert {grip.style for grip in problem.grips} <= set(GRIP_STYLES)
    assert all(model.name.endswith("_arm") for model in problem.hands.values())
    np.testing.assert_allclose(np.diff(problem.times), 1.0 / 30.0)
    assert len(problem.hands) == (2 if name in TWO_HANDS else 1)


@EVERY
def test_bodies_stand_on_the_table(name):
    problem = load(name)
    for body, shape in problem.bodies.items():
        corners = problem.start[body].apply(shape.vertices)
        if body in ("hammer", "nail"):  # They are in the hands.
            assert corners[:, 2].min() > TABLE + 1e-3
            continue
        assert corners[:, 2].min() == pytest.approx(TABLE, abs=1e-4)


def test_cups_are_pushed_alike_with_three_times_their_weight():
    fast, slow = map(load, CUPS)
    for problem in (fast, slow):
        (push,) = problem.pushes
        weight = 9.81 * problem.bodies["cup"].mass
        assert np.linalg.norm(push.force) == pytest.approx(3.0 * weight, rel=0.01)
        (goal,) = problem.goals
        np.testing.assert_allclose(goal.wxyz, problem.start["cup"].wxyz, atol=1e-12)
        assert goal.start < push.start < push.end < goal.end - 1.0
    assert fast.grips[0].response == 0.75
    assert slow.grips[0].response == 0.5
    np.testing.assert_array_equal(fast.pushes[0].force, slow.pushes[0].force)


def test_lifts_differ_in_the_believed_mass_alone():
    for name, share in BELIEFS.items():
        problem, other = load(name), load("lift_expected")
        assert problem.grips[0].believed_mass == share
        (body,) = problem.bodies
        assert problem.bodies[body].mass == other.bodies[body].mass
        np.testing.assert_array_equal(problem.goals[0].position, other.goals[0].position)


def test_the_soap_is_believed_to_be_rougher_by_a_hand_that_does_not_learn():
    slips, held = map(load, SOAPS)
    assert slips.grips[0].believed_friction > 1.0 == held.grips[0].believed_friction
    assert slips.grips[0].response == 0.0 < held.grips[0].response
    assert slips.bodies["soap"].friction == held.bodies["soap"].friction
