from __future__ import annotations

import math

import pytest
from stand_in_fingers import ClosingFingers, WildFingers

from handwright.errors import InvalidValueError
from handwright.geometry.shapes import make_shape
from handwright.hands.human.model import human
from handwright.methods.neural.live.soak import Trouble, soak

HANDS = {"right": human("right"), "left": human("left")}
BODIES = [make_shape("cylinder"), make_shape("sphere")]


def test_a_bad_line_is_borne_with():
    report = soak(ClosingFingers(), HANDS, BODIES, duration=12.0, seed=3, swap_every=3.0)
    counts = report.counts
    # Half a second is under way at the end.
    assert counts["frames"] == pytest.approx(12 * 60 - 30, abs=15)
    assert 4 <= counts["lost"] <= 30
    assert 4 <= counts["late"] <= 30
    assert counts["doubled"] > 0
    assert counts["invalid"] > 0
    assert counts["swaps"] == 3
    assert counts["skipped"] == counts["pauses"] == counts["jumps"] == 0
    assert 0.0 < report.largest_tip_step <= 0.02
    assert report.seconds_to_grasp
    assert all(seconds <= 1.0 for seconds in report.seconds_to_grasp)
    assert 0.0 < report.computing_ms[50] <= report.computing_ms[99] <= report.computing_ms[100]
    assert set(report.elapsed_ms) == {50, 95, 99, 100}


def test_the_same_seed_gives_the_same_line():
    def counts(seed):
        return soak(ClosingFingers(), HANDS, BODIES[:1], duration=2.0, seed=seed).counts

    assert counts(5) == counts(5)
    assert counts(5) != counts(6)


def test_hands_that_do_not_grasp_are_told():
    trouble = Trouble(lost=0.0, late=0.0, doubled=0.0, broken=0.0)
    report = soak(
        WildFingers(none=1.0), HANDS, BODIES, duration=6.0, trouble=trouble, swap_every=2.5
    )
    assert report.seconds_to_grasp == [math.inf]
    assert report.largest_tip_step == 0.0
    assert report.counts["lost"] == report.counts["late"] == 0


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidValueError, match="0 bodies"):
        soak(ClosingFingers(), HANDS, [], duration=1.0)
    with pytest.raises(InvalidValueError, match="lost"):
        Trouble(lost=2.0)
