"""Post-processing as published."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.methods.neural.fitting import FittedHand, corrected, fit_posture
from handwright.methods.neural.fitting.joint_table import NUM_JOINTS
from handwright.methods.neural.sensing.features import pose_of
from tests.methods.neural.fitting.held_bodies import bent, held

FINGERS = ("index", "middle", "ring", "little")


def published_target(place, predicted, scene):
    """Appendix B, line by line, for a place in the wrist frame, with distances in closed form."""
    if predicted > 0.028:
        return place
    world = scene.wrist.apply(place)
    step = 1e-6 * np.eye(3)
    slope = (scene.distance(world + step) - scene.distance(world - step)) / 2e-6
    direction = scene.wrist.inverse().rotate(slope / np.linalg.norm(slope))
    measured = float(scene.distance(world))
    point = place - measured * direction
    share = 0.8 if measured < 0.0 else 0.2
    final = share * predicted + (1.0 - share) * measured
    return point + final * direction


@pytest.mark.parametrize("shape", ["ball", "rod"])
def test_targets_are_those_of_the_appendix(shape):
    scene, rng = held(shape), np.random.default_rng(0)
    q = bent(scene.model, scene.q, 0.2, ("thumb", *FINGERS))
    output = scene.output(q, scene.q)
    output[198:] = rng.uniform(0.0, 0.035, 22)
    hand = FittedHand(scene.model)
    targets = hand.algorithm1.targets(scene.view(), output[None])[0]
    places = output[:66].reshape(22, 3)
    inside = scene.distance(scene.wrist.apply(places[2:])) < 0.0
    assert inside.any()
    assert not inside.all()
    for n in range(2, NUM_JOINTS):
        wanted = published_target(places[n], output[198 + n], scene)
        # The grid's distances are off by a little; the gate and the blends are not.
        assert np.linalg.norm(targets[n] - wanted) < 5e-4


def test_joints_go_to_reachable_targets_and_stay_where_there_is_nothing():
    scene = held("rod")
    hand = FittedHand(scene.model)
    q = bent(scene.model, scene.q, 0.15, FINGERS)
    output = scene.output(q, scene.q)
    fitted = fit_posture(hand, output, q)
    targets = hand.algorithm1.targets(scene.view(), output[None])[0]
    moved = corrected(hand, scene.view(), output, fitted, "algorithm1")

    def miss(posture):
        places = pose_of(scene.model, posture[None])[0, :66].reshape(22, 3)
        return np.linalg.norm((places - targets)[2:], axis=1).mean()

    assert miss(moved) < 0.7 * miss(fitted)
    output[198:] = 0.035
    stayed = corrected(hand, scene.view(), output, fitted, "algorithm1")
    np.testing.assert_allclose(stayed, fitted, atol=5e-3)


def test_penetration_falls_but_limits_hold():
    scene, rng = held("ball"), np.random.default_rng(1)
    hand = FittedHand(scene.model)
    q = bent(scene.model, scene.q, 0.4, FINGERS) + rng.normal(0.0, 0.05, (30, scene.q.size))
    q = scene.model.joints.clamp(q)
    output = scene.output(q, np.tile(scene.q, (30, 1)))
    moved = corrected(hand, scene.view(30), output, q, "algorithm1")

    def depth(postures):
        return np.mean([np.maximum(-scene.gaps(p), 0.0).sum() for p in postures])

    assert depth(moved) < 0.7 * depth(q)
    assert np.all(moved >= scene.model.joints.lower - 1e-12)
    assert np.all(moved <= scene.model.joints.upper + 1e-12)


def test_one_and_many_are_the_same_and_left_is_the_image_of_right():
    right, left = held("box"), held("box", "left")
    rng = np.random.default_rng(2)
    q = right.model.joints.clamp(right.q + rng.normal(0.0, 0.2, (10, right.q.size)))
    output = right.output(q, np.tile(right.q, (10, 1)))
    hand = FittedHand(right.model)
    together = corrected(hand, right.view(10), output, q, "algorithm1")
    rows = [
        corrected(hand, right.view(), o, p, "algorithm1") for o, p in zip(output, q, strict=True)
    ]
    np.testing.assert_array_equal(together, np.array(rows))
    mirrored = corrected(FittedHand(left.model), left.view(10), output, q, "algorithm1")
    np.testing.assert_allclose(mirrored, together, atol=1e-7)
