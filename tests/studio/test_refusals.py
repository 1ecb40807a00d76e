from __future__ import annotations

import pytest
from pydantic import ValidationError

from handwright.studio.live_messages import LiveCommand
from handwright.studio.messages import JobRequest
from handwright.studio.server.validation_text import refusal


def said(model: type, given: object) -> str:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(given)
    return refusal(caught.value.errors())


PIN = {"digit": "index", "point": [0, 0, 0], "start": 0, "end": None}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seed": "many"}, "'seed' is 'many'; expected a whole number."),
        ({"seed": 1.5}, "'seed' is 1.5; expected a whole number."),
        ({"seed": 2**40}, "'seed' is 1099511627776; expected 2147483647 at most."),
        ({"scene": 3}, "'scene' is 3; expected a text."),
        ({"pins": 3}, "'pins' is 3; expected a list."),
        ({"pins": [3]}, "'pins[0]' is 3; expected an object with names and values."),
        ({"pins": [{**PIN, "start": None}]}, "'pins[0].start' is None; expected a number."),
        ({"pins": [{**PIN, "start": float("inf")}]}, "is inf; expected a finite number."),
        ({"pins": [{**PIN, "point": [0, 0, 0, 0]}]}, "is [0, 0, 0, 0]; expected 3 values."),
        ({"pins": [{"digit": "index"}]}, "'pins[0].point' is missing."),
        ({"when": 3}, "'when' is not known here."),
    ],
)
def test_a_refusal_says_what_was_given_and_what_was_expected(change, text):
    told = said(JobRequest, {"scene": "milk_box_turn", **change})
    assert text in told
    assert told.endswith("Change that and ask again.")


def test_choices_are_listed():
    assert "is 'explode'; expected 'start', 'push'" in said(LiveCommand, {"kind": "explode"})


def test_much_is_cut_and_many_are_counted():
    told = said(JobRequest, {"scene": "x", **{f"part_{i}": "y" * 999 for i in range(9)}})
    assert "And 4 more." in told
    told = said(JobRequest, {"scene": ["y" * 999]})
    assert "…; expected a text." in told
    assert len(told) < 200
