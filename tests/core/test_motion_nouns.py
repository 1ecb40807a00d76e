"""Tracks, goals, problems, contacts, clips and results."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import Contact, ContactMode, ContactTrack
from handwright.core.events import TouchSpan
from handwright.core.goal import Feature, Goal, lasting_goals
from handwright.core.problem import Problem
from handwright.core.result import NoSolutionError, Result, Status
from handwright.core.track import Track, still
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.math import rotation
from handwright.math.pose import Pose

TIMES = np.linspace(0.0, 1.0, 11)


def random_poses(rng, count):
    return Pose(rng.normal(size=(count, 3)), rotation.random(rng, (count,)))


def problem(**changes):
    rng = np.random.default_rng(0)
    given = {
        "name": "test",
        "times": TIMES,
        "hands": {"gripper": trident()},
        "bodies": {"ball": make_shape("sphere")},
        "tracks": {
            "gripper": Track(TIMES, random_poses(rng, 11)),
            "ball": still(Pose.identity(), TIMES),
        },
    }
    return Problem(**(given | changes))


def clip(**changes):
    asked = problem()
    given = {
        "problem": asked,
        "times": TIMES,
        "hands": {
            "gripper": HandMotion(asked.track("gripper").pose, np.zeros((11, 8))),
        },
        "bodies": {"ball": asked.track("ball").pose},
        "contacts": ContactTrack.empty(),
        "provenance": Provenance("test", "scripted"),
    }
    return Clip(**(given | changes))


def contact(frame, **changes):
    given = Contact(
        frame,
        "gripper",
        3,
        "ball",
        np.array([0.1, 0.2, 0.3]),
        np.array([0.0, 0.6, 0.8]),
        -0.001,
        np.array([0.0, 1.0, 2.0]),
        ContactMode.SLIDING,
    )
    return replace(given, **changes)


class TestTrack:
    @given(seed=st.integers(0, 2**32 - 1))
    def test_it_passes_through_its_own_poses(self, seed):
        rng = np.random.default_rng(seed)
        times = np.sort(rng.choice(1000, 7, replace=False)) / 100.0
        track = Track(times, random_poses(rng, 7))
        again = track.at(times)
        np.testing.assert_allclose(again.position, track.pose.position, atol=1e-12)
        np.testing.assert_allclose(rotation.angle(again.wxyz, track.pose.wxyz), 0.0, atol=1e-7)

    def test_between_two_poses_it_takes_the_straight_line_and_the_shortest_turn(self):
        ends = Pose(
            np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]),
            np.stack([rotation.exp(np.zeros(3)), rotation.exp(np.array([0.0, 0.0, 1.0]))]),
        )
        middle = Track(np.array([2.0, 4.0]), ends).at(np.array([2.5]))
        np.testing.assert_allclose(middle.position[0], [0.25, 0.5, 0.75])
        np.testing.assert_allclose(rotation.log(middle.wxyz[0]), [0.0, 0.0, 0.25], atol=1e-12)

    def test_the_world_can_be_moved(self):
        rng = np.random.default_rng(1)
        track, world = Track(TIMES, random_poses(rng, 11)), Pose(np.ones(3), rotation.random(rng))
        moved = track.moved(world).at(np.array([0.33]))
        np.testing.assert_allclose(
            moved.position, (world @ track.at(np.array([0.33]))).position, atol=1e-12
        )

    def test_mistakes_are_listed(self):
        with pytest.raises(InvalidValueError, match=r"do not increase at index 2; \(4,\) poses"):
            Track(np.array([0.0, 1.0, 0.5]), random_poses(np.random.default_rng(0), 4))
        with pytest.raises(InvalidValueError, match=r"runs from 0 to 1 s; asked for 0\.5 to 2 s"):
            still(Pose.identity(), TIMES).at(np.array([0.5, 2.0]))


class TestProblem:
    def test_every_mistake_is_named_at_once(self):
        goals = (
            Goal(Feature("ball"), 0.0, 3.0, position=np.zeros(3)),
            Goal(Feature("gripper", "index_tip"), 0.0, 1.0, position=np.zeros(3)),
            Goal(Feature("cup"), 0.0, 1.0, wxyz=np.array([1.0, 0.0, 0.0, 0.0]), relative_to="x"),
        )
        with pytest.raises(InvalidValueError) as caught:
            problem(
                goals=goals,
                tracks={
                    "bal": still(Pose.identity(), TIMES),
                    "ball": still(Pose.identity(), TIMES[:5]),
                },
            )
        text = str(caught.value)
        for part in (
            "track 'bal' belongs to no hand or body (known: ball, gripper)",
            "goal 0 runs from 0 to 3 s, outside the frames (0 to 1 s)",
            "goal 1 is for 'gripper', which has no frame 'index_tip' (wrist, palm,",
            "goal 2 is for 'cup', which is no hand or body",
            "goal 2 is relative to 'x', which is no body",
            "track 'ball' runs from 0 to 0.4 s but the frames from 0 to 1 s",
        ):
            assert part in text

    def test_a_name_is_a_hand_or_a_body_not_both(self):
        with pytest.raises(InvalidValueError, match="'ball' is both a hand and a body"):
            problem(hands={"ball": trident()}, tracks={})
        with pytest.raises(InvalidValueError, match="neither hands nor bodies"):
            problem(hands={}, bodies={}, tracks={})

    def test_every_mistake_about_starts_and_touches_is_named(self):
        with pytest.raises(InvalidValueError) as caught:
            problem(
                start={"cup": Pose.identity(), "ball": Pose.identity((2,))},
                postures={"ball": np.zeros(8), "gripper": np.zeros(3)},
                touches=(TouchSpan("ball", 0.0, 0.5), TouchSpan("gripper", 0.5, 1.5)),
            )
        text = str(caught.value)
        for part in (
            "start 'cup' belongs to no hand or body (known: ball, gripper)",
            "start of 'ball' holds poses of shape (2,), expected a single one",
            "'ball' has a track and a start, expected one of them",
            "posture of 'ball', which is no hand (hands: gripper)",
            "posture of 'gripper' has shape (3,), expected (8,)",
            "touch 0 is for 'ball', which is no hand (hands: gripper)",
            "touch 1 runs from 0.5 to 1.5 s, outside the frames",
        ):
            assert part in text
        assert "touch 0 runs" not in text

    @pytest.mark.parametrize("bad", [9.0, np.nan])
    def test_a_posture_keeps_the_limits(self, bad):
        q = problem().posture("gripper").copy()
        q[2] = bad
        with pytest.raises(InvalidValueError, match=f"limits of {trident().joints.names[2]}"):
            problem(postures={"gripper": q})

    def test_a_hand_starts_as_told_or_open_or_half_closed(self):
        model = trident()
        told = model.joints.clamp(0.3 * model.joints.upper)
        np.testing.assert_array_equal(problem(postures={"gripper": told}).posture("gripper"), told)
        np.testing.assert_array_equal(problem().posture("gripper"), model.pose("open"))
        bare = problem(hands={"gripper": replace(model, poses={})}).posture("gripper")
        own = model.joints.leader < 0
        middle = 0.5 * (model.joints.lower + model.joints.upper)
        np.testing.assert_array_equal(bare[own], middle[own])
        np.testing.assert_array_equal(bare, model.joints.clamp(bare))
        with pytest.raises(UnknownNameError, match="Did you mean 'gripper'"):
            problem().posture("griper")

    def test_it_cannot_be_changed(self):
        told = trident().pose("open").copy()
        asked = problem(postures={"gripper": told})
        told[:] = 99.0
        np.testing.assert_array_equal(asked.posture("gripper"), trident().pose("open"))
        with pytest.raises(ValueError, match="read-only"):
            asked.posture("gripper")[0] = 1.0
        with pytest.raises(TypeError):
            asked.start["ball"] = Pose.identity()
        with pytest.raises(TypeError):
            asked.bodies["cup"] = make_shape("mug")
        with pytest.raises(ValueError, match="read-only"):
            asked.times[0] = 3.0

    def test_a_missing_track_is_named(self):
        with pytest.raises(UnknownNameError, match="Did you mean 'ball'"):
            problem().track("bal")


class TestGoal:
    def test_an_empty_or_backward_goal_is_refused(self):
        with pytest.raises(InvalidValueError, match="asks for nothing"):
            Goal(Feature("ball"), 0.0, 1.0)
        with pytest.raises(InvalidValueError, match=r"from 2\.0 to 1\.0 s, expected start <= end"):
            Goal(Feature("ball"), 2.0, 1.0, position=np.zeros(3))

    def test_rates_are_numbers(self):
        bad = np.array([0.0, np.nan, 0.0])
        with pytest.raises(InvalidValueError) as caught:
            Goal(Feature("ball"), 1.0, 1.0, position=np.zeros(3), spin=bad, velocity=bad)
        for part in ("spin must be three finite numbers in rad/s", "velocity must be three finite"):
            assert part in str(caught.value)

    def test_a_velocity_moves_the_place_on(self):
        place, velocity = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.0, -0.2])
        goal = Goal(Feature("ball"), 1.0, 5.0, position=place, velocity=velocity, axes="xz")
        np.testing.assert_allclose(goal.position_at(np.array([1.0, 3.0])), [place, [1.2, 2.0, 2.6]])
        np.testing.assert_array_equal(goal.matters, [True, False, True])
        assert goal.asks == ("position", "velocity")
        last = goal.at_end()
        np.testing.assert_allclose(last.position, [1.4, 2.0, 2.2])
        assert (last.start, last.end) == (5.0, 5.0)
        with pytest.raises(InvalidValueError, match="asks for velocity only"):
            Goal(Feature("ball"), 1.0, 5.0, velocity=velocity).position_at(np.array([1.0]))

    def test_the_last_goals_that_rest_can_meet_are_told(self):
        still = np.zeros(3)
        before = Goal(Feature("ball"), 0.0, 1.0, position=still)
        last = Goal(Feature("ball"), 1.0, 2.0, position=still)
        beside = Goal(Feature("ball"), 0.0, 2.0, wxyz=np.array([1.0, 0.0, 0.0, 0.0]))
        moving = Goal(Feature("ball"), 0.0, 2.0, velocity=np.ones(3))
        other = Goal(Feature("hand", "index_tip"), 0.0, 0.5, velocity=still)
        assert lasting_goals([before, last, beside, moving, other]) == [last, beside, other]

    def test_a_spin_turns_about_fixed_axes(self):
        first = rotation.exp(np.array([0.3, -0.2, 0.9]))
        goal = Goal(Feature("ball"), 1.0, 5.0, wxyz=first, spin=np.array([0.0, 0.0, np.pi / 4]))
        start, later = goal.wxyz_at(np.array([1.0, 3.0]))
        np.testing.assert_allclose(start, first)
        point = rotation.rotate(first, np.array([0.1, 0.2, 0.3]))
        # A quarter turn about the world's z takes x to y and y to -x.
        np.testing.assert_allclose(
            rotation.rotate(later, np.array([0.1, 0.2, 0.3])),
            [-point[1], point[0], point[2]],
            atol=1e-12,
        )
        still_one = Goal(Feature("ball"), 1.0, 5.0, wxyz=first)
        np.testing.assert_allclose(still_one.wxyz_at(np.array([1.0, 4.0])), np.tile(first, (2, 1)))
        with pytest.raises(InvalidValueError, match="asks for position only"):
            Goal(Feature("ball"), 1.0, 5.0, np.zeros(3)).wxyz_at(np.array([1.0]))


class TestTouchSpan:
    @pytest.mark.parametrize(("start", "end"), [(1.0, 1.0), (2.0, 1.0), (0.0, np.inf)])
    def test_an_empty_or_backward_span_is_refused(self, start, end):
        with pytest.raises(InvalidValueError, match=f"'left' runs from {start} to {end} s"):
            TouchSpan("left", start, end)


class TestContacts:
    def test_rows_come_back_as_they_went_in_ordered_by_frame(self):
        rows = [contact(5), contact(2, gap=0.002), contact(5, toucher="environment", part=0)]
        table = ContactTrack.of(rows)
        assert len(table) == 3
        assert [table[n].frame for n in range(3)] == [2, 5, 5]
        assert table[0].gap == 0.002
        assert {c.toucher for c in table.at(5)} == {"gripper", "environment"}
        assert table.at(3) == []
        assert table[0].mode is ContactMode.SLIDING

    def test_no_contacts_at_all(self):
        assert len(ContactTrack.of([])) == 0

    def test_mistakes_are_listed(self):
        table = ContactTrack.of([contact(1), contact(2)])
        with pytest.raises(InvalidValueError) as caught:
            replace(
                table, normal=2.0 * table.normal, mode=np.array([0, 7]), gap=np.array([0.0, np.nan])
            )
        text = str(caught.value)
        assert "mode must be 0 to 3" in text
        assert "gap holds NaN" in text
        assert "every normal must have length 1" in text


class TestClip:
    def test_a_good_one_knows_its_rate(self):
        made = clip()
        assert made.num_frames == 11
        assert made.fps == pytest.approx(10.0)

    def test_every_mistake_is_named_at_once(self):
        with pytest.raises(InvalidValueError) as caught:
            clip(
                hands={"gripper": HandMotion(Pose.identity((11,)), np.full((11, 7), np.nan))},
                bodies={"ball": Pose.identity((10,))},
                contacts=ContactTrack.of([contact(11)]),
            )
        text = str(caught.value)
        for part in (
            "joint values of shape (11, 7), expected (11, 8)",
            "NaN or infinite",
            "body 'ball' has (10,) poses for 11 frames",
            "a contact is in frame 11 of 11",
        ):
            assert part in text

    def test_names_must_be_those_of_the_problem(self):
        with pytest.raises(InvalidValueError, match=r"bodies are \['cup'\], expected \['ball'\]"):
            clip(bodies={"cup": Pose.identity((11,))})


class TestResult:
    def test_the_best_is_the_first_and_nothing_raises_with_the_remedy(self):
        first, second = clip(), clip()
        assert Result((first, second), Status.SOLVED).best is first
        empty = Result((), Status.INFEASIBLE, "Frame 3: the ball is out of reach.")
        with pytest.raises(NoSolutionError, match=r"INFEASIBLE: no motion can do this.*Frame 3"):
            _ = empty.best
        assert not empty.status.is_success
        assert all(status.value for status in Status)


def test_nouns_tell_what_they_are_in_a_line():
    """Somebody who prints a result in a notebook wants no table of every frame."""
    one = clip(contacts=ContactTrack.of([contact(2)]))
    nouns = {
        one: ["Clip('test' by 'scripted', 11 frames", "['gripper']", "['ball']", "1 contacts"],
        one.problem: ["Problem(", "11 frames", "['gripper']", "['ball']"],
        one.problem.bodies["ball"]: ["RigidBody('sphere', 70 x 70 x 70 mm", " kg", " faces"],
        one.problem.track("ball"): ["Track(11 frames, "],
        one.contacts: ["ContactTrack(1 contacts"],
        Result((one, one), Status.PARTLY_SOLVED, "2 of 3."): ["PARTLY_SOLVED, 2 clips, '2 of 3.'"],
    }
    for noun, words in nouns.items():
        text = repr(noun)
        assert len(text) < 200
        assert "\n" not in text
        assert all(word in text for word in words), text
