"""Contacts that forces ask for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls

from handwright.errors import InvalidValueError
from handwright.math import rotation
from handwright.methods.neural.fitting import (
    FittedHand,
    Fitter,
    Grips,
    GripSettings,
    Touches,
)
from handwright.methods.neural.fitting.grip import Grip, normal_forces
from handwright.methods.neural.sensing import HandView, Load
from handwright.methods.neural.sensing.body import SensedBody
from tests.methods.neural.fitting.held_bodies import bent, held

FINGERS = ("index", "middle", "ring", "little")
UP = np.array([0.0, 0.0, 1.0])


def pinch(*gaps, heights=None):
    """Capsules on both sides of a body in turn, from outside along x."""
    side = np.where(np.arange(len(gaps)) % 2 == 0, 1.0, -1.0)
    outward = side[:, None] * np.array([1.0, 0.0, 0.0])
    point = 0.03 * outward
    point[:, 2] = 0.0 if heights is None else heights
    still = np.tile(np.eye(3), (len(gaps), 1, 1))
    can_move = np.ones(len(gaps), dtype=bool)
    return Touches(np.array(gaps), point, outward, can_move, still, np.zeros((len(gaps), 3)))


def given(touches, prices, friction=0.8, force=UP):
    return normal_forces(touches.point / 0.03, touches.outward, np.array(prices), friction, force)


def test_two_that_face_each_other_carry_by_friction():
    forces, missing = given(pinch(0.0, 0.0), [1e-4, 1e-4])
    # Edges of the cones reach up to the friction: both together carry the weight.
    np.testing.assert_allclose(forces, 1.0 / (2.0 * 0.8), atol=1e-6)
    assert missing < 1e-6


def test_those_that_touch_share_the_load():
    forces, _ = given(pinch(0.0, 0.0, 0.0, 0.0), [0.01] * 4)
    np.testing.assert_allclose(forces, 1.0 / (4.0 * 0.8), rtol=1e-3)


def test_the_nearer_of_two_is_asked():
    forces, _ = given(pinch(0.0, 0.012, 0.0, 0.006), [0.03, 0.5, 0.03, 0.25])
    assert forces[3] > 3.0 * forces[1]


def test_what_touches_already_leaves_nothing_to_others():
    forces, _ = given(pinch(0.0, 0.0, 0.001, 0.006), [0.03, 0.03, 0.03, 0.3])
    assert forces[3] < GripSettings().least_force < forces[1]


def test_an_infinite_price_is_no_offer():
    assert given(pinch(0.0, 0.0), [0.03, np.inf])[0][1] == 0.0
    forces, missing = given(pinch(0.03, 0.03), [np.inf, np.inf])
    np.testing.assert_array_equal(forces, 0.0)
    assert missing == pytest.approx(1.0)


def test_forces_are_those_of_the_public_solver():
    rng = np.random.default_rng(3)
    outward = rng.normal(size=(9, 3))
    outward /= np.linalg.norm(outward, axis=1)[:, None]
    arm, prices = rng.normal(size=(9, 3)), rng.uniform(0.03, 0.5, 9)
    force, columns = rng.normal(size=3), []
    for one, out in zip(arm, outward, strict=True):
        axis = np.eye(3)[np.abs(out).argmin()]
        first = np.cross(-out, axis) / np.linalg.norm(np.cross(-out, axis))
        second = np.cross(-out, first)
        for side in (first, -first, second, -second):
            along = -out + 0.5 * side
            columns.append([*along, *np.cross(one, along)])
    priced = np.vstack([np.array(columns).T, np.diag(np.repeat(prices, 4))])
    load = np.concatenate([force, np.zeros(3 + len(columns))])
    levels, _ = nnls(priced, load)
    found, missing = normal_forces(arm, outward, prices, 0.5, force)
    np.testing.assert_allclose(found, levels.reshape(9, 4).sum(axis=1), atol=1e-9)
    left = load[:6] - np.array(columns).T @ levels
    assert missing == pytest.approx(np.linalg.norm(left), abs=1e-9)


def carried_by(grip, touches):
    grip.carry(touches, given(touches, grip.prices(touches))[0])


def test_asking_sets_in_ends_and_doubts():
    grip, one_sided = Grip(3, GripSettings()), pinch(0.0, 0.006, 0.03)
    carried_by(grip, one_sided)
    assert 0.0 < grip.asked[1] < 1.0
    assert grip.asked[2] == 0.0
    for _ in range(20):
        carried_by(grip, one_sided)
    # Always asked in vain, it has become dear.
    assert grip._doubt[1] > 0.5
    grip.put_down()
    before = grip.asked.copy()
    grip.put_down()
    assert (grip.asked <= before).all()
    assert grip.asked[1] < before[1]


def test_a_palm_that_is_off_is_not_asked():
    still = pinch(0.0, 0.006)._replace(can_move=np.array([True, False]))
    grip = Grip(2, GripSettings())
    carried_by(grip, still)
    assert grip.asked[1] == 0.0


def view_of(scene, *, is_carried, count=60):
    """The hand and its body at rest, with the weight along the palm."""
    turn = rotation.to_matrix(scene.wrist.wxyz)
    corner = np.full(3, 0.035)
    body = SensedBody(scene.field, scene.field, -corner, corner, np.zeros(3))
    load = Load("body", np.tile(UP, (count, 1)), np.full(count, is_carried), 0.8)
    return HandView(
        scene.model,
        body,
        np.arange(count) / 60.0,
        np.tile(turn, (count, 1, 1)),
        np.tile(scene.wrist.position, (count, 1)),
        np.tile(np.eye(3), (count, 1, 1)),
        np.zeros((count, 3)),
        load=load,
    )


def held_by(scene, view, q):
    """Frames of a network that keeps the hand open and says that nothing touches."""
    fitter, grips = Fitter(FittedHand(scene.model), q), Grips()
    output = scene.output(q, scene.model.pose("open"))
    for frame in range(len(view)):
        asked = grips.asked(
            {"right": view},
            frame,
            lambda name: fitter.shown(scene.view()),
            lambda name: fitter.touches(scene.view(), output),
        )
        posture = fitter.step(scene.view(), output, asked.get("right"))
    return posture, asked


# Thumb and palm carry the ball without the fingers.
@pytest.mark.parametrize("shape", ["rod", "box"])
def test_a_body_that_is_carried_is_taken_hold_of(shape):
    scene = held(shape)
    q = bent(scene.model, scene.q, -0.25, FINGERS)
    before = scene.gaps(q) < 2e-3
    posture, asked = held_by(scene, view_of(scene, is_carried=True), q)
    touching = scene.gaps(posture) < 2e-3
    # Rather asked than not; what counts is that they come.
    assert asked["right"].touch.max() > 0.5
    assert touching.sum() >= before.sum() + 2
    assert scene.gaps(posture).min() > -2e-3


def test_a_body_that_stands_is_left_alone():
    scene = held("box")
    q = bent(scene.model, scene.q, -0.15, FINGERS)
    posture, asked = held_by(scene, view_of(scene, is_carried=False), q)
    assert not asked
    np.testing.assert_allclose(posture, q, atol=2e-2)


def hand_that_is(gap, count, *, side=1.0):
    """What is measured of a hand whose capsules lie on one side of a body, all as far off it."""
    outward = np.tile([side, 0.0, 0.0], (count, 1))
    still = np.tile(np.eye(3), (count, 1, 1))
    can_move = np.ones(count, dtype=bool)
    return Touches(np.full(count, gap), 0.03 * outward, outward, can_move, still, 0.0 * outward)


def asked_of(grips, views, hands):
    """What is asked when hands are shown, and would be, as they are measured."""
    return grips.asked(views, 0, hands.__getitem__, hands.__getitem__)


def test_hands_with_one_body_hold_it_together():
    one = view_of(held("box"), is_carried=True)
    other = replace(one, load=one.load._replace(body="other"))
    hands = {"right": hand_that_is(0.0, 3), "left": hand_that_is(0.0, 2, side=-1.0)}
    together, apart = Grips(), Grips()
    for _ in range(10):
        asked = asked_of(together, {"right": one, "left": one}, hands)
        alone = asked_of(apart, {"right": one, "left": other}, hands)
    assert {name: len(part.touch) for name, part in asked.items()} == {"right": 3, "left": 2}
    for name in hands:
        # From both sides they carry it; with a body of its own neither hand can.
        assert asked[name].stay.min() > 0.9
        assert alone[name].stay.max() == 0.0


def test_a_hand_that_joins_or_leaves_changes_nothing_of_what_is_asked_of_the_other():
    view, grips = view_of(held("box"), is_carried=True), Grips()
    right, left = pinch(0.0, 0.0), hand_that_is(0.015, 2)
    for _ in range(10):
        alone = asked_of(grips, {"right": view}, {"right": right})["right"]
    assert alone.touch.min() > 0.9
    assert alone.stay.min() > 0.9
    both = asked_of(grips, {"right": view, "left": view}, {"right": right, "left": left})
    assert both["right"].touch.min() > 0.9
    assert both["right"].stay.min() > 0.9
    again = asked_of(grips, {"right": view}, {"right": right})
    assert set(again) == {"right"}
    assert again["right"].stay.min() > 0.9
    # Who comes back begins anew.
    back = asked_of(grips, {"right": view, "left": view}, {"right": right, "left": left})
    assert back["left"].touch.max() < 0.6


def test_another_body_is_gripped_anew():
    view, grips = view_of(held("box"), is_carried=True), Grips()
    for _ in range(10):
        asked = asked_of(grips, {"right": view}, {"right": pinch(0.0, 0.0)})
    assert asked["right"].touch.min() > 0.9
    other = view_of(held("rod"), is_carried=True)
    assert (
        asked_of(grips, {"right": other}, {"right": pinch(0.03, 0.03)})["right"].touch.max() == 0.0
    )


def test_bad_settings_are_refused():
    with pytest.raises(InvalidValueError, match="0 to 1"):
        GripSettings(friction_share=1.5)
    with pytest.raises(InvalidValueError, match="shared above 0"):
        GripSettings(shared=0.3)
    with pytest.raises(InvalidValueError, match="full_force"):
        GripSettings(full_force=0.01)
    with pytest.raises(InvalidValueError, match="below reach"):
        GripSettings(touching=0.03)
