"""Settings that are written once: checks, plain values, and the page that lists them."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import pytest

from handwright.core.settings import (
    check_settings,
    data_field,
    from_plain_settings,
    plain_settings,
    setting,
    settings_of,
)
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.methods import METHODS, ContactSampling
from handwright.methods.sampling import (
    Ball,
    FixedJoint,
    ForbiddenBall,
    GraspRegion,
    NoContact,
    Pin,
    Preference,
)
from tools.settings_table import FILE, settings_page


@dataclass(frozen=True, slots=True)
class Point:
    xyz: tuple[float, float, float]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    count: int = setting(3, unit="frames", at_least=1, help="How many.")
    force: float = setting(2.0, unit="N", above=0.0)
    share: float = setting(0.5, above=0.0, at_most=1.0)
    angle: float = setting(0.1, unit="rad", at_least=0.0, at_most=1.5)
    cutoff: float | None = setting(None, unit="Hz", above=0.0, label="Smoothing")
    most: float = setting(1.0, unit="m", at_most=4.0)
    is_on: bool = setting(True)
    mode: Literal["a", "b"] = setting("a")
    sides: int = setting(4, choices=(0, 4, 6))
    points: tuple[Point, ...] = setting(())
    plain: float = 1.0
    table: tuple[int, ...] = data_field(())

    def __post_init__(self) -> None:
        check_settings(self)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"count": 0}, "count is 0, expected 1 frame or more"),
        ({"count": 2.0}, "count is 2.0, expected a whole number"),
        ({"count": True}, "count is True, expected a whole number"),
        ({"force": 0.0}, "force is 0.0, expected above 0 N"),
        ({"force": "3"}, "force is '3', expected a number"),
        ({"force": float("nan")}, "force is nan, expected a finite number"),
        ({"force": float("inf")}, "force is inf, expected a finite number"),
        ({"force": None}, "force is None, expected above 0 N"),
        ({"share": 1.1}, "share is 1.1, expected above 0, up to 1"),
        ({"share": 0.0}, "share is 0.0, expected above 0, up to 1"),
        ({"angle": 1.6}, "angle is 1.6, expected 0 to 1.5 rad"),
        ({"cutoff": -1.0}, "cutoff is -1.0, expected above 0 Hz, or None"),
        ({"most": 4.1}, "most is 4.1, expected 4 m or less"),
        ({"is_on": 1}, "is_on is 1, expected True or False"),
        ({"mode": "c"}, "mode is 'c', expected one of a, b"),
        ({"sides": 3}, "sides is 3, expected 0, 4 or 6"),
        ({"sides": False}, "sides is False, expected 0, 4 or 6"),
        (
            {"points": Point((0.0, 0.0, 0.0))},
            "points is a single Point, expected a tuple: (Point(...),)",
        ),
        ({"plain": "x"}, "plain is 'x', expected a number"),
    ],
)
def test_a_value_out_of_range_is_named_with_what_was_expected(given, text):
    with pytest.raises(InvalidValueError) as caught:
        Sample(**given)
    assert str(caught.value) == f"Sample: {text}."


@pytest.mark.parametrize(
    "given",
    [
        {"count": 1},
        {"count": np.int64(2)},
        {"share": 1.0},
        {"angle": 0.0},
        {"angle": 1.5},
        {"cutoff": None},
        {"most": 4},
        {"sides": 0},
        {"points": [Point((0.0, 0.0, 0.0))]},
    ],
)
def test_values_at_the_ends_of_a_range_are_taken(given):
    Sample(**given)


def test_all_faults_are_told_at_once():
    with pytest.raises(InvalidValueError) as caught:
        Sample(count=0, share=2.0, mode="z")
    assert str(caught.value) == (
        "Sample: count is 0, expected 1 frame or more; share is 2.0, expected above 0, up to 1; "
        "mode is 'z', expected one of a, b."
    )


def test_a_setting_knows_its_kind_its_label_and_its_default():
    known = {item.name: item for item in settings_of(Sample)}
    assert "table" not in known
    kinds = ["integer", "number", "number", "number", "number", "number", "boolean", "choice"]
    assert [item.kind for item in known.values()] == [*kinds, "choice", "object", "number"]
    assert (known["cutoff"].label, known["is_on"].label) == ("Smoothing", "Is on")
    shown = [known[name].default_text for name in ("count", "force", "cutoff", "is_on", "points")]
    assert shown == ["3", "2", "none", "on", "none"]


def test_settings_come_back_from_json():
    made = Sample(
        count=np.int64(5), cutoff=8.0, points=(Point((0.0, 1.0, 2.0), "x"), Point((1.0, 1.0, 1.0)))
    )
    plain = plain_settings(made)
    assert "table" not in plain
    text = json.loads(json.dumps(plain))
    assert text == plain
    assert Sample(**from_plain_settings(Sample, text)) == made
    with pytest.raises(UnknownNameError, match=r"Unknown setting of Sample 'cont'.*'count'"):
        from_plain_settings(Sample, {"cont": 3})
    # Files of earlier releases list data, always empty.
    assert from_plain_settings(Sample, {"table": [], "count": 2}) == {"count": 2}
    with pytest.raises(UnknownNameError, match="'table'"):
        from_plain_settings(Sample, {"table": [1]})


def test_every_constraint_of_sampling_comes_back_from_json():
    made = ContactSampling(
        preferences=(Preference("slide", ("index",), 0.5, 1.0),),
        no_contact=(NoContact(("little", "ring"), start=0.2),),
        forbidden=(ForbiddenBall((0.0, 0.1, 0.2), 0.03),),
        fixed_joints=(FixedJoint("right", "ring_pip_flexion", 0.6),),
        pins=(Pin("index", (0.0, 0.1, 0.2), 1.0),),
        grasp_regions=(GraspRegion("inside", ("thumb",)), GraspRegion(Ball((0.0, 0.0, 0.1), 0.02))),
    )
    text = json.loads(json.dumps(plain_settings(made)))
    assert ContactSampling(**from_plain_settings(ContactSampling, text)) == made


@pytest.mark.parametrize("name", METHODS)
def test_every_setting_of_a_method_has_help_that_stands_alone(name):
    for item in settings_of(METHODS[name]):
        assert item.about.help.endswith("."), item.name
        assert item.about.help[0].isupper(), item.name
        assert not item.about.help.startswith(("Of ", "For ", "The same")), item.name


def test_methods_that_search_share_one_time_budget():
    budgets = {
        item.default
        for cls in METHODS.values()
        for item in fields(cls)
        if item.name == "time_budget"
    }
    assert budgets == {60.0}


def test_the_page_of_settings_is_current():
    text = FILE.read_text(encoding="utf-8")
    assert text == settings_page(), "Run: python tools/settings_table.py"
