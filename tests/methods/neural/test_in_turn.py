"""Hands that take several bodies, one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track, still
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.math.pose import Pose
from handwright.methods.neural.in_turn import moved_in_turn, turns_of
from handwright.scenes import load_scene

TIMES = np.arange(181) / 60.0
APART = 0.5


def _problem(way):
    """A palm that hovers over balls on a line at given places along it, m."""
    model = human("right")
    wrist = np.stack([way - 0.09, 0.0 * way, np.full(len(way), 0.05)], axis=1)
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (len(way), 1))
    balls = {"one": 0.0, "other": APART}
    return Problem(
        "balls",
        TIMES,
        {"right": model},
        {name: make_shape("sphere") for name in balls},
        {
            "right": Track(TIMES, Pose(wrist, wxyz)),
            **{
                name: still(Pose(np.array([x, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0])), TIMES)
                for name, x in balls.items()
            },
        },
    )


def _gone(start, end):
    """From one place to another in the second of three seconds."""
    return start + (end - start) * np.clip(TIMES - 1.0, 0.0, 1.0)


def test_a_hand_that_goes_from_one_body_to_another_has_two_turns():
    first, second = turns_of(_problem(_gone(0.0, APART)))
    assert (first.bodies, second.bodies) == (("one",), ("other",))
    assert first.first == 0
    assert second.last == len(TIMES) - 1
    # It goes over to the other half way between the two.
    assert second.first == first.last + 1
    assert TIMES[second.first] == pytest.approx(1.5, abs=0.1)


def test_a_hand_that_stays_or_only_comes_near_another_body_has_one_turn():
    assert len(turns_of(_problem(_gone(0.0, 0.0)))) == 1
    # Nearer to the other in between, but it never gets to it.
    away = np.where(np.abs(TIMES - 1.5) < 0.3, 0.3, 0.0)
    (turn,) = turns_of(_problem(away))
    assert turn.bodies == ("one",)


def test_scenes_with_one_body_have_one_turn_and_cooking_three():
    assert len(turns_of(load_scene("milk_box_turn"))) == 1
    bodies = [turn.bodies for turn in turns_of(load_scene("cooking"))]
    assert bodies == [("milk_box",), ("wine_pot",), ("spice",)]


def test_fingers_of_turns_are_joined_without_a_leap():
    problem = _problem(_gone(0.0, APART))
    turns = turns_of(problem)
    seen = []

    def learned(part):
        """Open at the one, bent at the other."""
        seen.append((tuple(part.bodies), part.times[0], part.times[-1]))
        model, angle = part.hands["right"], 0.0 if "one" in part.bodies else 0.5
        q = np.full((len(part.times), model.num_joints), angle)
        root = part.track("right").at(part.times)
        bodies = {name: part.track(name).at(part.times) for name in part.bodies}
        return Clip(part, part.times, {"right": HandMotion(root, q)}, bodies,
                    ContactTrack.empty(), Provenance("balls", "neural"))  # fmt: skip

    clip = moved_in_turn(problem, turns, learned)
    # Each part is shown with a second of what comes before and after.
    cut = TIMES[turns[1].first]
    assert seen == [
        (("one",), 0.0, pytest.approx(cut + 1.0, abs=0.03)),
        (("other",), pytest.approx(cut - 1.0, abs=0.03), TIMES[-1]),
    ]
    assert list(clip.bodies) == ["one", "other"]
    q = clip.hands["right"].q[:, 0]
    assert (q[0], q[-1]) == (0.0, 0.5)
    assert 0.0 < np.abs(np.diff(q)).max() < 0.1
    assert np.isfinite(clip.hands["right"].q).all()


def test_a_hand_without_a_visit_has_one_turn():
    far = _problem(_gone(0.2, 0.25))
    assert len(turns_of(far)) == 1
