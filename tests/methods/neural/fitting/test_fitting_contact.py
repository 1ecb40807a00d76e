"""Contact-keeping."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.fitting import (
    ContactSettings,
    FittedHand,
    Fitter,
    body_view,
    corrected,
    fit_posture,
)
from tests.methods.neural.fitting.held_bodies import DISTANCES, bent, held

FINGERS = ("index", "middle", "ring", "little")
INDEX, LITTLE = 1, 4


def noisy_postures(scene, count, angle, seed):
    rng = np.random.default_rng(seed)
    return scene.model.joints.clamp(scene.q + rng.normal(0.0, angle, (count, scene.q.size)))


@pytest.mark.parametrize("shape", DISTANCES)
def test_what_is_in_the_body_comes_out(shape):
    scene = held(shape)
    q = bent(scene.model, scene.q, 0.12, FINGERS)
    before = [scene.digit_gaps(q, d).min() for d in range(1, 5)]
    assert max(before) < -2e-3
    # The network may even say that nothing touches.
    output = scene.output(q, scene.model.pose("open"))
    moved = corrected(FittedHand(scene.model), scene.view(), output, q)
    after = [scene.digit_gaps(moved, d).min() for d in range(1, 5)]
    assert min(after) > -1.5e-3
    assert np.abs(moved - q).max() < 0.4


@pytest.mark.parametrize("shape", DISTANCES)
def test_what_hovers_but_is_meant_to_touch_touches(shape):
    scene = held(shape)
    q = bent(scene.model, scene.q, -0.1, FINGERS)
    touching = [d for d in range(1, 5) if scene.digit_gaps(scene.q, d).min() < 5e-4]
    hovering = [d for d in touching if scene.digit_gaps(q, d).min() > 1e-3]
    assert len(hovering) >= 2
    output = scene.output(q, scene.q)
    moved = corrected(FittedHand(scene.model), scene.view(), output, q)
    for digit in hovering:
        assert -1e-3 < scene.digit_gaps(moved, digit).min() < 1e-3


def test_what_hovers_and_is_meant_to_hover_stays():
    scene = held("ball")
    scene = replace(scene, wrist=Pose(np.array([-0.092, 0.0, 0.06]), scene.wrist.wxyz))
    q = scene.model.joints.clamp(scene.model.pose("open"))
    near = [scene.digit_gaps(q, d).min() for d in range(5)]
    clear = [d for d in range(5) if 4.5e-3 < near[d] < 0.015]
    assert len(clear) >= 2
    moved = corrected(FittedHand(scene.model), scene.view(), scene.output(q, q), q)
    for digit in clear:
        joints = list(scene.model.digits[digit].joints)
        np.testing.assert_array_equal(moved[joints], q[joints])


def test_only_the_digit_that_is_wrong_moves():
    scene = held("rod")
    # The ring finger hovers 6.1 mm away then, which is no longer doubtful.
    open_hand = bent(scene.model, scene.q, -1.0, (*FINGERS, "thumb"))
    q = open_hand.copy()
    index = list(scene.model.digits[INDEX].joints)
    q[index] = bent(scene.model, scene.q, 0.2, ("index",))[index]
    moved = corrected(FittedHand(scene.model), scene.view(), scene.output(q, open_hand), q)
    others = [j for d in (2, 3) for j in scene.model.digits[d].joints]
    np.testing.assert_array_equal(moved[others], q[others])
    assert scene.digit_gaps(moved, INDEX).min() > -1e-3 > scene.digit_gaps(q, INDEX).min()


@pytest.mark.parametrize("shape", DISTANCES)
def test_limits_hold_and_noise_is_undone(shape):
    scene = held(shape)
    q = noisy_postures(scene, 100, 0.15, 0)
    output = scene.output(q, np.tile(scene.q, (100, 1)))
    moved = corrected(FittedHand(scene.model), scene.view(100), output, q)
    assert np.all(moved >= scene.model.joints.lower - 1e-12)
    assert np.all(moved <= scene.model.joints.upper + 1e-12)
    digits = scene.model.capsules.digit >= 0
    depth, touching = np.zeros((2, 100)), np.zeros((2, 100))
    for k, postures in enumerate((q, moved)):
        gaps = np.array([scene.gaps(posture)[digits] for posture in postures])
        depth[k] = np.maximum(-gaps, 0.0).max(axis=1)
        touching[k] = (np.abs(gaps) < 3e-3).sum(axis=1)
    assert depth[1].mean() < 0.3 * depth[0].mean()
    assert touching[1].mean() > touching[0].mean()


def test_one_and_many_are_the_same_and_left_is_the_image_of_right():
    right, left = held("box"), held("box", "left")
    q = noisy_postures(right, 20, 0.15, 1)
    output = right.output(q, np.tile(right.q, (20, 1)))
    past = np.stack([noisy_postures(right, 20, 0.02, seed) for seed in (2, 3)], axis=1)
    past[::3] = np.nan
    hand = FittedHand(right.model)
    together = corrected(hand, right.view(20), output, q, past=past)
    rows = [corrected(hand, right.view(), output[n], q[n], past=past[n]) for n in range(20)]
    np.testing.assert_array_equal(together, np.array(rows))
    mirrored = corrected(FittedHand(left.model), left.view(20), output, q, past=past)
    np.testing.assert_allclose(mirrored, together, atol=1e-5)
    # Rows that have no past are as if none had.
    alone = corrected(hand, right.view(20), output, q)
    np.testing.assert_array_equal(together[::3], alone[::3])
    assert np.abs(together - alone).max() > 1e-3


def test_only_the_place_of_the_body_in_the_hand_counts():
    scene = held("ball")
    q = noisy_postures(scene, 5, 0.2, 4)
    output = scene.output(q, np.tile(scene.q, (5, 1)))
    hand = FittedHand(scene.model)
    plain = corrected(hand, scene.view(5), output, q)
    # A ball may be turned in its own frame; by a right angle its grid turns into itself.
    turn = rotation.exp(np.array([0.0, 0.0, 0.5 * np.pi]))
    wrist = Pose(np.zeros(3), turn) @ scene.wrist
    view = body_view(
        scene.field,
        np.tile(rotation.to_matrix(wrist.wxyz), (5, 1, 1)),
        np.tile(wrist.position, (5, 1)),
    )
    np.testing.assert_allclose(corrected(hand, view, output, q), plain, atol=1e-4)
    away = body_view(scene.field, np.tile(np.eye(3), (5, 1, 1)), np.full((5, 3), 1.0))
    np.testing.assert_array_equal(corrected(hand, away, output, q), q)


def test_a_stream_on_a_surface_moves_smoothly_however_the_network_trembles():
    scene, rng = held("rod"), np.random.default_rng(5)
    q = scene.model.joints.clamp(scene.q + rng.normal(0.0, 0.05, (60, scene.q.size)))
    outputs = scene.output(q, np.tile(scene.q, (60, 1)))
    hand = FittedHand(scene.model)

    def tremble(fitter):
        postures = np.array([fitter.step(scene.view(), output) for output in outputs])
        tips = np.diff(postures[10:], n=2, axis=0)
        return np.abs(tips).mean(), postures

    raw, plain = tremble(Fitter(hand, scene.q, "none"))
    kept, postures = tremble(Fitter(hand, scene.q))
    assert kept < 0.35 * raw
    np.testing.assert_allclose(plain, q, atol=2e-3)
    digits = scene.model.capsules.digit >= 0
    assert min(scene.gaps(p)[digits].min() for p in postures) > -2e-3


def test_a_stream_is_fit_and_correction_frame_by_frame():
    scene = held("ball")
    q = noisy_postures(scene, 4, 0.1, 6)
    outputs = scene.output(q, np.tile(scene.q, (4, 1)))
    for mode in ("none", "algorithm1", "contact"):
        hand = FittedHand(scene.model)
        fitter, last, past = Fitter(hand, scene.q, mode), scene.q, None
        for output in outputs:
            wanted = fit_posture(hand, output, last)
            wanted = corrected(hand, scene.view(), output, wanted, mode, past)
            np.testing.assert_array_equal(fitter.step(scene.view(), output), wanted)
            past, last = np.stack([wanted, wanted if past is None else last]), wanted
        np.testing.assert_array_equal(fitter.posture, last)
        fitter.reset(scene.q)
        np.testing.assert_array_equal(fitter.posture, scene.q)
        again = fitter.step(scene.view(), outputs[0])
        fresh = Fitter(FittedHand(scene.model), scene.q, mode).step(scene.view(), outputs[0])
        np.testing.assert_array_equal(again, fresh)


def test_wrong_use_is_refused():
    scene = held("ball")
    hand, output = FittedHand(scene.model), scene.output(scene.q, scene.q)
    with pytest.raises(UnknownNameError, match="contact"):
        corrected(hand, scene.view(), output, scene.q, "better")
    with pytest.raises(UnknownNameError, match="contact"):
        Fitter(hand, scene.q, "better")
    with pytest.raises(InvalidValueError, match="as many"):
        corrected(hand, scene.view(2), output, scene.q)
    with pytest.raises(InvalidValueError, match="past"):
        corrected(hand, scene.view(), output, scene.q, past=np.zeros((3, 30)))
    with pytest.raises(InvalidValueError, match="batch axis"):
        body_view(scene.field, np.eye(3), np.zeros((4, 3)))
    with pytest.raises(InvalidValueError, match="NaN"):
        body_view(scene.field, np.eye(3), np.full(3, np.nan))
    with pytest.raises(InvalidValueError, match="doubtful"):
        ContactSettings(sure=0.01)
    with pytest.raises(InvalidValueError, match="stiffness"):
        ContactSettings(stiffness=0.0)
