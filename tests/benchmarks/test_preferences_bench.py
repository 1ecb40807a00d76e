"""The benchmark of preferences: its measures on planted contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.sampling.grip_shares import near_share, vertical_share
from benchmarks.sampling.preferences import BARS, figures, towards_body
from benchmarks.verify import carried_ball
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode, ContactTrack
from handwright.core.editing import with_hand_offset
from handwright.core.result import Result, Status
from handwright.geometry.distance.exact import ExactDistance
from handwright.scenes import load_scene


@pytest.fixture(scope="module")
def ball():
    return carried_ball(30)


def pressing(clip, part, force, mode=ContactMode.STATIC, toucher="hand"):
    normal = np.array([1.0, 0.0, 0.0])
    return Contact(5, toucher, part, "ball", np.zeros(3), normal, 0.0, np.array(force), mode)


def with_contacts(clip, *contacts):
    return replace(clip, contacts=ContactTrack.of(list(contacts)))


def part_of(clip, digit, is_last):
    model = clip.problem.hands["hand"]
    row = [one.name for one in model.digits].index(digit)
    own = model.capsules.digit == row
    own &= (model.capsules.link == model.digits[row].pad.link) == is_last
    return int(np.flatnonzero(own)[0])


def test_shares_are_of_normal_force_on_hands(ball):
    palm = int(np.flatnonzero(ball.problem.hands["hand"].capsules.digit < 0)[0])
    clip = with_contacts(
        ball,
        pressing(ball, part_of(ball, "index", True), [6.0, 5.0, 0.0]),
        pressing(ball, part_of(ball, "index", False), [1.0, 0.0, 9.0]),
        pressing(ball, palm, [1.0, 0.0, 0.0]),
        pressing(ball, 0, [90.0, 0.0, 0.0], toucher=ENVIRONMENT),
    )
    assert near_share([clip]) == pytest.approx(2.0 / 8.0)
    assert near_share([with_contacts(ball)]) is None


def test_only_loaded_sliding_contacts_say_how_upright_hands_slide(ball):
    tip = part_of(ball, "index", True)
    clip = with_contacts(
        ball,
        pressing(ball, tip, [2.0, 0.0, 1.0], ContactMode.SLIDING),
        pressing(ball, tip, [2.0, 0.8, 0.6], ContactMode.SLIDING),
        pressing(ball, tip, [2.0, 1.0, 0.0]),
        pressing(ball, tip, [1e-4, 1e-5, 0.0], ContactMode.SLIDING),
        pressing(ball, 0, [2.0, 1.0, 0.0], ContactMode.SLIDING, ENVIRONMENT),
    )
    assert vertical_share([clip]) == pytest.approx((1.0 + 0.6) / 2.0)
    assert vertical_share([with_contacts(ball)]) is None


def test_the_way_towards_the_body_brings_the_palm_nearer():
    problem = load_scene("spatula")
    (hand,), (body,) = problem.hands, problem.bodies
    way = towards_body(problem, hand, body)
    assert np.linalg.norm(way) == pytest.approx(1.0)
    exact, t = (
        ExactDistance.from_body(problem.bodies[body]),
        problem.times[[len(problem.times) // 2]],
    )

    def wrist_distance(edited):
        seen = edited.track(body).at(t).inverse() @ edited.track(hand).at(t)
        return float(exact.signed_distance(seen.position)[0][0])

    gain = wrist_distance(problem) - wrist_distance(with_hand_offset(problem, hand, 0.02 * way))
    assert 0.01 < gain <= 0.0201


def test_runs_without_motions_give_null_and_meet_no_bar():
    nothing = Result((), Status.TIME_BUDGET, "0 of 5 motions.")
    runs = ("static", "slide", "low", "high", "low_box", "high_box", "apart", "closer")
    result = figures({key: [nothing] for key in runs})
    assert all(result[name] is None for name in BARS)
    assert result["bars_met"] is False
    assert result["messages"]["closer 0"] == "0 of 5 motions."
