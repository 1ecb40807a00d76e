"""What carries a body stays where it is on it."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.math import rotation
from handwright.methods.neural.fitting import (
    Asked,
    ContactSettings,
    FittedHand,
    Fitter,
    HoldSettings,
    Touches,
)
from handwright.methods.neural.fitting.holds import Holds, nothing_asked
from tests.methods.neural.fitting.held_bodies import held

ONE = np.ones(1)


def touching(place=(0.0, 0.0, 0.0), *, gap=0.0, turn=None, can_move=True):
    """One capsule on a plane with the normal z, its link turned and its skin at a place."""
    point = np.array([place], dtype=float)
    turned = np.eye(3) if turn is None else rotation.to_matrix(rotation.exp(np.array(turn)))
    link = point + np.array([[0.0, 0.0, 0.01]])
    up = np.array([[0.0, 0.0, 1.0]])
    return Touches(np.array([gap]), point, up, np.array([can_move]), turned[None], link)


def place_of(asked: Asked, touches: Touches):
    """Where the skin that holds is now."""
    return np.einsum("cij,cj->ci", touches.rotation, asked.on_link) + touches.position


def test_what_touches_and_is_asked_takes_hold_there():
    holds = Holds(1, HoldSettings())
    first = touching((0.01, 0.02, 0.0), gap=1e-3, turn=(0.3, 0.2, 0.1))
    holds.follow(first, ONE)
    asked = holds.asked(ONE, 0.0)
    assert asked.stay == 1.0
    # The skin is as far from the body as the capsule was.
    np.testing.assert_allclose(asked.on_body, [[0.01, 0.02, 1e-3]], atol=1e-12)
    np.testing.assert_allclose(place_of(asked, first), asked.on_body, atol=1e-12)


@pytest.mark.parametrize(
    ("touches", "level"),
    [
        (touching(gap=3e-3), 1.0),
        (touching(), 0.3),
        (touching(can_move=False), 1.0),
    ],
    ids=["off the body", "hardly asked", "palm"],
)
def test_others_do_not(touches, level):
    holds = Holds(1, HoldSettings())
    holds.follow(touches, level * ONE)
    assert holds.asked(level * ONE, 0.0).stay == 0.0


def test_it_stretches_before_it_slides():
    settings = HoldSettings()
    holds = Holds(1, settings)
    holds.follow(touching(), ONE)
    holds.follow(touching((0.5 * settings.stretch, 0.0, 0.0)), ONE)
    np.testing.assert_allclose(holds.asked(ONE, 0.0).on_body[0, :2], 0.0, atol=1e-12)
    far = touching((3.0 * settings.stretch, 0.0, 0.0))
    holds.follow(far, ONE)
    moved = holds.asked(ONE, 0.0)
    np.testing.assert_allclose(moved.on_body[0, :2], [2.0 * settings.stretch, 0.0], atol=1e-12)
    # The same skin as before, not what is nearest now.
    np.testing.assert_allclose(place_of(moved, far)[0, :2], far.point[0, :2], atol=1e-12)


def test_it_lets_go():
    settings = HoldSettings()
    holds = Holds(1, settings)
    holds.follow(touching(), ONE)
    holds.follow(touching(gap=1.01 * settings.end), ONE)
    assert holds.asked(ONE, 0.0).stay == 0.0
    holds.follow(touching(), ONE)
    assert holds.asked(ONE, 0.0).stay == 1.0
    holds.follow(touching(), 0.9 * settings.let_go * ONE)
    assert holds.asked(ONE, 0.0).stay == 0.0


def test_a_grip_that_does_not_carry_is_not_held_on_to():
    settings = HoldSettings()
    holds = Holds(1, settings)
    holds.follow(touching(), ONE)
    between = holds.asked(ONE, 0.5 * (settings.firm + settings.loose)).stay[0]
    assert between == pytest.approx(0.5)
    assert holds.asked(ONE, settings.loose).stay == 0.0


def wandered(stay):
    """How far skin slides on a rod while the network says that fingers spread, m."""
    scene = held("rod")
    hand = FittedHand(scene.model, contact=ContactSettings(stay=stay))
    fitter, view = Fitter(hand, scene.q), scene.view()
    spread = scene.q.copy()
    for joint, name in enumerate(scene.model.joints.names):
        if "abduction" in name and not name.startswith("thumb"):
            spread[joint] += 0.15
    output = scene.output(scene.model.joints.clamp(spread), scene.q)
    count = hand.contact.num_capsules
    holds, before = Holds(count, HoldSettings()), fitter.shown(view)
    level = np.where(before.gap < 1.5e-3, 1.0, 0.0)
    for _ in range(40):
        holds.follow(fitter.shown(view), level)
        asked = holds.asked(level, 0.0)
        fitter.step(view, output, asked._replace(touch=np.zeros(count)))
    after = fitter.shown(view)
    holding = np.flatnonzero(level * before.can_move)
    assert len(holding) >= 4
    skin = before.point + before.gap[:, None] * before.outward
    local = np.einsum("cji,cj->ci", before.rotation, skin - before.position)
    now = np.einsum("cij,cj->ci", after.rotation, local) + after.position
    return float(np.linalg.norm((now - skin)[holding], axis=1).mean())


def test_skin_that_holds_slides_less():
    free, firm, as_it_is = (wandered(stay) for stay in (0.0, 4.0, ContactSettings().stay))
    assert as_it_is < 0.75 * free
    assert firm < 0.5 * as_it_is


def test_a_batch_has_rows():
    asked = nothing_asked(2, 3, 5).in_rows(6)
    assert asked.touch.shape == asked.stay.shape == (6, 5)
    assert asked.on_link.shape == asked.on_body.shape == (6, 5, 3)


@pytest.mark.parametrize(
    "settings",
    [{"begin": 6e-3}, {"stretch": 0.0}, {"let_go": 0.6}, {"firm": 0.1}],
    ids=lambda one: next(iter(one)),
)
def test_bad_settings_are_refused(settings):
    with pytest.raises(InvalidValueError, match="expected"):
        HoldSettings(**settings)
