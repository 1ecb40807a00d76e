"""Edited problems differ in what was asked for and in nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handwright.core.editing import with_body, with_friction, with_hand_offset, with_mass
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.shapes import make_shape
from handwright.scenes import load_scene

PROBLEM = load_scene("milk_box_turn")
(HAND,), (BODY,) = PROBLEM.hands, PROBLEM.bodies


@settings(max_examples=20, deadline=None)
@given(st.tuples(*[st.floats(-0.1, 0.1)] * 3))
def test_an_offset_moves_the_hand_in_its_own_frame(shift):
    edited = with_hand_offset(PROBLEM, HAND, np.array(shift))
    before, after = (one.track(HAND).at(one.times) for one in (PROBLEM, edited))
    seen = before.inverse().apply(after.position)
    np.testing.assert_allclose(seen, np.tile(shift, (len(seen), 1)), atol=1e-12)
    np.testing.assert_array_equal(before.wxyz, after.wxyz)
    np.testing.assert_array_equal(
        PROBLEM.track(BODY).pose.position, edited.track(BODY).pose.position
    )


def test_friction_mass_and_shape_are_swapped():
    assert with_friction(PROBLEM, BODY, 0.3).bodies[BODY].friction == 0.3
    heavy = with_mass(PROBLEM, BODY, 2.0).bodies[BODY]
    assert heavy.mass == 2.0
    assert heavy.friction == PROBLEM.bodies[BODY].friction
    ball = make_shape("sphere")
    edited = with_body(PROBLEM, BODY, ball)
    assert edited.bodies[BODY] is ball
    assert edited.track(BODY) is PROBLEM.track(BODY)


@pytest.mark.parametrize("shape", ["sphere", "mug", "bottle", "hammer"])
def test_a_body_that_stands_is_as_low_as_the_old_one_and_otherwise_the_same(shape):
    new = make_shape(shape)
    edited = with_body(PROBLEM, BODY, new, stand=True)
    stood, pose = edited.bodies[BODY], PROBLEM.track(BODY).pose[0]
    lowest = [pose.apply(body.vertices)[:, 2].min() for body in (PROBLEM.bodies[BODY], stood)]
    assert lowest[0] == pytest.approx(lowest[1], abs=1e-9)
    shift = stood.vertices - new.vertices
    np.testing.assert_allclose(shift, np.tile(shift[0], (len(shift), 1)), atol=1e-12)
    # Straight up or down in the world.
    np.testing.assert_allclose(pose.rotate(shift[0])[:2], 0.0, atol=1e-12)
    np.testing.assert_allclose(stood.center - new.center, shift[0], atol=1e-12)
    np.testing.assert_array_equal(stood.inertia, new.inertia)


def test_nothing_stands_without_gravity():
    afloat = replace(PROBLEM, gravity=np.zeros(3))
    with pytest.raises(InvalidValueError, match="no gravity"):
        with_body(afloat, BODY, make_shape("sphere"), stand=True)


def test_mistakes_are_named():
    with pytest.raises(UnknownNameError, match="bowl"):
        with_friction(PROBLEM, "bowl", 0.5)
    with pytest.raises(UnknownNameError, match="third"):
        with_hand_offset(PROBLEM, "third", np.zeros(3))
    with pytest.raises(InvalidValueError, match="three finite numbers"):
        with_hand_offset(PROBLEM, HAND, np.array([0.0, np.nan, 0.0]))
