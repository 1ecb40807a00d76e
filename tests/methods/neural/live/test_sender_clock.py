from __future__ import annotations

import numpy as np
import pytest

from handwright.methods.neural.live.sender_clock import NUM_AGREEING, LostMessages, SenderClock


def running(count: int = 10) -> SenderClock:
    clock = SenderClock(1.0)
    for n in range(count):
        clock.admit(5.0 + n / 60.0, 100.0 + n / 60.0)
    return clock


def test_messages_follow_each_other():
    clock = SenderClock(1.0)
    assert not clock.is_running
    assert clock.admit(5.0, 100.0) == "first"
    assert clock.admit(5.1, 100.1) == "next"
    assert clock.admit(5.1, 100.1) == "next"
    assert clock.admit(5.05, 100.15) == "earlier"
    assert clock.admit(5.9, 100.9) == "next"
    assert clock.newest == 5.9


@pytest.mark.parametrize("stamp", [-1e9, 3.0, 7.0, 1e9])
def test_one_stamp_that_does_not_fit_changes_nothing(stamp):
    clock = running()
    newest = clock.newest
    assert clock.admit(stamp, 100.2) == "astray"
    assert clock.newest == newest
    assert clock.admit(newest + 1 / 60, 100.2) == "next"


@pytest.mark.parametrize("shift", [-3600.0, -2.0, -0.5, 2.0, 3600.0])
def test_a_clock_that_was_set_is_followed_once_messages_agree(shift):
    clock = running()
    seen = [clock.admit(5.2 + shift + n / 60, 100.2 + n / 60) for n in range(NUM_AGREEING)]
    assert set(seen[:-1]) == {"earlier" if -1.0 < shift < 0.0 else "astray"}
    assert seen[-1] == "jump"
    assert clock.admit(5.2 + shift + NUM_AGREEING / 60, 100.4) == "next"


def test_stamps_that_disagree_are_never_believed():
    clock = running()
    rng = np.random.default_rng(0)
    seen = {clock.admit(stamp, 100.3) for stamp in rng.uniform(1e3, 1e6, 500)}
    assert seen == {"astray"}


def test_milliseconds_are_not_taken_for_seconds():
    clock = SenderClock(1.0)
    seen = [clock.admit(16.7 * n, 100.0 + n / 60) for n in range(200)]
    assert set(seen) == {"first", "astray"}


def test_the_least_delay_tells_what_is_due():
    clock = SenderClock(1.0)
    rng = np.random.default_rng(1)
    for n in range(600):
        clock.admit(n / 60, 100.0 + n / 60 + 0.02 + 0.05 * rng.random())
    assert clock.sent_by(110.02) == pytest.approx(10.0, abs=5e-3)
    # A line that has become slower is known after a while.
    for n in range(600, 60 * 60):
        clock.admit(n / 60, 100.0 + n / 60 + 0.04)
    assert clock.sent_by(160.04) == pytest.approx(60.0, abs=2e-3)


def test_silence():
    clock = SenderClock(1.0)
    assert not clock.is_silent(1e9)
    clock.admit(5.0, 100.0)
    assert not clock.is_silent(100.9)
    assert clock.is_silent(101.1)
    clock.forget()
    assert not clock.is_silent(101.1)


@pytest.mark.parametrize("rate", [30.0, 60.0, 90.0])
def test_lost_messages_are_told_by_the_usual_time_between_two(rate):
    rng, lost = np.random.default_rng(2), LostMessages()
    stamps = np.arange(2000) / rate
    keep = rng.random(2000) >= 0.02
    keep[:40] = True
    found = 0
    for stamp in stamps[keep] + rng.uniform(0.0, 0.1 / rate, keep.sum()):
        lost.add(stamp)
        found += lost.settle(stamp - 1.0)
    assert found == pytest.approx((~keep).sum(), abs=3)


def test_a_message_that_comes_late_is_not_lost():
    lost, found = LostMessages(), 0
    stamps = np.arange(300) / 60.0
    for n, stamp in enumerate(stamps):
        lost.add(stamps[n - 10] if n % 50 == 40 else stamp)
        if n % 50 == 49:
            lost.add(stamps[n - 9])
        found += lost.settle(stamp - 1.0)
    assert found == 0
