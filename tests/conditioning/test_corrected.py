"""The verb as a whole: clean problems, bounds, symmetry, switches, and what it says of itself."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.conditioning import Conditioning, Correction, corrected
from handwright.conditioning.wrist_parts import half_open
from handwright.core.problem import Problem
from handwright.core.track import Track, still
from handwright.errors import InvalidValueError
from handwright.geometry import floor
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics import posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose

TIMES = np.linspace(0.0, 1.0, 31)
HAND = human("right")


def ball_at_palm(deep=0.0, tremble=0.0, seed=0, sway=0.1):
    """A ball that sways with a palm below it, which is so deep in it at the middle finger, m."""
    ball, rng = make_shape("sphere"), np.random.default_rng(seed)
    bone = HAND.capsules.names.index("middle_metacarpal")
    posed = posed_capsules(HAND, half_open(HAND)[None], Pose.identity(1))
    at = 0.5 * (posed.start[0, bone] + posed.end[0, bone])
    out = HAND.digit("middle").pad.normal
    radius = float(np.linalg.norm(ball.vertices - ball.center, axis=1).max() + posed.radius[bone])
    way = np.stack([sway * np.sin(3.0 * TIMES), 0.0 * TIMES, 0.5 + 0.0 * TIMES], axis=1)
    wxyz = np.tile(rotation.exp(np.array([0.2, 0.1, 0.4])), (31, 1))
    wrist = Pose(way + tremble * rng.normal(size=(31, 3)), wxyz)
    local = at + (radius - deep) * out - ball.center
    body = Pose(
        way + rotation.rotate(wxyz, np.tile(local, (31, 1))) + tremble * rng.normal(size=(31, 3)),
        wxyz,
    )
    return Problem(
        "ball at palm",
        TIMES,
        {"right": HAND},
        {"ball": ball},
        {"right": Track(TIMES, wrist), "ball": Track(TIMES, body)},
        environment=(floor(0.0),),
    )


def moved_by(problem, found, name):
    one, two = problem.track(name).at(TIMES), found.problem.track(name).at(TIMES)
    center = problem.bodies[name].center if name in problem.bodies else np.zeros(3)
    shift = np.linalg.norm(two.apply(center) - one.apply(center), axis=1)
    return float(shift.max()), float(np.asarray(rotation.angle(one.wxyz, two.wxyz)).max())


def test_a_hand_beside_a_body_that_moves_evenly_is_left_as_it_is():
    problem = ball_at_palm(deep=-0.05, sway=0.0)
    found = corrected(problem)
    assert found.problem is problem
    assert found.corrections == ()
    assert str(found) == "nothing was corrected"


def test_a_clean_swing_is_moved_by_far_less_than_the_bounds():
    problem = ball_at_palm(deep=-0.05)
    found = corrected(problem)
    for name in ("right", "ball"):
        shift, turn = moved_by(problem, found, name)
        assert shift < 1e-4
        assert turn < 1e-4


def test_a_palm_in_the_body_is_taken_out_and_fingers_are_not_asked():
    problem = ball_at_palm(deep=0.004)
    settings_ = Conditioning(smoothing_hz=None)
    found = corrected(problem, settings_)
    (one,) = found.corrections
    assert (one.name, one.part) == ("right", "wrist")
    assert 1e-3 < one.shift <= 0.01
    again = corrected(found.problem, settings_)
    assert all(other.shift < 0.3 * one.shift for other in again.corrections)
    assert found.given is problem
    assert problem.track("ball") is found.problem.track("ball")


@settings(max_examples=5)
@given(st.integers(0, 1000), st.floats(0.0, 0.03), st.floats(0.0, 4e-3))
def test_corrections_never_exceed_their_bounds(seed, deep, tremble):
    problem = ball_at_palm(deep, tremble, seed)
    bounds = Conditioning(mends=False)
    found = corrected(problem, bounds)
    for one in found.corrections:
        is_wrist = one.part == "wrist"
        most = bounds.wrist_shift if is_wrist else bounds.smoothing_shift
        assert one.shift <= most + 1e-9
        assert one.turn <= (bounds.wrist_turn if is_wrist else bounds.smoothing_turn) + 1e-7
    shift, turn = moved_by(problem, found, "right")
    assert shift <= bounds.smoothing_shift + bounds.wrist_shift + 1e-9
    assert turn <= bounds.smoothing_turn + bounds.wrist_turn + 1e-7


@settings(max_examples=3)
@given(st.integers(0, 1000))
def test_moving_and_turning_the_world_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    problem = replace(ball_at_palm(0.006, 1e-3, seed), environment=())
    world = Pose(rng.normal(size=3), rotation.random(rng))
    tracks = {name: track.moved(world) for name, track in problem.tracks.items()}
    one = corrected(replace(problem, tracks=tracks)).problem
    two = corrected(problem).problem
    for name in ("right", "ball"):
        there, here = one.track(name), two.track(name).moved(world)
        np.testing.assert_allclose(there.pose.position, here.pose.position, atol=1e-6)
        assert np.asarray(rotation.angle(there.pose.wxyz, here.pose.wxyz)).max() < 1e-5


def test_every_part_can_be_switched_off():
    problem = ball_at_palm(0.006, 1e-3)
    for kept, off in (
        ("wrist", {"smoothing_hz": None}),
        ("smoothed", {"wrists": False}),
        (None, {"smoothing_hz": None, "wrists": False}),
    ):
        parts = {
            one.part for one in corrected(problem, Conditioning(mends=False, **off)).corrections
        }
        assert parts == ({kept} if kept else set())


def test_a_body_near_what_it_may_rest_on_is_not_smoothed():
    problem = ball_at_palm(-0.05, 1e-4)
    low = float(problem.track("ball").pose.position[:, 2].min())
    radius = float(np.ptp(problem.bodies["ball"].vertices[:, 2])) / 2.0
    near = replace(problem, environment=(floor(low - radius - 0.003),))
    assert corrected(near, Conditioning(wrists=False)).corrections == ()
    assert corrected(problem, Conditioning(wrists=False)).corrections


def test_what_stands_still_stays():
    problem = ball_at_palm(-0.05)
    tracks = {name: still(track.pose[0], TIMES) for name, track in problem.tracks.items()}
    assert corrected(replace(problem, tracks=tracks)).corrections == ()


def test_corrections_say_by_how_much():
    found = corrected(ball_at_palm(0.004), Conditioning(smoothing_hz=None))
    assert str(found).startswith("'right' wrist moved by at most ")
    one = Correction("right", "wrist", 0.00341, math.radians(2.0), 31)
    assert str(one) == "'right' wrist moved by at most 3.5 mm and 2.0 degrees in 31 frames"


def test_bounds_that_are_none_are_refused():
    with pytest.raises(InvalidValueError, match="wrist_shift is -1"):
        Conditioning(wrist_shift=-1.0)
