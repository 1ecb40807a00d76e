"""Pinned points, grips and kept parts in the motions that contact sampling returns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from corpus import solved

from benchmarks.sampling.grip_shares import near_share
from handwright.core.result import Status
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.evidence import certify
from handwright.io.clip.file import load_clip, save_clip
from handwright.methods import ContactSampling
from handwright.methods.provenance import method_of
from handwright.methods.sampling import NoContact, Pin
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

ONE = ContactSampling(num_solutions=1, time_budget=600.0)
PLACE = (0.034, 0.034, 0.0358)
"""Near an upright edge of the milk box, where the index can be for most of the motion, m."""


@pytest.fixture(scope="module")
def box():
    return load_scene("milk_box_turn")


@pytest.fixture(scope="module")
def still_clip():
    return solved("milk_box_turn", replace(ONE, strategy="static"), seed=2).clips[0]


def distances(clip, digit, point):
    """(T,) of a digit's nearest contact from a point of the only body, m."""
    contacts, (body,), (model,) = clip.contacts, clip.bodies, clip.problem.hands.values()
    row = [one.name for one in model.digits].index(digit)
    local = clip.bodies[body].inverse()[contacts.frame].apply(contacts.point)
    away = np.full(clip.num_frames, np.inf)
    for n in np.flatnonzero(contacts.toucher == 0):
        if model.capsules.digit[contacts.part[n]] == row:
            t = contacts.frame[n]
            away[t] = min(away[t], np.linalg.norm(local[n] - point))
    return away


def test_a_pinned_digit_is_at_its_point(box):
    pin = Pin("index", PLACE, 1.3, 1.8)
    result = synthesize(box, replace(ONE, pins=(pin,)), seed=1)
    assert result.status is Status.SOLVED, result.message
    (clip,) = result.clips
    assert certify(clip).passed
    away = distances(clip, "index", PLACE)
    within = (clip.times >= pin.start) & (clip.times <= pin.end)
    assert within.sum() >= 15
    assert away[within].max() <= 3e-3


def test_an_open_pin_lasts_for_a_while(box):
    place = (0.0216, 0.034, 0.035)
    result = synthesize(box, replace(ONE, pins=(Pin("index", place, 0.0),)), seed=1)
    assert result.status is Status.SOLVED, result.message
    touching = np.flatnonzero(distances(result.clips[0], "index", place) <= 3e-3)
    assert len(touching) >= 5
    # Nobody asked the little finger.
    assert distances(result.clips[0], "little", place).min() > 3e-3


def test_a_pin_out_of_reach_is_named(box):
    pin = Pin("little", (0.0, -0.034, 0.0), 0.7, 1.0)
    result = synthesize(box, replace(ONE, pins=(pin,)), seed=0)
    assert result.status is Status.INFEASIBLE
    for word in ("Pin 0", "little", "frame 21", " mm", "Move the point"):
        assert word in result.message


def test_a_pin_against_other_wishes_is_named(box):
    pins = (Pin("index", PLACE, 1.3, 1.8),)
    away = replace(ONE, pins=pins, no_contact=(NoContact(("index",)),))
    result = synthesize(box, away, seed=0)
    assert result.status is Status.INFEASIBLE
    assert "no_contact" in result.message
    late = synthesize(box, replace(ONE, pins=(Pin("index", PLACE, 50.0),)), seed=0)
    assert late.status is Status.INFEASIBLE
    assert "Pin 0" in late.message
    assert "holds nothing" in late.message


def test_mistakes_in_pins_are_refused(box):
    with pytest.raises(InvalidValueError, match="surface"):
        synthesize(box, replace(ONE, pins=(Pin("index", (0.0, 0.0, 0.0), 1.0),)), seed=0)
    with pytest.raises(UnknownNameError, match="toe"):
        synthesize(box, replace(ONE, pins=(Pin("toe", PLACE, 1.0),)), seed=0)
    with pytest.raises(InvalidValueError, match="start"):
        Pin("index", PLACE, 1.0, 0.5)
    with pytest.raises(InvalidValueError, match="grip"):
        ContactSampling(grip="firm")  # type: ignore[arg-type]


def joints_of(clip, digits):
    (model,) = clip.problem.hands.values()
    return [joint for one in model.digits if one.name in digits for joint in one.joints]


def test_kept_digits_stay_and_others_do_not(box, still_clip):
    kept = ("thumb", "index")
    result = synthesize(box, ONE.keeping(still_clip, kept), seed=2)
    assert result.status is Status.SOLVED, result.message
    (clip,) = result.clips
    assert certify(clip).passed
    (hand,) = clip.hands
    moved = np.abs(clip.hands[hand].q - still_clip.hands[hand].q).max(axis=0)
    assert moved[joints_of(clip, kept)].max() <= 0.05
    assert moved[joints_of(clip, ("middle", "ring", "little"))].max() > 0.1


def test_what_was_before_a_time_stays(box, still_clip):
    result = synthesize(box, ONE.keeping(still_clip, end=1.0), seed=2)
    assert result.status is Status.SOLVED, result.message
    (clip,) = result.clips
    (hand,) = clip.hands
    moved = np.abs(clip.hands[hand].q - still_clip.hands[hand].q).max(axis=1)
    assert moved[clip.times <= 1.0].max() <= 0.05
    assert moved[clip.times > 1.0].max() > 0.1


def test_mistakes_in_what_is_kept_are_refused(still_clip):
    with pytest.raises(UnknownNameError, match="toe"):
        ONE.keeping(still_clip, ("toe",))
    with pytest.raises(InvalidValueError, match="Nothing to keep"):
        ONE.keeping(still_clip, start=50.0)


def test_a_power_grip_bears_more_behind_the_fingertips(box):
    some = replace(ONE, num_solutions=3)
    found = {
        grip: synthesize(box, replace(some, grip=grip), seed=1).clips
        for grip in ("power", "precision")
    }
    assert near_share(found["power"]) > 3.0 * near_share(found["precision"])
    assert near_share(found["power"]) > near_share(found["precision"]) + 0.02


def test_a_pin_is_kept_where_the_thumb_of_a_grip_is():
    # The thumb touches a little beside its guiding point here; alone it would touch farther off.
    pin = Pin("thumb", (0.015, -0.034, 0.034), 1.0)
    method = ContactSampling(num_solutions=1, time_budget=60.0, pins=(pin,))
    result = synthesize(load_scene("milk_box_turn"), method, seed=0)
    assert result.status is Status.SOLVED, result.message


def test_a_clip_with_kept_parts_is_saved_loaded_and_made_again(box, still_clip, tmp_path):
    made = synthesize(box, ONE.keeping(still_clip, ("thumb",), end=1.0), seed=2).best
    (part,) = made.provenance.kept
    assert (part.hand, part.digit) == ("right", "thumb")
    save_clip(made, tmp_path / "kept.npz")
    loaded = load_clip(tmp_path / "kept.npz")
    assert dict(loaded.provenance.settings) == dict(made.provenance.settings)
    assert "kept" not in loaded.provenance.settings
    for name in ("times", "q", "link", "local", "point", "normal"):
        before, after = getattr(part, name), getattr(loaded.provenance.kept[0], name)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    assert loaded.provenance.kept[0].body == part.body
    again = synthesize(loaded.problem, method_of(loaded.provenance), seed=2).best
    np.testing.assert_array_equal(again.hands["right"].q, made.hands["right"].q)
