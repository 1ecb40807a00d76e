"""Limits of contact sampling follow the certificate's tolerances and stay under them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handwright.core.tolerances import Tolerances
from handwright.methods import ContactSampling
from handwright.methods.sampling.setup import limits
from handwright.methods.sampling.setup.limits import check_limits, kept_limits, search_limits

STEP, WEIGHT = 1.0 / 30.0, 5.0
METHOD = ContactSampling()


def test_a_share_of_a_tolerance_is_exact_in_decimals():
    assert limits.share_of(1e-3, 0.9) == 9e-4
    assert limits.share_of(1e-3, 0.18) == 1.8e-4
    assert limits.share_of(0.01, 0.9) == 9e-3


def test_every_stage_is_stricter_than_the_next_and_the_last_than_the_certificate():
    asked = Tolerances()
    search = search_limits(METHOD, STEP, WEIGHT)
    check = check_limits(search, METHOD, STEP)
    assert search.gap < check.gap <= asked.gap
    assert search.penetration < check.penetration < asked.penetration
    assert check.penetration + limits.HIDDEN_DEPTH < asked.penetration
    assert search.slip < check.slip < asked.static_speed * STEP
    assert search.digits < asked.finger_finger
    assert limits.EXACT_GAP < asked.gap < limits.NEAR_GAP
    assert asked.static_drift > limits.CREEP
    assert limits.RESIDUAL < limits.LOOSE_RESIDUAL < asked.force_residual
    assert asked.strength > limits.USABLE_DIGIT_FORCE
    assert asked.gap > limits.GROUND_GAP


def test_limits_follow_a_change_of_the_tolerances(monkeypatch):
    twice = Tolerances(gap=2e-3, penetration=2e-3, finger_finger=2e-3, static_speed=1e-2)
    before = search_limits(METHOD, STEP, WEIGHT)
    checked = check_limits(before, METHOD, STEP)
    monkeypatch.setattr(limits, "TOLERANCES", twice)
    after = search_limits(METHOD, STEP, WEIGHT)
    for name in ("gap", "penetration", "digits", "anchor", "slip"):
        assert getattr(after, name) == pytest.approx(2.0 * getattr(before, name), rel=1e-12), name
    now = check_limits(after, METHOD, STEP)
    for name in ("gap", "penetration", "slip"):
        assert getattr(now, name) == pytest.approx(2.0 * getattr(checked, name), rel=1e-12), name


def test_soft_skin_adds_to_the_depth_and_stretches():
    soft = replace(METHOD, soft_tissue=3e-3, skin_stretch=2e-3)
    search = search_limits(soft, STEP, WEIGHT)
    check = check_limits(search, soft, STEP)
    plain = search_limits(METHOD, STEP, WEIGHT)
    assert search.penetration == pytest.approx(plain.penetration + 3e-3)
    assert 0.0 == plain.shear < search.shear < check.shear < 2e-3


def test_light_bodies_may_be_pressed_with_more_of_their_weight():
    assert search_limits(METHOD, STEP, 100.0).force == METHOD.max_force
    assert search_limits(METHOD, STEP, 0.5).force == 50.0


def test_what_is_kept_is_searched_with_the_limits_of_the_check():
    check = check_limits(search_limits(METHOD, STEP, WEIGHT), METHOD, STEP)
    kept = kept_limits(check, STEP)
    assert kept.slip == Tolerances().static_speed * STEP
    assert kept.penetration == check.penetration
    assert kept.max_samples < check.max_samples
