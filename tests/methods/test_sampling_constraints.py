"""Mistakes in wishes are refused before anything is prepared; what was not found is explained."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from handwright import GraspRegion, NoContact, Pin, Preference
from handwright.core.clip import KeptDigit
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.methods import ContactSampling
from handwright.methods.base import most_frequent
from handwright.methods.sampling import Ball, FixedJoint, ForbiddenBall
from handwright.methods.sampling.constraints.apply import check_names, digit_rows
from handwright.methods.sampling.setup.intervals import CarryInterval
from handwright.scenes import load_scene

POINT = (0.0, 0.03, 0.0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: NoContact("little"), r"digits is 'little', expected a tuple: \('little',\)"),
        (lambda: Preference("slide", digits="thumb"), r"expected a tuple: \('thumb',\)"),
        (lambda: NoContact(()), "expected one name or more"),
        (lambda: NoContact(("little",), start=1.5, end=1.0), r"end is 1 s, expected 1\.5 s"),
        (lambda: Preference("slide", start=float("nan")), "start is nan s, expected a finite"),
        (lambda: Preference("sliding"), "strategy is 'sliding', expected one of mixed"),
        (lambda: FixedJoint("right", "a", 0.1, start=2.0, end=1.0), r"FixedJoint of 'a': end is"),
        (lambda: FixedJoint("right", "a", float("inf")), "angle is inf"),
        (lambda: ForbiddenBall(POINT, -0.01), r"radius is -0\.01, expected .* above 0"),
        (lambda: ForbiddenBall((0.0, float("nan"), 0.0), 0.01), "center is .* three finite"),
        (lambda: Ball(POINT, 0.0), r"^Ball: radius is 0\.0"),
        (
            lambda: GraspRegion("handel"),
            "where is 'handel', expected one of handle, inside, outside",
        ),
        (lambda: GraspRegion("handle", "thumb"), r"expected a tuple: \('thumb',\)"),
        (
            lambda: ContactSampling(grasp_region="rim"),
            "grasp_region is 'rim', expected one of anywhere, handle",
        ),
        (lambda: Pin("index", POINT, None), "start is None, expected a time in s"),
        (lambda: Pin("index", POINT, 0.0, float("nan")), "end is nan s"),
        (lambda: Pin("index", (0.0, 0.0), 0.0), "three finite numbers"),
        (
            lambda: ContactSampling(no_contact=NoContact(("little",))),
            r"no_contact is a single NoContact, expected a tuple: \(NoContact\(\.\.\.\),\)",
        ),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(make, text):
    with pytest.raises(InvalidValueError, match=text):
        make()


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ({"no_contact": (NoContact(("litle",)),)}, "'litle'. Did you mean 'little'"),
        ({"preferences": (Preference("slide", ("right.indx",)),)}, "mean 'right.index'"),
        ({"pins": (Pin("left.index", POINT, 0.0),)}, "Unknown digit 'left.index'"),
        ({"grasp_regions": (GraspRegion("handle", ("thum",)),)}, "mean 'thumb'"),
        (
            {"grasp_regions": (GraspRegion("handle", body="mug"),)},
            "Unknown body in grasp_regions 'mug'",
        ),
        ({"fixed_joints": (FixedJoint("left", "index_pip_flexion", 0.1),)}, "'left'. Known: right"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(wish, text):
    with pytest.raises(UnknownNameError, match=text):
        check_names(load_scene("milk_box_turn"), ContactSampling(**wish))


def kept(hand="right", body="milk_box"):
    point, none = np.zeros((1, 3)), np.zeros(1)
    return KeptDigit(
        hand, "index", none, np.zeros((1, 30)), (body,), np.zeros(1, int), point, point, point
    )


def test_parts_of_another_problems_clip_cannot_be_kept():
    problem = load_scene("wine_pot")
    with pytest.raises(
        InvalidValueError, match="concerns 'milk_box', which the problem 'wine_pot'"
    ):
        check_names(problem, ContactSampling(kept=(kept(),)))
    with pytest.raises(InvalidValueError, match="concerns 'left'"):
        check_names(problem, ContactSampling(kept=(kept("left", "wine_pot"),)))
    # A digit that touches nothing names no body.
    check_names(problem, ContactSampling(kept=(kept(body=""), kept(body="wine_pot"))))


def test_digits_of_a_hand_that_takes_no_part_are_passed_over():
    problem = load_scene("small_box_two_hands")
    check_names(problem, ContactSampling(no_contact=(NoContact(("left.little", "index")),)))
    right = problem.hands["right"]
    interval = CarryInterval("small_box", {"right": right}, 0, 10)
    names = [digit.name for digit in right.digits]
    assert digit_rows(interval, ("left.little", "index")) == [names.index("index")]


def test_a_cause_counts_once_whatever_frames_and_joints_it_names():
    weak = "at frame {}, '{}' of 'right' is not strong enough. Make it lighter."
    weary = [weak.format(frame, f"joint_{frame}") for frame in (20, 20, 31, 40)]
    causes = Counter({"fingers would cross.": 3}) + Counter(weary)
    assert most_frequent(causes) == (
        "Most often (4 times): at frame 20, 'joint_20' of 'right' is not strong enough. "
        "Make it lighter."
    )
    once = most_frequent(Counter(["fingers would cross."]))
    assert once == "Most often (once): fingers would cross."
    assert most_frequent(Counter()) == ""
