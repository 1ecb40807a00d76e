"""Scenes with goals: they start without touching, and ask for what their names say."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import handwright as hw
from handwright.evidence.certificate.penetration import finger_finger
from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.environment_capsules import capsules_to_environment
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.geometry.shapes import phone_keys
from handwright.hands import skin_of
from handwright.kinematics.fk import frame_poses, posed_capsules
from handwright.kinematics.skin.skinning import posed_skin
from handwright.math import rotation
from handwright.scenes import goal_scenes

PICKS = (
    "pick_pen_horizontal",
    "pick_pen_vertical",
    "pick_pen_free",
    "pick_ball",
    "pick_box",
    "pick_behind_obstacle",
    "trident_pick",
    "two_hands_lift",
)
TWIRLS = {"twirl_x": 0, "twirl_y": 1, "twirl_z": 2, "trident_twirl": 2}
NAMES = (*PICKS, *TWIRLS, "slide_box", "draw_square", "dial_phone", "two_hands_juggle")
EVERY = pytest.mark.parametrize("name", NAMES)
# The start of a round is a first guess, which the motion need not pass through.
WITH_START = pytest.mark.parametrize("name", [name for name in NAMES if name not in TWIRLS])
TABLE = 0.75

load = functools.cache(hw.load_scene)


def capsules(problem, hand):
    return posed_capsules(problem.hands[hand], problem.posture(hand), problem.start[hand])


def axis_points(posed):
    """(N, C, 3) points along the axes of capsules."""
    share = np.linspace(0.0, 1.0, 41)[:, None, None]
    return posed.start + share * (posed.end - posed.start)


def body_gaps(problem, hand, body) -> np.ndarray:
    """Gaps of a hand's capsules from a body, m."""
    posed = capsules(problem, hand)
    points = axis_points(posed)
    local = problem.start[body].inverse().apply(points.reshape(-1, 3))
    distance = ExactDistance.from_body(problem.bodies[body]).signed_distance(local)[0]
    return (distance.reshape(points.shape[:2]) - posed.radius).min(axis=0)


def test_the_wanted_scenes_are_there():
    assert {name for name, scene in goal_scenes().items() if not scene.has_grips} == set(NAMES)


@EVERY
def test_the_table_says_what_the_problem_is(name):
    scene, problem = goal_scenes()[name], load(name)
    assert problem.name == scene.name == name
    assert scene.summary
    assert scene.num_frames == len(problem.times)
    assert scene.hands == tuple(problem.hands)
    assert scene.bodies == tuple(problem.bodies)
    assert dict(problem.tracks) == {}
    assert problem.goals
    assert set(problem.start) == {*problem.hands, *problem.bodies}
    # A key every half second comes out even; where hands throw, one every 0.3 s.
    phases = problem.times[-1] / (0.3 if problem.touches else 0.5)
    assert phases == pytest.approx(round(phases))


@WITH_START
def test_no_hand_starts_in_a_body(name):
    problem = load(name)
    for hand, model in problem.hands.items():
        for body in problem.bodies:
            assert body_gaps(problem, hand, body).min() > 0.0
            if model.skin is not None:
                skin = posed_skin(model, skin_of(model), problem.posture(hand), problem.start[hand])
                local = problem.start[body].inverse().apply(skin)
                exact = ExactDistance.from_body(problem.bodies[body])
                assert exact.signed_distance(local)[0].min() > 0.0


@WITH_START
def test_no_hand_starts_in_the_surroundings_itself_or_another(name):
    problem = load(name)
    posed = {hand: capsules(problem, hand) for hand in problem.hands}
    for hand, shape in posed.items():
        env = pack_environment(problem.environment)
        assert capsules_to_environment(env, shape.start, shape.end, shape.radius)[0].min() > 0.01
        assert finger_finger(problem.hands[hand], problem.posture(hand)[None])[0][0] < 1e-3
    if len(posed) == 2:
        one, two = (axis_points(shape).reshape(-1, 3) for shape in posed.values())
        assert np.linalg.norm(one[:, None] - two[None, ::5], axis=-1).min() > 0.1


@EVERY
def test_bodies_rest_on_the_table(name):
    problem = load(name)
    for body, shape in problem.bodies.items():
        corners = problem.start[body].apply(shape.vertices)
        gaps = [surface_distance(surface, corners)[0].min() for surface in problem.environment]
        if gaps:
            assert 0.0 <= min(gaps) + 1e-12 < 1e-4
            assert corners[:, 2].min() == pytest.approx(TABLE, abs=1e-4)


@pytest.mark.parametrize("name", PICKS)
def test_picks_end_20_cm_higher_and_are_held(name):
    problem = load(name)
    (goal,) = problem.goals
    (body,) = problem.bodies
    assert goal.feature.owner == body
    assert (goal.start, goal.end) == (3.5, 5.0) == (3.5, problem.times[-1])
    np.testing.assert_allclose(goal.position - problem.start[body].position, [0, 0, 0.2])


@pytest.mark.parametrize("name", [n for n in PICKS if not n.startswith("two") and "hind" not in n])
def test_the_hand_waits_over_the_body_palm_down(name):
    problem = load(name)
    (hand, model), (body,) = *problem.hands.items(), problem.bodies
    posed, place = capsules(problem, hand), problem.start[body].position
    tips = axis_points(posed)[:, model.capsules.digit >= 0].reshape(-1, 3) - place
    # The digits are around the vertical through the body, on either side of it.
    assert (tips[:, :2].min(axis=0) < -0.03).all()
    assert (tips[:, :2].max(axis=0) > 0.03).all()
    assert 0.05 < tips[:, 2].min() < 0.16
    out_of_palm = [-1.0, 0.0, 0.0] if name.startswith("trident") else [0.0, 0.0, 1.0]
    np.testing.assert_allclose(problem.start[hand].rotate(out_of_palm), [0, 0, 1], atol=1e-12)


def test_pens_end_lying_upright_or_anyhow():
    axis = np.array([0.0, 0.0, 1.0])
    for name, wanted in (("pick_pen_horizontal", 0.0), ("pick_pen_vertical", 1.0)):
        (goal,) = load(name).goals
        assert rotation.rotate(goal.wxyz, axis)[2] == pytest.approx(wanted)
    assert load("pick_pen_free").goals[0].wxyz is None
    pen = load("pick_pen_free").start["pen"]
    assert pen.rotate(axis)[2] == pytest.approx(0.0)


def test_the_obstacle_is_between_hand_and_ball():
    problem = load("pick_behind_obstacle")
    wall = problem.environment[1]
    near, far = wall.pose.position[1] - 0.01, wall.pose.position[1] + 0.01
    posed = capsules(problem, "right")
    ends = np.concatenate([posed.start, posed.end])
    assert ends[:, 1].max() + posed.radius.max() < near
    assert problem.start["ball"].position[1] - 0.035 > far
    # No finger is over the wall, so that it must be passed, not only reached over.
    assert ends[:, 2].max() < wall.pose.position[2] + wall.half_extents[2] + 0.05


@pytest.mark.parametrize("name", TWIRLS)
def test_twirls_are_one_turn_about_the_named_axis_in_a_hand_that_stays(name):
    problem = load(name)
    assert problem.is_cyclic
    assert problem.environment == ()
    spun, stays = problem.goals
    (hand,), (body,) = problem.hands, problem.bodies
    assert 0.03 <= problem.bodies[body].mass <= 0.05
    assert (spun.feature.owner, stays.feature.owner) == (body, hand)
    duration = problem.times[-1]
    assert (spun.start, spun.end, stays.start, stays.end) == (0.0, duration, 0.0, duration)
    turn = 2.0 * np.pi * np.eye(3)[TWIRLS[name]]
    np.testing.assert_allclose(np.abs(spun.spin) * duration, turn)
    ends = spun.wxyz_at(np.array([0.0, duration]))
    np.testing.assert_allclose(rotation.angle(ends, problem.start[body].wxyz), 0.0, atol=1e-7)
    np.testing.assert_array_equal(stays.position, problem.start[hand].position)
    np.testing.assert_allclose(stays.wxyz, problem.start[hand].wxyz)
    # Thumb and fingers are at the body, on opposite sides of it.
    near = np.flatnonzero(body_gaps(problem, hand, body) < 0.004)
    digits = {problem.hands[hand].capsules.digit[capsule] for capsule in near}
    assert 0 in digits
    assert len(digits) >= 3


def test_the_pen_draws_a_square_of_6_cm_just_over_the_table():
    problem = load("draw_square")
    lifted, tilted, first, *moments = problem.goals
    assert lifted.position[2] > problem.start["pen"].position[2] + 0.1
    # Tip down, and it is held so for as long as it draws.
    assert rotation.rotate(tilted.wxyz, np.array([0.0, 0.0, 1.0]))[2] > 0.7
    assert (tilted.start, tilted.end) == (4.0, problem.times[-1])
    pen = problem.bodies["pen"]
    radius = pen.bounds[1, 0]
    for moment in (first, *moments):
        assert moment.feature.point[2] - radius == pytest.approx(pen.bounds[0, 2], abs=1e-6)
        assert moment.position[2] - radius == pytest.approx(TABLE + 0.002, abs=1e-6)
    np.testing.assert_array_equal(first.position, moments[0].position)
    np.testing.assert_allclose([moment.start for moment in moments], np.arange(4.0, 8.1, 0.25))
    places = np.array([moment.position for moment in moments])
    sides = np.diff(places[::4], axis=0)
    np.testing.assert_allclose(np.linalg.norm(sides, axis=1), 0.06)
    np.testing.assert_allclose((sides[1:] * sides[:-1]).sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_array_equal(places[0], places[-1])
    # What lies between two corners lies on the side.
    for corner, side in zip(places[:-1:4], sides, strict=True):
        start = int(np.flatnonzero((places == corner).all(axis=1))[0])
        steps = places[start : start + 5] - corner
        assert np.abs(np.cross(steps, side)).max() < 1e-9


def test_the_index_finger_dials_four_keys_of_a_phone_that_lies():
    problem = load("dial_phone")
    pressed = [goal for goal in problem.goals if goal.end > goal.start]
    raised = [goal for goal in problem.goals if goal.end == goal.start]
    np.testing.assert_allclose([press.start for press in pressed], [1.5, 3.0, 4.5, 6.0])
    model = problem.hands["right"]
    index = model.capsules.names.index("index_distal")
    tip = frame_poses(model, problem.posture("right"))[model.frames.index("index_tip")]
    end = posed_capsules(model, problem.posture("right")).end[index]
    for goal in problem.goals:
        assert (goal.feature.owner, goal.feature.frame) == ("right", "index_tip")
        assert goal.relative_to == "phone"
        np.testing.assert_allclose(tip.apply(goal.feature.point), end, atol=1e-5)
    for digit, press in zip("5690", pressed, strict=True):
        # The round end of the finger touches the middle of the key, to the bulge of its skin.
        over = press.position - phone_keys()[digit]
        np.testing.assert_allclose(over, [0, 0, model.capsules.radius[index]], atol=3e-4)
    # In between it is lifted by more than a centimetre.
    assert all(goal.position[2] > pressed[0].position[2] + 0.01 for goal in raised)


def test_the_ball_is_in_the_air_twice_a_round():
    problem = load("two_hands_juggle")
    assert problem.is_cyclic
    may = {
        hand: [(span.start, span.end) for span in problem.touches if span.hand == hand]
        for hand in problem.hands
    }
    # A round begins in the middle of what the left hand does.
    assert may == {"left": [(0.0, 0.6), (2.1, 2.4)], "right": [(0.9, 1.8)]}
    assert problem.times[-1] == pytest.approx(2.4)
    left, right = problem.goals
    for goal, hand in ((left, "left"), (right, "right")):
        span = may[hand][0]
        assert span[0] < goal.start < span[1]
        # The side of the hand that has it.
        assert goal.position[0] == problem.start[hand].position[0]
    # It lies in the left hand.
    assert 0.0 < body_gaps(problem, "left", "ball").min() < 0.002
    assert body_gaps(problem, "right", "ball").min() > 0.1
