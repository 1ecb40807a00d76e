"""The network's pose as joint values of a hand."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.hands import human, trident
from handwright.kinematics import posed_tips
from handwright.methods.neural.fitting import FitSettings, FittedHand, Fitter, fit_posture
from handwright.methods.neural.sensing.features import pose_of

HANDS = {
    "right": human(),
    "left": human("left"),
    "small": human(length=0.155, breadth=0.068),
    "large left": human("left", length=0.215, breadth=0.1),
    "coupled": human(coupled=True),
    "arm": human(arm=True),
}


def outputs_of(model, q):
    """What a network would give for these postures; it says nothing about distances."""
    return np.concatenate([pose_of(model, q), np.full((len(q), 22), 0.035)], axis=1)


def starts_near(model, q, rng, spread=0.15):
    starts = model.joints.clamp(q + rng.normal(0.0, spread, q.shape))
    if model.wrist_link > 0:
        starts[:, : model.wrist_link] = q[:, : model.wrist_link]
    return starts


@pytest.mark.parametrize("name", HANDS)
def test_a_fit_takes_back_what_sensing_measures(name):
    model, rng = HANDS[name], np.random.default_rng(0)
    q = model.joints.random(rng, (100,))
    found = fit_posture(FittedHand(model), outputs_of(model, q), starts_near(model, q, rng))
    assert np.abs(found - q).max() < 1e-3
    miss = posed_tips(model, found).position - posed_tips(model, q).position
    assert np.linalg.norm(miss, axis=-1).max() < 1e-4


def test_a_fit_arrives_from_the_rest_pose():
    model, rng = human(), np.random.default_rng(1)
    q = model.joints.random(rng, (100,))
    rest = np.tile(model.pose("rest"), (100, 1))
    found = fit_posture(FittedHand(model), outputs_of(model, q), rest)
    assert np.abs(found - q).max() < 1e-3


def test_limits_and_couplings_hold_whatever_the_network_says():
    model, rng = human(coupled=True), np.random.default_rng(2)
    q = model.joints.random(rng, (200,))
    wild = outputs_of(model, q)
    wild[:, :66] += rng.normal(0.0, 0.05, (200, 66))
    wild[:, 66:198] += rng.normal(0.0, 1.0, (200, 132))
    found = fit_posture(FittedHand(model), wild, q)
    assert np.all(found >= model.joints.lower - 1e-12)
    assert np.all(found <= model.joints.upper + 1e-12)
    follows = model.joints.leader >= 0
    led = model.joints.ratio * found[:, model.joints.leader] + model.joints.bias
    np.testing.assert_allclose(found[:, follows], led[:, follows], atol=1e-12)


def test_noise_is_averaged_over_joints_not_added_up():
    model, rng = human(), np.random.default_rng(3)
    q = 0.5 * (model.joints.random(rng, (300,)) + model.pose("rest"))
    noisy = outputs_of(model, q)
    noisy[:, :66] += rng.normal(0.0, 0.004, (300, 66))
    noisy[:, 66:198] += rng.normal(0.0, 0.08, (300, 132))
    found = fit_posture(FittedHand(model), noisy, starts_near(model, q, rng))
    places = (pose_of(model, found) - pose_of(model, q))[:, :66].reshape(300, 22, 3)
    given = (noisy[:, :198] - pose_of(model, q))[:, :66].reshape(300, 22, 3)
    moving = slice(2, None)
    left = np.linalg.norm(places[:, moving], axis=-1).mean()
    assert left < 0.6 * np.linalg.norm(given[:, moving], axis=-1).mean()


def test_one_and_many_are_the_same():
    model, rng = human("left"), np.random.default_rng(5)
    q = model.joints.random(rng, (20,))
    outputs = outputs_of(model, q) + rng.normal(0.0, 0.01, (20, 220))
    starts, hand = starts_near(model, q, rng), FittedHand(model)
    together = fit_posture(hand, outputs, starts)
    one_by_one = [fit_posture(hand, row, start) for row, start in zip(outputs, starts, strict=True)]
    np.testing.assert_array_equal(together, np.array(one_by_one))
    grid = fit_posture(hand, outputs.reshape(4, 5, 220), starts.reshape(4, 5, -1))
    np.testing.assert_array_equal(grid.reshape(20, -1), together)


def test_left_and_right_get_the_same_joint_values():
    rng = np.random.default_rng(6)
    q = human().joints.random(rng, (50,))
    noisy = outputs_of(human(), q) + rng.normal(0.0, 0.003, (50, 220))
    starts = starts_near(human(), q, rng)
    right = fit_posture(FittedHand(human()), noisy, starts)
    left = fit_posture(FittedHand(human("left")), noisy, starts)
    np.testing.assert_allclose(left, right, atol=1e-7)


def test_what_cannot_be_fitted_is_refused():
    model = human()
    hand, rest = FittedHand(model), model.pose("rest")
    with pytest.raises(InvalidValueError, match="NaN"):
        fit_posture(hand, np.full(220, np.nan), rest)
    with pytest.raises(InvalidValueError, match="219"):
        fit_posture(hand, np.zeros(219), rest)
    with pytest.raises(InvalidValueError, match="shape"):
        fit_posture(hand, np.zeros((2, 220)), rest)
    with pytest.raises(InvalidValueError, match="retarget"):
        FittedHand(trident())
    with pytest.raises(InvalidValueError, match="arm"):
        FitSettings(arm=-1.0)
    with pytest.raises(InvalidValueError, match="NaN"):
        Fitter(hand, np.full(30, np.nan))
