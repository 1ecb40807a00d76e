"""Hands that cannot be: each planted fault is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.hands import human

HAND = human(coupled=True)


def changed(array, index, value):
    copy = np.array(array)
    copy[index] = value
    return copy


@pytest.mark.parametrize(
    ("field", "index", "value", "message"),
    [
        ("lower", 3, np.nan, "NaN or infinite"),
        ("upper", 3, np.inf, "NaN or infinite"),
        ("offset", (2, 1), np.nan, "NaN or infinite"),
        ("lower", 3, 3.0, r"lower limit above upper limit at \['thumb_mcp_flexion'\]"),
        ("axis", 0, 0.0, "length 1"),
        ("parent", 4, 5, "parents must come before their children"),
        ("leader", 2, 30, "leaders are"),
        ("leader", 2, -2, "leaders are"),
        ("leader", 2, 11, "may not follow a follower"),
    ],
)
def test_broken_joints_are_refused(field, index, value, message):
    # Joint 11 is the last of the index finger, which follows.
    assert HAND.joints.leader[11] == 10
    with pytest.raises(InvalidValueError, match=message):
        replace(HAND.joints, **{field: changed(getattr(HAND.joints, field), index, value)})


@pytest.mark.parametrize(
    ("part", "field", "index", "value", "message"),
    [
        ("frames", "link", 5, 31, "a frame sits on a link outside 0..30"),
        ("capsules", "link", 0, -1, "a capsule sits on a link outside"),
        ("sites", "link", 0, 99, "a site sits on a link outside"),
        ("capsules", "digit", 0, 5, "a capsule belongs to a digit outside 0..4"),
        ("capsules", "radius", 0, 0.0, "radius is not above zero"),
        ("capsules", "radius", 0, np.nan, "radius is not above zero"),
        ("masses", "mass", 0, -1.0, "a mass is negative"),
        ("masses", "mass", 0, np.nan, "not a number"),
        ("masses", "inertia", 0, np.nan, "not a number"),
    ],
)
def test_broken_parts_are_refused(part, field, index, value, message):
    broken = replace(
        getattr(HAND, part), **{field: changed(getattr(getattr(HAND, part), field), index, value)}
    )
    with pytest.raises(InvalidValueError, match=message):
        replace(HAND, **{part: broken})


def test_broken_digits_poses_and_wrists_are_refused():
    thumb = HAND.digits[0]
    with pytest.raises(InvalidValueError, match="a tip, pad or nail sits on a link outside"):
        replace(HAND, digits=(replace(thumb, pad=replace(thumb.pad, link=31)), *HAND.digits[1:]))
    with pytest.raises(InvalidValueError, match="digit 'thumb' has joints"):
        replace(HAND, digits=(replace(thumb, joints=(0, 30)), *HAND.digits[1:]))
    with pytest.raises(InvalidValueError, match="a wrist frame sits on a link outside"):
        replace(HAND, wrist_link=31)
    with pytest.raises(InvalidValueError, match=r"pose 'odd' has shape \(3,\), expected \(30,\)"):
        replace(HAND, poses={"odd": np.zeros(3)})
    for value in (9.0, np.nan):
        with pytest.raises(InvalidValueError, match="pose 'odd' breaks the limits of thumb_cmc_ab"):
            replace(HAND, poses={"odd": changed(np.zeros(30), 1, value)})


def test_limits_of_a_follower_narrow_its_leader():
    """The leader stops where the follower does, and goes on obeying its own limits."""
    tree = HAND.joints
    follower = tree.index("index_dip_flexion")
    leader = tree.leader[follower]
    ratio, bias = tree.ratio[follower], tree.bias[follower]
    new = HAND.with_limits({"index_dip_flexion": (0.1, 0.3)}).joints
    assert new.lower[leader] == pytest.approx(max((0.1 - bias) / ratio, tree.lower[leader]))
    assert new.upper[leader] == pytest.approx(min((0.3 - bias) / ratio, tree.upper[leader]))
    for value in (new.lower[leader], new.upper[leader]):
        assert 0.1 - 1e-12 <= value * ratio + bias <= 0.3 + 1e-12
    # A clamped hand then keeps the coupling, which two sets of limits would have broken.
    q = new.clamp(np.full(len(new), 2.0))
    assert q[follower] == pytest.approx(q[leader] * ratio + bias)
    # The other fingers are as before.
    other = tree.index("ring_pip_flexion")
    assert (new.lower[other], new.upper[other]) == (tree.lower[other], tree.upper[other])


def test_limits_without_a_place_for_both_are_refused():
    with pytest.raises(InvalidValueError, match="'index_dip_flexion' follows 'index_pip_flexion'"):
        HAND.with_limits({"index_dip_flexion": (-0.9, -0.8)})
