"""Whole motions from goals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from corpus import solved
from tiny_problems import tiny_pick

import handwright as hw
from handwright.core.events import TouchSpan
from handwright.core.result import Status
from handwright.geometry.distance.rods import fit_rod
from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods.trajopt.attempt import refined_keys
from handwright.methods.trajopt.clips import make_clip, mean_forces
from handwright.methods.trajopt.method import ContactInvariant
from handwright.methods.trajopt.model.shape import make_body
from handwright.methods.trajopt.model.transcribe import TranscriptionSettings, transcribe
from handwright.methods.trajopt.model.workspace import make_workspace
from handwright.methods.trajopt.schedule.schedule import (
    apply_schedule,
    hold_transitions,
    round_contacts,
)
from handwright.methods.trajopt.schedule.start import sampled_gait, start_origins
from handwright.methods.trajopt.solver.measures import measure_errors
from handwright.methods.trajopt.solver.system import squeeze_share
from handwright.scenes import load_scene


@pytest.fixture(scope="module")
def lifted():
    return solved("pick_ball", ContactInvariant(time_budget=600.0))


def test_a_ball_is_picked_up_and_certified(lifted):
    assert lifted.status is Status.SOLVED
    assert hw.certify(lifted.best).passed
    goal = lifted.best.problem.goals[0]
    held = lifted.best.times >= goal.start
    off = lifted.best.bodies["ball"].position[held] - goal.position
    assert np.linalg.norm(off, axis=1).max() < 5e-3


def assert_opposed(clip):
    """At the end three digits or more hold the body, and push against each other.

    They push against the thumb; without a thumb, against the hardest.
    """
    (hand,) = clip.problem.hands.values()
    (body,) = clip.problem.bodies.values()
    last = [c for c in clip.contacts.at(clip.num_frames - 1) if c.toucher in clip.hands]
    by_digit = {int(hand.capsules.digit[contact.part]): contact.force for contact in last}
    assert len(by_digit) >= 3
    names = [digit.name for digit in hand.digits]
    hardest = max(by_digit, key=lambda digit: np.linalg.norm(by_digit[digit]))
    one = by_digit.pop(names.index("thumb") if "thumb" in names else hardest)
    against = sum(by_digit.values())
    assert against @ one / (np.linalg.norm(against) * np.linalg.norm(one)) < -0.5
    weight = 9.81 * body.mass
    carried = sum(contact.force for contact in last)
    assert carried == pytest.approx([0.0, 0.0, weight], abs=0.02 * weight)


def test_the_ball_is_held_between_thumb_and_fingers(lifted):
    assert_opposed(lifted.best)


@pytest.mark.slow
@pytest.mark.scene
@pytest.mark.parametrize(
    "scene",
    ["pick_box", "pick_pen_free", "pick_pen_horizontal", "pick_pen_vertical", "trident_pick"],
)
def test_other_picks_end_in_opposing_grasps(scene):
    assert_opposed(solved(scene, ContactInvariant(time_budget=600.0)).best)


def test_a_goal_out_of_reach_names_what_cannot_be_met():
    problem = load_scene("pick_ball")
    up = np.array([0.0, 0.0, 10.0])
    far = tuple(replace(goal, position=goal.position + up) for goal in problem.goals)
    method = ContactInvariant(max_attempts=1)
    result = hw.synthesize(replace(problem, goals=far), method, seed=0)
    assert result.status is Status.INFEASIBLE
    assert result.clips == ()
    assert "does not meet" in result.message


def test_a_body_too_heavy_for_fingers_is_refused():
    problem = load_scene("pick_ball")
    heavy = {"ball": problem.bodies["ball"].with_mass(40.0)}
    result = hw.synthesize(replace(problem, bodies=heavy), ContactInvariant(max_attempts=1))
    assert result.status is Status.INFEASIBLE
    assert "'strength'" in result.message
    assert "at most 60" in result.message


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"goals": ()}, "needs goals"),
        ({"start": {}}, "needs start poses of right, ball"),
    ],
)
def test_what_is_missing_is_said(change, text):
    result = hw.synthesize(replace(load_scene("pick_ball"), **change), ContactInvariant())
    assert result.status is Status.BAD_INPUT
    assert text in result.message


def test_settings_out_of_range_are_refused():
    with pytest.raises(hw.HandwrightError, match="squeeze is -1"):
        ContactInvariant(squeeze=-1.0)


def test_hands_touch_only_when_they_may():
    problem = load_scene("pick_ball")
    problem = replace(problem, touches=(TouchSpan("right", 1.0, 2.0),))
    coarse, _ = ContactInvariant().ready(problem)
    allowed = coarse.allowed
    hands = coarse.contact_hand == 0
    assert np.flatnonzero(allowed[:, hands].all(axis=1)).tolist() == [2, 3]
    assert not allowed[[0, 1, 4], :][:, hands].any()
    assert allowed[:, ~hands].all()


def test_the_hand_starts_as_it_is_told_to():
    problem = load_scene("pick_ball")
    hand = problem.hands["right"]
    q = problem.posture("right").copy()
    q[hand.joints.index("index_pip_flexion")] = np.radians(40.0)
    q[hand.joints.index("index_dip_flexion")] = np.radians(5.0)
    problem = replace(problem, postures={"right": q})
    transcription = transcribe(problem, TranscriptionSettings(num_phases=4, fractions=[0.5]))
    keys = np.tile(transcription.start, (transcription.model.num_keys, 1))
    clip = make_clip(transcription, keys, "test")
    np.testing.assert_allclose(clip.hands["right"].q[0], q, atol=1e-12)


def test_a_round_begins_with_the_contacts_that_it_ends_with():
    problem = load_scene("twirl_x")
    problem = replace(problem, bodies={"rod": problem.bodies["rod"].with_friction(50.0)})
    transcription = transcribe(problem, TranscriptionSettings(num_phases=5, fractions=[0.5]))
    m = transcription.model
    keys = np.tile(transcription.start, (m.num_keys, 1))
    layout = m.layout
    forces = np.random.default_rng(1).normal(size=3 * layout.num_contacts)
    keys[:, layout.forces] = forces
    keys[:2, layout.contacts], keys[-1, layout.first_contact + 2] = 1.0, 1.0
    clip = make_clip(transcription, keys, "test")
    first, last = clip.contacts.at(0), clip.contacts.at(clip.num_frames - 1)
    assert len(first) > 1
    assert [c.part for c in first] == [c.part for c in last]
    np.testing.assert_allclose([c.force for c in first], [c.force for c in last], atol=1e-9)


def test_forces_of_frames_are_what_differences_of_the_motion_need():
    problem = load_scene("two_hands_juggle")
    fps, fine = 120, 64
    assert problem.times[1] == pytest.approx(1 / fps)
    transcription = transcribe(problem, TranscriptionSettings(num_phases=8, fractions=[0.5]))
    m = transcription.model
    h = m.phase_time
    keys = np.tile(transcription.start, (m.num_keys, 1))
    keys[3:5, m.layout.first_contact] = 1.0
    keys[3:6, m.layout.first_force + 2] = 1.0, 4.0, 0.5
    found = mean_forces(transcription, keys, problem.times)[:, 0, 2]
    # A body of 1 kg that feels this force alone: its path in small steps, and differences of that.
    time = (np.arange(fine * (len(problem.times) - 1)) + 0.5) / (fps * fine)
    push = np.interp(time, [3 * h, 4 * h, 5 * h], [1.0, 4.0, 0.5], left=0.0, right=0.0)
    speed = np.concatenate([[0.0], np.cumsum(push)]) / (fps * fine)
    place = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))]) / (fps * fine)
    needed = np.diff(place[::fine], n=2) * fps**2
    np.testing.assert_allclose(found[1:-1], needed, atol=1e-3)
    assert np.ptp(needed) > 3.0


def test_the_weight_of_a_goal_does_not_change_when_it_is_met():
    problem = load_scene("pick_ball")
    found = []
    for weight in (1.0, 9.0):
        goals = tuple(replace(goal, weight=weight) for goal in problem.goals)
        transcription = transcribe(
            replace(problem, goals=goals), TranscriptionSettings(num_phases=6, fractions=[0.5])
        )
        keys = np.tile(transcription.start, (transcription.model.num_keys, 1))
        found.append(
            measure_errors(transcription, keys, make_workspace(transcription.model)).worst["goal"]
        )
    assert found[0] == found[1]
    away = np.linalg.norm(problem.goals[0].position - problem.start["ball"].position)
    assert found[0] == pytest.approx(away / 5e-3, rel=1e-6)


def test_workers_change_nothing():
    clips = [
        hw.synthesize(
            tiny_pick(), ContactInvariant(num_solutions=2, num_workers=n, time_budget=600.0), seed=3
        ).clips
        for n in (1, 2)
    ]
    assert len(clips[0]) == len(clips[1]) == 2
    for one, other in zip(*clips, strict=True):
        (hand,) = one.hands
        assert np.array_equal(one.hands[hand].q, other.hands[hand].q)
        assert np.array_equal(one.contacts.force, other.contacts.force)


class TestSchedule:
    @pytest.fixture
    def transcription(self):
        return transcribe(
            load_scene("pick_ball"), TranscriptionSettings(num_phases=6, fractions=[0.5])
        )

    def keys_with(self, transcription, is_on):
        m = transcription.model
        keys = np.tile(transcription.start, (m.num_keys, 1))
        keys[: len(is_on), m.layout.contacts] = 0.6 * is_on
        keys[:, m.layout.forces] = 1.0
        return keys

    def test_hands_grip_before_the_body_leaves_the_table(self, transcription):
        is_on = np.zeros((6, transcription.model.layout.num_contacts), dtype=bool)
        hands = transcription.contact_hand >= 0
        is_on[:3, ~hands] = True
        is_on[3:, :3] = True
        _, found = round_contacts(
            transcription,
            self.keys_with(transcription, is_on),
            transcription.may_grip,
        )
        assert found[2, :3].all()
        assert not found[1, :3].any()

    def test_a_digit_does_not_let_go_for_a_moment(self, transcription):
        is_on = np.zeros((6, transcription.model.layout.num_contacts), dtype=bool)
        is_on[[1, 4], 0] = True
        _, found = round_contacts(
            transcription,
            self.keys_with(transcription, is_on),
            transcription.may_grip,
        )
        assert found[1:5, 0].all()

    def test_a_digit_lets_go_where_it_may_not_touch(self, transcription):
        is_on = np.zeros((6, transcription.model.layout.num_contacts), dtype=bool)
        is_on[[1, 4], 0] = True
        allowed = np.ones_like(is_on)
        allowed[2] = False
        _, found = round_contacts(
            transcription._replace(allowed=allowed),
            self.keys_with(transcription, is_on),
            transcription.may_grip,
        )
        assert np.flatnonzero(found[:, 0]).tolist() == [1, 4]

    def test_parts_that_do_not_touch_keep_away(self, transcription):
        m = transcription.model
        is_on = np.zeros((6, m.layout.num_contacts), dtype=bool)
        is_on[4, 1] = True
        apply_schedule(transcription, np.tile(transcription.start, (m.num_keys, 1)), is_on)
        tip = m.contacts.capsules[m.contacts.first[1]]
        assert (m.schedule.clearance[:, tip] > 0.0).tolist() == [
            True,
            True,
            True,
            False,
            False,
            False,
        ]
        assert m.schedule.landing[:, 1].tolist() == [0, 0, 0, 2, 0, 1]
        others = np.delete(np.arange(m.schedule.clearance.shape[1]), tip)
        assert (m.schedule.clearance[:, others] > 1e-3).all()


def test_only_a_body_that_lies_on_something_rests():
    problem = load_scene("pick_ball")
    start = problem.start["ball"]
    up = replace(
        problem,
        start={
            **problem.start,
            "ball": hw.Pose(start.position + np.array([0.0, 0.0, 0.02]), start.wxyz),
        },
    )
    lying, hanging = (
        transcribe(one, TranscriptionSettings(num_phases=3, fractions=[0.5]))
        for one in (problem, up)
    )
    assert lying.rests_on.tolist() == (lying.contact_hand < 0).tolist()
    assert not hanging.rests_on.any()


def test_finer_keys_leave_the_motion_as_it_is():
    coarse = transcribe(
        load_scene("pick_ball"), TranscriptionSettings(num_phases=3, fractions=[0.5])
    )
    fine = transcribe(load_scene("pick_ball"), TranscriptionSettings(num_phases=6, fractions=[0.5]))
    rng = np.random.default_rng(3)
    layout = coarse.model.layout
    keys = np.tile(coarse.start, (4, 1)) + 0.05 * rng.normal(size=(4, len(coarse.start)))
    # At equal times; others are in test_trajopt_times.
    keys[:, layout.shift] = 0.0
    dense = refined_keys(coarse, keys)
    assert len(dense) == fine.model.num_keys
    np.testing.assert_array_equal(dense[::2], keys)
    # A cubic is fixed by four numbers: the same at a quarter of the coarse phase.
    h, s = coarse.model.phase_time, 0.25
    basis = [2 * s**3 - 3 * s**2 + 1, h * (s**3 - 2 * s**2 + s), 3 * s**2 - 2 * s**3]
    basis.append(h * (s**3 - s**2))
    q, v = layout.coordinates, layout.rates
    wide = basis @ np.stack([keys[0, q], keys[0, v], keys[1, q], keys[1, v]])
    h, s = fine.model.phase_time, 0.5
    basis = [0.5, h * 0.125, 0.5, -h * 0.125]
    near = basis @ np.stack([dense[0, q], dense[0, v], dense[1, q], dense[1, v]])
    np.testing.assert_allclose(near, wide, atol=1e-12)


def test_capsules_and_balls_are_recognised_and_boxes_are_not():
    def points(body):
        return np.concatenate([body.vertices, body.vertices[body.faces].mean(axis=1)])

    pen = hw.make_shape("capsule", radius=0.009, length=0.138)
    start, end, radius = fit_rod(points(pen))
    assert radius == pytest.approx(0.009, abs=1e-4)
    assert np.linalg.norm(end - start) == pytest.approx(0.12, abs=2e-4)
    _, _, radius = fit_rod(points(hw.make_shape("sphere", radius=0.035)))
    assert radius == pytest.approx(0.035, abs=1e-4)
    assert fit_rod(points(hw.make_shape("box", width=0.06, depth=0.06, height=0.06))) is None
    assert fit_rod(points(hw.make_shape("cylinder"))) is None


def test_a_goal_between_two_samples_is_not_lost():
    problem = load_scene("pick_ball")
    goal = replace(problem.goals[0], start=1.045, end=1.12)
    for transcription in ContactInvariant().ready(replace(problem, goals=(goal,))):
        samples = transcription.model.samples
        times = samples.time[samples.goal_last > samples.goal_first]
        assert len(times) >= 1
        assert np.all((times >= 1.045 - 1e-9) & (times <= 1.12 + 1e-9))


class TestGaits:
    @pytest.fixture
    def transcription(self):
        return ContactInvariant().ready(load_scene("twirl_x"))[0]

    @pytest.mark.parametrize("seed", range(20))
    def test_digits_swing_in_turn_and_enough_of_them_hold(self, transcription, seed):
        m = transcription.model
        digits = m.contacts.pad_joint >= 0
        assert transcription.allowed.all()
        gait = sampled_gait(transcription, np.random.default_rng(seed))
        # At every key enough of them hold before it and after it, with forces that do not fade.
        assert (gait & np.roll(gait, 1, axis=0)).sum(axis=1).min() >= 3
        swings = (gait & ~np.roll(gait, -1, axis=0)).sum(axis=0)[digits]
        # Whole turns cannot be made by digits that stay; all step equally often.
        assert swings.min() >= 2
        assert len(set(swings.tolist())) == 1

    def test_digits_that_may_not_touch_take_no_part(self, transcription):
        allowed = transcription.allowed.copy()
        allowed[:, 1] = False
        without = transcription._replace(allowed=allowed)
        assert not sampled_gait(without, np.random.default_rng(0))[:, 1].any()

    def test_origins_start_on_the_body_where_pads_are_in_the_middle_of_a_hold(self, transcription):
        m = transcription.model
        gait = np.ones((m.num_phases, m.layout.num_contacts), dtype=bool)
        # On from phase 8 over the end of the cycle to phase 2.
        gait[3:8, 1] = False
        origins = start_origins(transcription, gait)
        body = transcription.body
        along = body.vertices[:, 2]
        assert np.ptp(along) == pytest.approx(0.15, abs=1e-3)
        radius = np.linalg.norm(origins[:, 1, :2], axis=1)
        np.testing.assert_allclose(radius, 0.0065, atol=1e-6)
        held = origins[[8, 11, 14, 0, 1, 2, 3], 1]
        np.testing.assert_allclose(held, np.tile(held[0], (7, 1)), atol=1e-9)
        # The body turns by 24 degrees about its axis in a phase; the pad stays.
        angle = np.unwrap(np.arctan2(origins[4:8, 1, 1], origins[4:8, 1, 0]))
        np.testing.assert_allclose(np.abs(np.diff(angle)), np.radians(24.0), atol=1e-6)

    def test_squeeze_grows_and_fades_with_a_hold(self):
        is_on = np.array([[0, 1, 1, 1, 0, 1]], dtype=bool).T
        assert hold_transitions(is_on, is_cyclic=False)[:, 0].tolist() == [0, 1, 0, 2, 0, 1]
        assert hold_transitions(is_on, is_cyclic=True)[:, 0].tolist() == [0, 1, 0, 2, 0, 3]
        m = load_model_with_easing(1)
        assert squeeze_share(m, 0, 0, 0.25) == pytest.approx(0.25)
        m = load_model_with_easing(3)
        assert squeeze_share(m, 0, 0, 0.9) == pytest.approx(0.1)
        m = load_model_with_easing(0)
        assert squeeze_share(m, 0, 0, 0.9) == 1.0


def load_model_with_easing(side):
    transcription = transcribe(
        load_scene("pick_ball"), TranscriptionSettings(num_phases=3, fractions=[0.5])
    )
    transcription.model.schedule.easing[:] = side
    return Packed(transcription.model)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"is_cyclic": False}, "cyclic motions only"),
        ({"rate": 50.0}, "1.04 turns. Spin with 48 degrees/s"),
        ({"more": 120.0}, "Leave one goal with a spin"),
    ],
)
def test_a_spin_that_cannot_be_is_refused(change, text):
    problem = load_scene("twirl_x")
    (spun,) = (goal for goal in problem.goals if goal.spin is not None)
    rest = tuple(goal for goal in problem.goals if goal.spin is None)
    turns = [change.get("rate", 48.0), *([change["more"]] if "more" in change else [])]
    goals = tuple(replace(spun, spin=np.radians([turn, 0.0, 0.0])) for turn in turns)
    is_cyclic = change.get("is_cyclic", True)
    bad = replace(problem, goals=rest + goals, is_cyclic=is_cyclic)
    result = hw.synthesize(bad, ContactInvariant())
    assert result.status is Status.BAD_INPUT
    assert text in result.message


@pytest.mark.parametrize("first", ["x", "y", "z"])
@pytest.mark.parametrize("second", ["x", "y", "z"])
def test_the_middle_hinge_is_far_from_a_quarter_turn(first, second):
    problem = load_scene("pick_ball")
    axes = dict(zip("xyz", np.eye(3), strict=True))
    start = problem.start["ball"].wxyz
    goals = tuple(
        replace(problem.goals[0], wxyz=rotation.multiply(rotation.exp(1.4 * axes[axis]), start))
        for axis in (first, second)
    )
    hinges = make_body(replace(problem, goals=goals), "ball").hinges
    for axis in (first, second):
        turn = rotation.to_matrix(rotation.exp(1.4 * axes[axis]))
        # The angle of the middle one of three turns that make up this one.
        middle = np.arcsin(np.clip(hinges[0] @ turn @ hinges[2], -1.0, 1.0))
        assert abs(middle) < 0.1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"axes": "z"}, "goes for whole positions, not for single axes or velocities"),
        ({"velocity": np.ones(3)}, "goes for whole positions, not for single axes or velocities"),
        ({"spin": np.ones(3), "wxyz": None}, "Give wxyz and a span of time with the spin"),
    ],
)
def test_goals_for_other_methods_are_refused(change, text):
    problem = hw.load_scene("pick_ball")
    goals = (replace(problem.goals[0], **change), *problem.goals[1:])
    result = hw.synthesize(replace(problem, goals=goals), hw.ContactInvariant())
    assert result.status is hw.Status.BAD_INPUT
    assert text in result.message
