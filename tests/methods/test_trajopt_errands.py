"""Ways around walls, and fingers that press keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from corpus import solved

import handwright as hw
from handwright.core.contact import ContactTrack
from handwright.core.result import Status
from handwright.evidence.metrics.presses import presses
from handwright.geometry.shapes.phones import phone_keys
from handwright.kinematics import posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.trajopt.method import ContactInvariant
from handwright.methods.trajopt.model.goal_rows import fine_samples, with_samples_at
from handwright.methods.trajopt.schedule.goal_digits import digit_of
from handwright.methods.trajopt.schedule.wrist_paths import add_approach
from handwright.methods.trajopt.terms.regularization import phase_matrices
from handwright.scenes import load_scene
from tools.pictures.paths import dialled_path


@pytest.fixture(scope="module")
def dialled():
    return solved("dial_phone", ContactInvariant(time_budget=600.0))


def approached(name, seed):
    transcription, _ = ContactInvariant().ready(load_scene(name))
    keys = np.tile(transcription.start, (transcription.model.num_keys, 1))
    return transcription, keys, add_approach(transcription, np.random.default_rng(seed), keys)


@pytest.mark.parametrize("seed", range(3))
def test_first_guesses_go_around_a_wall(seed):
    problem = load_scene("pick_behind_obstacle")
    transcription, keys, is_found = approached("pick_behind_obstacle", seed)
    assert is_found
    (hand,) = transcription.hands
    wall = problem.environment[1]
    shift = rotation.rotate(hand.root.wxyz, keys[:, :3])
    for place in hand.root.position + shift:
        root = Pose(place[None], np.array(hand.root.wxyz)[None])
        capsules = posed_capsules(hand.model, hand.q[None], root)
        for part in np.linspace(0.0, 1.0, 9):
            points = (1.0 - part) * capsules.start[0] + part * capsules.end[0]
            out = np.maximum(np.abs(points - wall.pose.position) - wall.half_extents, 0.0)
            assert (np.linalg.norm(out, axis=1) > hand.model.capsules.radius - 6e-3).all()
    # At the end the hand is behind the wall.
    assert shift[-1, 1] > 0.1


def test_hands_with_a_free_way_start_as_they_did():
    transcription, keys, is_found = approached("pick_ball", 0)
    assert not is_found
    assert (keys == transcription.start).all()


def test_a_finger_touches_while_its_goals_put_it_on_a_key():
    problem = load_scene("dial_phone")
    transcription, _ = ContactInvariant().ready(problem)
    index = transcription.contact_names.index("right.index")
    pressed = np.flatnonzero(transcription.required[:, index])
    assert (pressed * transcription.model.phase_time).tolist() == [1.5, 3.0, 4.5, 6.0]
    hands = transcription.contact_hand >= 0
    assert transcription.required[:, hands].sum() == 4
    assert (transcription.allowed[:, hands] == transcription.required[:, hands]).all()
    raised = tuple(
        replace(goal, position=goal.position + np.array([0.0, 0.0, 0.01])) for goal in problem.goals
    )
    above, _ = ContactInvariant().ready(replace(problem, goals=raised))
    assert not above.required.any()


def test_goals_belong_to_the_digit_that_carries_their_frame():
    problem = load_scene("dial_phone")
    transcription, _ = ContactInvariant().ready(problem)
    goal = problem.goals[0]
    named = {
        frame: digit_of(
            replace(goal, feature=replace(goal.feature, frame=frame)), transcription.hands
        )
        for frame in ("thumb_tip", "ring_distal", "palm", "wrist", None)
    }
    assert named == {
        "thumb_tip": "right.thumb",
        "ring_distal": "right.ring",
        "palm": None,
        "wrist": None,
        None: None,
    }


def test_a_number_is_dialled_and_certified(dialled):
    assert hw.certify(dialled.best).passed
    found = presses(dialled.best, "right", "phone", phone_keys())
    assert [press.key for press in found] == list("5690")
    assert all(press.end - press.start > 0.3 and press.force > 0.2 for press in found)
    still = dialled.best.bodies["phone"].position
    assert np.ptp(still, axis=0).max() < 1e-9
    # Other keys are not there.
    assert {press.key for press in presses(dialled.best, "right", "phone", {})} == {None}
    assert presses(dialled.best, "left", "phone", phone_keys()) == []


def test_keys_that_are_pressed_together_are_told_apart(dialled):
    clip = dialled.best
    pose, keys = clip.bodies["phone"], phone_keys()
    rows = [clip.contacts[n] for n in range(len(clip.contacts))]
    also = [
        replace(one, point=pose[one.frame].apply(keys["1"]))
        for one in rows
        if one.toucher == "right"
    ]
    both = replace(clip, contacts=ContactTrack.of(rows + also))
    found = presses(both, "right", "phone", keys)
    assert sorted(press.key for press in found) == sorted("5690" + "1111")
    assert all(press.end - press.start > 0.3 for press in found)


def test_a_key_within_the_phone_cannot_be_dialled():
    problem = load_scene("dial_phone")
    sunk = tuple(
        replace(goal, position=goal.position - np.array([0.0, 0.0, 0.01])) for goal in problem.goals
    )
    result = hw.synthesize(replace(problem, goals=sunk), ContactInvariant(max_attempts=1), seed=0)
    assert result.status is Status.INFEASIBLE
    assert "does not meet" in result.message


def test_presses_are_plotted_in_red(dialled):
    picture = dialled_path(dialled.best).astype(int)
    red = (picture[..., 0] - picture[..., 1:].max(axis=2)) > 100
    assert 4 * 60 < red.sum() < 4 * 400


def test_moments_are_added_to_the_samples():
    transcription, _ = ContactInvariant().ready(load_scene("pick_ball"))
    m = transcription.model
    fine, own = fine_samples(m).samples, len(m.samples.phase)
    wanted = np.zeros(len(fine.phase), dtype=bool)
    wanted[[0, own + 3, own + 40]] = True
    more = with_samples_at(m, wanted).samples
    assert len(more.phase) == own + 2
    assert more.time[own:].tolist() == fine.time[[own + 3, own + 40]].tolist()
    assert more.is_full[own:].all()
    assert (more.goal_first[own:] == more.goal_last[own:]).all()


def test_integrals_of_cubics_are_exact():
    h = 0.4
    rng = np.random.default_rng(2)
    ends = rng.normal(size=4)
    # A cubic with these values and rates at its ends, by its four conditions.
    rows = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, h, h**2, h**3], [0, 1, 2 * h, 3 * h**2]])
    cubic = np.polynomial.Polynomial(np.linalg.solve(rows, ends))
    for matrix, curve in zip(
        phase_matrices(h), (cubic.deriv(2), cubic, cubic.deriv()), strict=True
    ):
        whole = (curve**2).integ()
        assert ends @ matrix @ ends == pytest.approx(whole(h) - whole(0.0), rel=1e-9)
