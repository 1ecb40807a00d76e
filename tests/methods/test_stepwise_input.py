"""Bad input of stepping: a clear error or a dropped body, never a crash or NaN."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from handwright.core.events import Push
from handwright.core.goal import Feature, Goal
from handwright.methods.stepwise.session import Session

STEP = 1.0 / 30.0


@pytest.fixture(scope="module")
def problem():
    return hw.load_scene("lift_expected")


def all_finite(moment):
    bodies = all(np.isfinite(pose.position).all() for pose in moment.bodies.values())
    return bodies and all(np.isfinite(q).all() for _, q in moment.hands.values())


def test_a_style_that_cannot_hold_the_body_is_infeasible_and_says_why(problem):
    wide = hw.make_shape("box", width=0.3, depth=0.3, height=0.3)
    start = hw.Pose(np.array([0.0, 0.0, 0.9]), np.array([1.0, 0.0, 0.0, 0.0]))
    grip = replace(problem.grips[0], style="tripod")
    big = replace(
        problem,
        bodies={"box": replace(wide, name="box")},
        start={**problem.start, "box": start},
        goals=(),
        grips=(grip,),
    )
    result = hw.synthesize(big, hw.Stepwise())
    assert result.status is hw.Status.INFEASIBLE
    assert "tripod" in result.message
    assert "Try another style" in result.message


def test_an_unknown_style_is_named_with_those_there_are(problem):
    grip = replace(problem.grips[0], style="chopsticks")
    with pytest.raises(hw.HandwrightError, match=r"chopsticks.*precision"):
        Session(replace(problem, grips=(grip,)))


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan])
def test_bodies_without_a_mass_are_refused(mass):
    with pytest.raises(hw.HandwrightError, match="mass"):
        hw.make_shape("box", width=0.1, depth=0.1, height=0.1, mass=mass)


@pytest.mark.parametrize("place", [[np.nan, 0.0, 1.0], [np.inf, 0.0, 1.0]])
def test_goals_that_are_no_numbers_are_refused(place):
    with pytest.raises(hw.HandwrightError, match="position must be three finite numbers"):
        Goal(Feature("box"), 0.0, 1.0, position=np.array(place))


@pytest.mark.parametrize("step", [np.nan, 0.0, -STEP])
def test_frames_that_take_no_time_are_refused(problem, step):
    with pytest.raises(hw.HandwrightError, match="step is"):
        Session(replace(problem, grips=(), goals=())).step(step)


@pytest.fixture
def held(problem):
    """A hand that holds the box on the table."""
    return Session(problem)


def test_a_goal_inside_the_table_presses_the_body_on_it_and_no_deeper(held):
    inside = Goal(Feature("box"), 1.0, 2.0, position=np.array([0.0, 0.0, 0.6]))
    for _ in range(60):
        moment = held.step(goals=[inside])
        assert all_finite(moment)
    corners = moment.bodies["box"].apply(held.problem.bodies["box"].vertices)
    assert corners[:, 2].min() > 0.75 - 1e-3
    assert held.tally.infeasible == 0


def test_a_goal_out_of_reach_is_gone_for_as_far_as_the_arm_goes(held):
    far = Goal(Feature("box"), 1.0, 2.0, position=np.array([0.0, 3.0, 1.0]))
    for _ in range(60):
        assert all_finite(held.step(goals=[far]))
    assert held.tally.infeasible == 0


def test_a_push_beyond_all_measure_tears_the_body_away(held):
    push = Push("box", 0.1, 0.2, np.zeros(3), np.array([1e6, 0.0, 0.0]))
    for _ in range(40):
        moment = held.step(pushes=[push])
        assert all_finite(moment)
    assert not any(contact.toucher == "right" for contact in moment.contacts)
