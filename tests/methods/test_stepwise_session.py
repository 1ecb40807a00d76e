"""Live sessions: pushes and goals that change in every frame, resets, and no end in sight."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import handwright as hw
from handwright.core.events import Push
from handwright.core.goal import Feature, Goal, is_same_goal
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.kinematics.fk import link_poses
from handwright.methods.stepwise.objectives.references import (
    reaching_rate,
    share_at_rate,
    way_begun,
)
from handwright.methods.stepwise.session import MAX_PUSH, Session

STEP = 1.0 / 30.0
BODY = "gift_box"
HISTORY = 45


def held_goals(session: Session) -> list[Goal]:
    """The last goal for good, made anew as a program does that asks in every frame."""
    last = max(session.problem.goals, key=lambda goal: goal.end)
    feature = Feature(last.feature.owner)
    return [Goal(feature, last.start, 1e6, position=last.position, wxyz=last.wxyz)]


def push_now(session: Session, force: np.ndarray) -> Push:
    center = session.problem.bodies[BODY].center
    return Push(BODY, session.time, session.time + STEP, center, force)


@pytest.fixture(scope="module")
def session() -> Session:
    problem = replace(hw.load_scene("gift_box_pushed"), pushes=())
    return Session(problem, history=HISTORY)


@pytest.fixture
def lifted(session) -> Session:
    """The box held in the air, at rest."""
    session.reset()
    for _ in range(105):
        session.step(STEP, goals=held_goals(session))
    return session


def place(session: Session) -> np.ndarray:
    return session.moments[-1].bodies[BODY].position


def test_pushes_that_change_in_every_frame_are_withstood(lifted):
    start, weight = place(lifted), 9.81 * lifted.problem.bodies[BODY].mass
    away = []
    for n in range(60):
        way = np.array([np.cos(0.2 * n), np.sin(0.2 * n), 0.0])
        lifted.step(STEP, pushes=[push_now(lifted, weight * way)], goals=held_goals(lifted))
        away.append(np.linalg.norm(place(lifted) - start))
    assert 1e-3 < max(away) < 0.02
    for _ in range(45):
        lifted.step(STEP, goals=held_goals(lifted))
    assert np.linalg.norm(place(lifted) - start) < 1e-3
    assert lifted.tally.infeasible == 0


def test_a_goal_that_moves_in_every_frame_is_followed(lifted):
    (goal,) = held_goals(lifted)
    off = []
    for n in range(60):
        # A circle of 40 mm at 48 mm/s.
        angle = 0.04 * n
        target = goal.position + 0.04 * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.0])
        moved = Goal(goal.feature, lifted.time, lifted.time + 1.0, position=target, wxyz=goal.wxyz)
        lifted.step(STEP, goals=[moved])
        off.append(np.linalg.norm(place(lifted) - target))
    assert max(off[30:]) < 5e-3


def test_what_is_drawn_is_at_hand_after_every_frame(lifted):
    moment = lifted.moments[-1]
    (name,) = lifted.problem.hands
    root, q = moment.hands[name]
    turns, places = link_poses(lifted.problem.hands[name], q, root)
    turn, origin = lifted.links()[name]
    np.testing.assert_allclose(turn, turns, atol=1e-12)
    np.testing.assert_allclose(origin, places, atol=1e-12)
    turn[:], origin[:] = 0.0, 0.0
    np.testing.assert_allclose(lifted.links()[name][1], places, atol=1e-12)
    assert len(moment.contacts) >= 2
    total = np.sum([contact.force for contact in moment.contacts], axis=0)
    weight = 9.81 * lifted.problem.bodies[BODY].mass
    np.testing.assert_allclose(total, [0.0, 0.0, weight], atol=1e-3 * weight)
    for contact in moment.contacts:
        assert (contact.toucher, contact.body) == (name, BODY)
        assert np.isfinite(contact.gap)
        assert contact.frame == lifted.tally.frames - 1


def test_a_reset_session_does_the_same_again(lifted):
    before = lifted.moments[-1]
    lifted.reset()
    assert lifted.time == lifted.problem.times[0]
    assert lifted.tally.frames == 0
    assert len(lifted.moments) == 1
    for _ in range(105):
        lifted.step(STEP, goals=held_goals(lifted))
    after = lifted.moments[-1]
    assert after.time == before.time
    np.testing.assert_array_equal(after.bodies[BODY].position, before.bodies[BODY].position)
    for name in before.hands:
        np.testing.assert_array_equal(after.hands[name][1], before.hands[name][1])


def test_the_last_frames_are_a_clip_of_their_own(lifted):
    assert len(lifted.moments) == HISTORY + 1
    clip = lifted.clip("stepwise")
    assert clip.num_frames == HISTORY + 1
    assert clip.times[-1] == pytest.approx(lifted.time)
    assert clip.contacts.frame.min() == 0
    assert clip.contacts.frame.max() == HISTORY - 1
    # Forces in a frame explain the motion around it, so the numbers fit.
    assert hw.certify(clip).check("force_residual").passed


def test_memory_and_place_stay_what_they_are(lifted):
    for _ in range(10):
        lifted.step(STEP, goals=held_goals(lifted))
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(300):
            lifted.step(STEP, goals=held_goals(lifted))
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # A frame takes some kilobytes. What is kept of the last ones has been made anew meanwhile.
    assert grown < 1000 * HISTORY * 20
    start = place(lifted)
    for _ in range(90):
        lifted.step(STEP, goals=held_goals(lifted))
    assert len(lifted.moments) == HISTORY + 1
    # 10 um/s at most.
    assert np.linalg.norm(place(lifted) - start) < 3e-5


@pytest.mark.parametrize("force", [1e3, 1e6])
def test_a_push_beyond_all_strength_takes_the_body_and_nothing_breaks(lifted, force):
    start = place(lifted)
    for n in range(20):
        pushes = [push_now(lifted, np.array([force, 0.0, -force]))] if n < 4 else []
        moment = lifted.step(STEP, pushes=pushes, goals=held_goals(lifted))
        assert np.isfinite(moment.bodies[BODY].position).all()
        assert all(np.isfinite(q).all() for _, q in moment.hands.values())
    assert np.linalg.norm(place(lifted) - start) > 1.0


def test_pushes_that_make_no_sense_are_told(lifted):
    with pytest.raises(InvalidValueError, match="expected three finite numbers in newtons"):
        push_now(lifted, np.array([np.nan, 0.0, 0.0]))
    huge = push_now(lifted, np.array([2.0 * MAX_PUSH, 0.0, 0.0]))
    with pytest.raises(InvalidValueError, match=r"is 2e\+07 N; expected at most 1e\+07 N"):
        lifted.step(STEP, pushes=[huge])
    with pytest.raises(InvalidValueError, match=r"is 2e\+07 N"):
        Session(replace(lifted.problem, pushes=(replace(huge, start=0.0),)))
    with pytest.raises(UnknownNameError, match="gift_box"):
        lifted.step(STEP, pushes=[replace(huge, body="gift")])
    with pytest.raises(InvalidValueError, match=r"step is 0\.5 s"):
        lifted.step(0.5)
    with pytest.raises(InvalidValueError, match="history is 0; expected at least 1 frame"):
        Session(lifted.problem, history=0)


def test_goals_are_the_same_by_what_they_ask_for():
    def goal(**changes):
        given = {"position": np.array([0.1, 0.2, 0.3]), "wxyz": None, "weight": 1.0} | changes
        return Goal(Feature(given.pop("owner", "cup")), 0.0, 1.0, **given)

    assert is_same_goal(goal(), goal())
    for change in (
        {"position": np.array([0.1, 0.2, 0.4])},
        {"position": None, "wxyz": np.array([1.0, 0.0, 0.0, 0.0])},
        {"weight": 2.0},
        {"owner": "box"},
    ):
        assert not is_same_goal(goal(), goal(**change))


@pytest.mark.parametrize("rate", [0.2, 1.0, 2.0])
def test_shares_at_rates_are_those_of_the_profile(rate):
    share = share_at_rate(rate)
    assert 0.0 < share <= 0.15
    assert reaching_rate(share) == pytest.approx(min(rate, reaching_rate(0.15)), rel=1e-3)


def test_a_way_that_is_begun_lies_behind_what_moves_and_ends_at_the_goal():
    point, goal = np.array([0.1, 0.0, 0.0]), np.array([0.3, 0.0, 0.0])
    at_rest = way_begun(point, goal, np.zeros(3), STEP)
    moving = way_begun(point, goal, np.array([0.3, 0.0, 0.0]), STEP)
    assert moving[0] < at_rest[0] < point[0]
    np.testing.assert_array_equal(way_begun(goal, goal, np.zeros(3), STEP), goal)
