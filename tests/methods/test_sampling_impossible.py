"""What no search can solve is said at once: what fails, at which frame, and what to change."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from handwright.core import editing
from handwright.core.problem import Problem
from handwright.core.result import Status
from handwright.core.track import Track
from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.kinematics import posed_capsules
from handwright.math.pose import Pose
from handwright.methods import ContactSampling
from handwright.methods.sampling import ForbiddenBall, NoContact, contact_search
from handwright.methods.sampling.setup.feasibility import find_infeasibility
from handwright.methods.sampling.setup.intervals import find_carry_intervals
from handwright.methods.sampling.setup.palms import palm_depths, reach_of
from handwright.scenes import load_scene
from handwright.synthesis import synthesize
from tools.scenes.registry import SCENES

FIRST, LAST = 20, 56
"""Frames of the scene in which the box needs a hand."""


@pytest.fixture(scope="module")
def turn() -> Problem:
    return load_scene("milk_box_turn")


@pytest.fixture
def refused(monkeypatch):
    """The message of a problem that is refused before anything is prepared for a search."""

    def never(*_):
        raise AssertionError("was prepared for a search")

    monkeypatch.setattr(contact_search, "prepare", never)

    def message(problem: Problem) -> str:
        result = synthesize(problem, ContactSampling(time_budget=5.0), seed=0)
        assert result.status is Status.INFEASIBLE
        assert result.clips == ()
        return result.message

    return message


def with_track(problem: Problem, name: str, position: np.ndarray) -> Problem:
    track = problem.track(name)
    moved = Track(track.times, Pose(position, track.pose.wxyz))
    return replace(problem, tracks={**problem.tracks, name: moved})


def with_body(problem: Problem, **changes: object) -> Problem:
    return replace(problem, bodies={"milk_box": replace(problem.bodies["milk_box"], **changes)})


def heavier(problem: Problem, mass: float) -> Problem:
    box = problem.bodies["milk_box"]
    return with_body(problem, mass=mass, inertia=box.inertia * mass / box.mass)


def frames_in(message: str) -> list[int]:
    return [int(number) for number in re.findall(r"frame (\d+)", message)]


def asked(problem: Problem) -> str | None:
    return find_infeasibility(problem, cutoff_hz=None, max_force=8.0)


@pytest.mark.parametrize(
    "name", ["milk_box_turn", "spatula", "wine_pot", "big_box_two_hands", "bottle_turn_on_table"]
)
def test_nothing_is_said_against_a_scene_and_hands_are_needed_where_it_says(name):
    problem = load_scene(name)
    assert asked(problem) is None
    (interval,) = find_carry_intervals(problem, cutoff_hz=None)
    spans = SCENES[name].spans
    assert set(interval.hands) == {span.hand for span in spans}
    assert {interval.body} == {span.body for span in spans}
    # The hand is there a little before it must act, and stays a little longer.
    assert 4 <= interval.start - min(span.first for span in spans) <= 12
    assert 4 <= max(span.last for span in spans) - (interval.stop - 1) <= 12


def test_a_body_out_of_reach(turn, refused):
    far = turn.track("right").pose.position + np.array([0.0, -0.4, 0.0])
    message = refused(with_track(turn, "right", far))
    assert "out of reach" in message
    assert "Bring the wrist nearer by" in message
    assert "hovers" not in message
    assert frames_in(message)[0] == FIRST
    assert all(FIRST <= frame <= LAST for frame in frames_in(message))


def test_a_swapped_body_that_hovers(turn, refused):
    """A ball on the track of the taller box: told as what it is, with a remedy that helps."""
    ball = make_shape("sphere")
    message = refused(editing.with_body(turn, "milk_box", ball))
    box = turn.bodies["milk_box"]
    height = 1e3 * float(ball.vertices[:, 2].min() - box.vertices[:, 2].min())
    assert float(re.search(r"hovers there, ([\d.]+) mm", message).group(1)) == pytest.approx(
        height, abs=0.5
    )
    assert frames_in(message)[0] == 0
    assert "stand=True" in message
    assert asked(editing.with_body(turn, "milk_box", ball, stand=True)) is None


def test_a_body_that_goes_out_of_reach_half_way(turn, refused):
    position = turn.track("right").pose.position.copy()
    # The hand stays behind from frame 35 on, slowly enough not to leap.
    position[35:] += np.outer(np.minimum(np.arange(36), 15), [0.0, -0.03, 0.0])
    message = refused(with_track(turn, "right", position))
    assert "out of reach" in message
    assert 35 < frames_in(message)[0] <= 50


def test_a_body_without_friction(turn, refused):
    message = refused(with_body(turn, friction=0.0))
    assert "friction 0" in message
    assert "Give it friction" in message
    assert frames_in(message) == [FIRST]


@pytest.mark.parametrize("distance", [0.06, 0.5])
def test_a_body_that_leaps(turn, refused, distance):
    position = turn.track("milk_box").pose.position.copy()
    position[40:, 0] += distance
    wrist = turn.track("right").pose.position.copy()
    wrist[40:, 0] += distance
    message = refused(with_track(with_track(turn, "right", wrist), "milk_box", position))
    assert "'milk_box' leaps" in message
    assert "Mend its track" in message
    assert frames_in(message) == [39]


def test_a_wrist_that_leaps(turn, refused):
    position = turn.track("right").pose.position.copy()
    position[30] += [0.0, 0.0, 0.1]
    message = refused(with_track(turn, "right", position))
    assert "wrist of 'right' leaps" in message
    assert frames_in(message)[0] in (29, 30)


def test_a_wrist_in_the_body(turn, refused):
    box, wrist = turn.track("milk_box").pose.position, turn.track("right").pose.position
    share = np.clip((np.arange(len(box)) - 20) / 20.0, 0.0, 1.0)[:, None]
    message = refused(with_track(turn, "right", wrist + share * (box - wrist)))
    assert "inside body 'milk_box'" in message
    assert "Move the wrist's track away" in message
    assert 20 < frames_in(message)[0] <= 40
    # Half the width of the box is the most that the wrist can be deep in its middle.
    depth = float(re.search(r"by (\d+) mm", message).group(1))
    half = 500.0 * float(np.ptp(turn.bodies["milk_box"].vertices, axis=0).min())
    assert depth == pytest.approx(half, abs=1.0)


def test_a_body_heavier_than_fingers_are_strong(turn, refused):
    message = refused(heavier(turn, 60.0))
    assert "fingers of right can give" in message
    assert "Make it lighter" in message
    assert all(FIRST <= frame <= LAST for frame in frames_in(message))
    force = float(re.search(r"needs (\d+) N", message).group(1))
    assert force > 60.0 * 9.81 * 0.9
    # Five digits of 60 N each; most of the weight is not theirs to carry below that.
    assert asked(heavier(turn, 20.0)) is None


def test_a_body_that_is_shaken_harder_than_hands_may_press(turn, refused):
    times = turn.times
    # 9 Hz, 60 mm either way: up to 140 m/s^2 by differences, and no leap, while it is in the air.
    window = np.interp(np.arange(len(times)), [24, 30, 46, 52], [0.0, 1.0, 1.0, 0.0])
    shake = 0.060 * window * np.sin(2.0 * np.pi * 9.0 * times)
    position = turn.track("milk_box").pose.position + np.outer(shake, [1.0, 0.0, 0.0])
    wrist = turn.track("right").pose.position + np.outer(shake, [1.0, 0.0, 0.0])
    message = refused(with_track(with_track(turn, "right", wrist), "milk_box", position))
    assert "times its weight" in message
    assert "smoothing_hz" in message
    assert 24 <= frames_in(message)[0] <= 52


def test_no_part_of_a_hand_is_farther_than_its_reach(turn):
    model, rng = turn.hands["right"], np.random.default_rng(3)
    q = np.stack([model.joints.random(rng) for _ in range(200)])
    posed = posed_capsules(model, q)
    far = np.maximum(np.linalg.norm(posed.start, axis=-1), np.linalg.norm(posed.end, axis=-1))
    assert (far + posed.radius).max() <= reach_of(model)
    assert reach_of(model) < 0.3


def test_a_palm_beside_a_body_is_not_in_it(turn):
    root = turn.track("milk_box").pose.inverse() @ turn.track("right").pose
    body = turn.bodies["milk_box"]
    exact = ExactDistance.from_body(body)
    assert palm_depths(turn.hands["right"], root, body, exact).max() == 0.0


def test_a_low_pass_that_lets_everything_through(turn):
    limit = 0.5 / float(np.diff(turn.times).mean())
    result = synthesize(turn, ContactSampling(smoothing_hz=limit), seed=0)
    assert result.status is Status.BAD_INPUT
    assert f"below {limit:g} Hz" in result.message
    with pytest.raises(InvalidValueError, match=r"smoothing_hz is -1\.0, expected above 0 Hz"):
        ContactSampling(smoothing_hz=-1.0)


@pytest.mark.parametrize(
    ("wish", "setting"),
    [
        (
            {"no_contact": (NoContact(("thumb", "index", "middle", "ring", "little")),)},
            "no_contact",
        ),
        ({"forbidden": (ForbiddenBall((0.0, 0.0, 0.0), 0.5),)}, "forbidden"),
    ],
)
def test_wishes_that_leave_no_place_are_named(turn, wish, setting):
    result = synthesize(turn, ContactSampling(time_budget=5.0, **wish), seed=0)
    assert result.status is Status.INFEASIBLE
    assert f"Loosen {setting}" in result.message
