"""Goal errors and touches outside their spans, on clips with planted errors."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scripted_clips import (
    UPRIGHT,
    floating,
    lift_clip,
    moved,
    shifted,
    throw_clip,
    with_body,
    with_hand,
)

from handwright.core.contact import Contact, ContactMode, ContactTrack
from handwright.core.events import TouchSpan
from handwright.core.goal import Feature, Goal
from handwright.core.tolerances import GoalTolerances
from handwright.evidence import evaluate
from handwright.evidence.metrics.goals import (
    goal_errors,
    missed_goals,
    touch_excess,
    worst_goal_error,
)
from handwright.kinematics import posed_tips
from handwright.math import rotation
from handwright.math.pose import Pose

TOP = np.array([0.05, 0.08, 0.2])
TURN = rotation.exp(np.array([0.0, 0.2, 0.6]))


def with_goals(clip, *goals, touches=()):
    return replace(clip, problem=replace(clip.problem, goals=goals, touches=touches))


def lifted(*goals):
    """The ball rests at ``TOP``, turned by ``TURN``, from 0.9 s on."""
    asked = goals or (Goal(Feature("ball"), 0.9, 1.0, position=TOP, wxyz=TURN),)
    return with_goals(lift_clip(), *asked)


def changed(pose, frame, *, shift=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    position, wxyz = pose.position.copy(), pose.wxyz.copy()
    position[frame] += shift
    wxyz[frame] = rotation.multiply(rotation.exp(np.array(turn)), wxyz[frame])
    return Pose(position, wxyz)


def test_a_goal_that_is_met_has_no_error():
    (error,) = goal_errors(lifted())
    assert error.number == 0
    assert error.position_mm == pytest.approx(0.0, abs=1e-9)
    assert error.angle_deg == pytest.approx(0.0, abs=1e-5)


def test_missed_goals_are_told_with_what_is_allowed():
    assert missed_goals(lifted(), GoalTolerances()) == []
    high = Goal(Feature("ball"), 0.9, 1.0, position=TOP + np.array([0.0, 0.0, 0.02]), wxyz=TURN)
    said = "'ball' is 20 mm (allowed 5) from its goal at 0.9 to 1 s."
    assert missed_goals(lifted(high), GoalTolerances()) == [said]
    assert missed_goals(lifted(high), GoalTolerances(position=0.021)) == []
    early = Goal(Feature("ball"), 0.0, 1.0, position=TOP, wxyz=TURN)
    assert missed_goals(lifted(early), GoalTolerances())
    assert missed_goals(lifted(early), GoalTolerances(at_end=True)) == []
    turned = Goal(Feature("ball"), 1.0, 1.0, wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
    (text,) = missed_goals(lifted(turned), GoalTolerances())
    assert "36.2 degrees (allowed 5)" in text


@pytest.mark.parametrize("frame", [36, 38, 40])
def test_one_bad_frame_within_the_span_is_found(frame):
    clip = lifted()
    pose = changed(clip.bodies["ball"], frame, shift=(0.0, -0.003, 0.004), turn=(0.1, 0.0, 0.0))
    (error,) = goal_errors(with_body(clip, pose))
    assert error.position_mm == pytest.approx(5.0)
    assert error.angle_deg == pytest.approx(math.degrees(0.1))


def test_a_bad_frame_before_the_span_does_not_count():
    clip = lifted()
    pose = changed(clip.bodies["ball"], 34, shift=(0.0, 0.0, 0.05))
    assert worst_goal_error(with_body(clip, pose)) == pytest.approx((0.0, 0.0), abs=1e-5)


def test_what_is_not_asked_for_is_nan_and_not_the_worst():
    clip = lifted(
        Goal(Feature("ball"), 1.0, 1.0, position=TOP + np.array([0.0, 0.0, 0.002])),
        Goal(
            Feature("ball"), 1.0, 1.0, wxyz=rotation.multiply(TURN, rotation.exp([0.0, 0.2, 0.0]))
        ),
    )
    place, turn = goal_errors(clip)
    assert math.isnan(place.angle_deg)
    assert math.isnan(turn.position_mm)
    assert worst_goal_error(clip) == pytest.approx((2.0, math.degrees(0.2)))


def test_a_moment_between_two_frames_is_interpolated():
    clip = throw_clip()
    t = 0.5 * (clip.times[10] + clip.times[11])
    middle = clip.bodies["ball"].position[10:12].mean(axis=0)
    wanted = middle + np.array([0.0, 0.001, 0.0])
    clip = with_goals(clip, Goal(Feature("ball"), t, t, position=wanted))
    assert worst_goal_error(clip)[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("rate", "error"), [(3.0, 0.0), (2.8, 0.1)])
def test_a_turning_goal_is_followed(rate, error):
    goal = Goal(Feature("ball"), 0.0, 0.5, wxyz=UPRIGHT, spin=np.array([rate, 0.0, 0.0]))
    assert worst_goal_error(with_goals(throw_clip(), goal))[1] == pytest.approx(
        math.degrees(error), abs=1e-4
    )


def test_points_of_bodies_and_frames_of_hands():
    clip = lift_clip()
    hand, model = clip.hands["hand"], clip.problem.hands["hand"]
    tip = posed_tips(model, hand.q, hand.root).position[:, 1]
    frame = model.digits[1].name + "_tip"
    assert frame in model.frames.names
    ball = clip.bodies["ball"]
    corner = np.array([0.01, 0.02, 0.03])
    local = ball.inverse().apply(tip)
    clip = with_goals(
        clip,
        Goal(Feature("hand", frame), 0.5, 0.5, position=tip[20]),
        # The fingertip stays where it is on the ball, however that moves.
        Goal(Feature("hand", frame), 0.0, 1.0, position=local[0], relative_to="ball"),
        Goal(Feature("ball", point=corner), 0.5, 0.5, position=ball[20].apply(corner)),
        Goal(Feature("hand"), 0.5, 0.5, position=hand.root.position[20], wxyz=hand.root.wxyz[20]),
    )
    assert worst_goal_error(clip) == pytest.approx((0.0, 0.0), abs=1e-4)
    slipped = with_hand(clip, root=shifted(hand.root, [0.0, 0.004, 0.0]))
    errors = [error.position_mm for error in goal_errors(slipped)]
    assert errors == pytest.approx([4.0, 4.0, 0.0, 4.0], abs=1e-6)


def test_a_clip_that_ends_before_its_goal_misses_it():
    clip = lifted()
    short = replace(
        clip,
        times=clip.times[:38],
        hands={"hand": replace(clip.hands["hand"], root=clip.hands["hand"].root[:38],
                               q=clip.hands["hand"].q[:38])},
        bodies={"ball": clip.bodies["ball"][:38]},
    )  # fmt: skip
    assert worst_goal_error(short) == (math.inf, math.inf)


def test_moving_the_world_moves_the_error_of_a_goal_in_the_world_only():
    clip = lift_clip()
    hand = clip.hands["hand"].root
    local = clip.bodies["ball"].inverse() @ hand
    goals = (
        Goal(Feature("ball"), 0.9, 1.0, position=TOP),
        Goal(Feature("hand"), 0.0, 1.0, position=local.position[0], relative_to="ball"),
    )
    away = moved(with_goals(clip, *goals), Pose(np.array([0.0, 0.3, 0.4]), UPRIGHT))
    world, relative = (error.position_mm for error in goal_errors(away))
    assert world == pytest.approx(500.0)
    assert relative == pytest.approx(0.0, abs=1e-6)


def listed(clip, frames):
    """The clip with contacts of the hand in some frames."""
    contacts = [
        Contact(t, "hand", 0, "ball", np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.0,
                np.array([0.0, 0.0, 1.0]), ContactMode.STATIC)
        for t in frames
    ]  # fmt: skip
    return replace(clip, contacts=ContactTrack.of(contacts))


def test_hands_without_spans_may_touch_at_any_time():
    assert touch_excess(listed(lift_clip(), range(41))) == 0.0


def test_contacts_outside_their_span_are_counted():
    # Frames are 0.025 s apart; those beside the span are not counted.
    spans = (TouchSpan("hand", 0.25, 0.5), TouchSpan("hand", 0.75, 1.0))
    clip = with_goals(floating(lift_clip()), touches=spans)
    assert touch_excess(listed(clip, [*range(9, 22), *range(29, 41)])) == 0.0
    assert touch_excess(listed(clip, [9, 22, 23, 24])) == pytest.approx(0.075)


def test_a_hand_in_a_body_touches_it_whatever_the_clip_lists():
    held = with_goals(lift_clip(), touches=(TouchSpan("hand", 0.0, 0.5),))
    assert touch_excess(floating(held)) == 0.0
    # The ball comes a centimetre into the hand in five frames after the span.
    pose = held.bodies["ball"]
    away = shifted(pose, [0.0, 0.0, -0.5])
    position = away.position.copy()
    position[30:35] = pose.position[30:35] + np.array([0.0, 0.0, 0.01])
    assert touch_excess(with_body(held, Pose(position, away.wxyz))) == pytest.approx(0.125)


def test_evaluate_lists_goals_where_there_are_some():
    names = {metric.name for metric in evaluate(lift_clip()).metrics}
    assert "goal_distance" not in names
    clip = lifted(Goal(Feature("ball"), 1.0, 1.0, position=TOP + np.array([0.0, 0.003, 0.0])))
    report = evaluate(clip)
    assert report["goal_distance"] == pytest.approx(3.0)
    assert report["goal_angle"] == 0.0
    assert report["touch_outside_spans"] == 0.0


def test_only_what_matters_is_measured():
    asked = [
        Goal(Feature("ball"), 0.9, 1.0, position=TOP + np.array([0.5, -0.5, 0.003]), axes="z"),
        Goal(Feature("ball"), 0.9, 1.0, wxyz=TURN, axis=np.array([0.0, 0.0, 2.0])),
        Goal(Feature("ball"), 0.9, 1.0, velocity=np.array([9.0, 0.0, 0.04]), axes="yz"),
        Goal(Feature("ball"), 0.9, 1.0, spin=np.array([0.0, 0.0, 0.1])),
    ]
    height, upright, speed, spin = goal_errors(lifted(*asked))
    assert height.position_mm == pytest.approx(3.0)
    assert upright.angle_deg == pytest.approx(0.0, abs=1e-5)
    # The ball rests there.
    assert speed.speed_m_s == pytest.approx(0.04)
    assert spin.spin_deg_s == pytest.approx(math.degrees(0.1))
    assert np.isnan([height.angle_deg, height.speed_m_s, speed.position_mm, speed.spin_deg_s]).all()
    # A turn about the axis is no error; one across it is.
    own = rotation.multiply(TURN, rotation.exp(np.array([0.0, 0.0, 1.0])))
    across = rotation.multiply(TURN, rotation.exp(np.array([0.2, 0.0, 0.0])))
    errors = goal_errors(lifted(replace(asked[1], wxyz=own), replace(asked[1], wxyz=across)))
    assert [e.angle_deg for e in errors] == pytest.approx([0.0, math.degrees(0.2)], abs=1e-5)


def test_velocities_of_a_throw_are_measured():
    clip = throw_clip()
    times, place = clip.times, clip.bodies["ball"].position
    flying = np.diff(place, axis=0) / np.diff(times)[:, None]
    row = len(flying) // 2
    moment = 0.5 * (times[row] + times[row + 1])
    goal = Goal(Feature("ball"), moment, moment, velocity=flying[row] + [0.0, 0.3, 0.0])
    thrown = with_goals(clip, goal)
    assert goal_errors(thrown)[0].speed_m_s == pytest.approx(0.3)
    named = {metric.name: metric.value for metric in evaluate(thrown).metrics}
    assert named["goal_speed"] == pytest.approx(0.3)
    assert "goal_spin" not in named
