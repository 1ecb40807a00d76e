"""Limits of the certificate, and margins to them."""

from __future__ import annotations

from dataclasses import fields

import pytest

from handwright.core.tolerances import Tolerances
from handwright.errors import InvalidValueError


def test_margins_shrink_limits_of_errors_and_nothing_else():
    given = Tolerances(soft_tissue=0.002, smoothing_hz=8.0)
    tight = given.tightened(0.5)
    changed = {
        item.name
        for item in fields(given)
        if getattr(tight, item.name) != getattr(given, item.name)
    }
    assert tight.gap == 0.5 * given.gap
    assert tight.static_speed == 0.5 * given.static_speed
    assert {"gap", "penetration", "force_residual", "strength", "joint_limits"} <= changed
    assert not changed & {"soft_tissue", "smoothing_hz", "contact_distance", "jump_speed"}
    assert given.tightened(1.0) == given


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_a_margin_is_a_share(share):
    with pytest.raises(InvalidValueError, match="above 0, up to 1"):
        Tolerances().tightened(share)


def test_every_limit_has_a_unit_for_people():
    plain = Tolerances()
    for item in fields(plain):
        number, _, unit = plain.in_words(item.name).partition(" ")
        assert unit or number == "none", item.name
    assert Tolerances(soft_tissue=1e-3, smoothing_hz=8.0).conditions() == [
        "soft_tissue 1 mm (default 0 mm)",
        "smoothing_hz 8 Hz (default none)",
    ]
