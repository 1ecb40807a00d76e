"""Closing a hand around a body."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.kinematics import posed_capsules, posed_pads
from handwright.kinematics.ik.closing import close_around
from handwright.math import rotation
from handwright.math.pose import Pose


@pytest.fixture(scope="module")
def ball():
    body = make_shape("sphere")
    return body, signed_distance_field(body)


def deepest(model, grasp, root, body):
    """Depth of sampled points of the capsule axes, by exact mesh distance, m."""
    capsules = posed_capsules(model, grasp.q, root)
    share = np.linspace(0.0, 1.0, 25)[:, None, None]
    axis = capsules.start + share * (capsules.end - capsules.start)
    distance = ExactDistance.from_body(body).signed_distance(axis.reshape(-1, 3))[0]
    return (capsules.radius - distance.reshape(axis.shape[:2]).min(axis=0)).max()


def test_a_human_hand_closes_on_a_ball_without_entering_it(ball):
    body, field = ball
    model = human()
    root = Pose(np.array([-0.095, 0.0, 0.056]), np.array([1.0, 0.0, 0.0, 0.0]))
    grasp = close_around(model, field, root=root)
    assert grasp.touching.sum() >= 3
    assert deepest(model, grasp, root, body) < 1.5e-3
    pads = posed_pads(model, grasp.q, root).position
    exact = ExactDistance.from_body(body).signed_distance(pads)[0]
    np.testing.assert_allclose(grasp.pad_gap, exact, atol=3e-4)
    assert np.all(np.abs(exact[grasp.touching]) < 2e-3)
    assert np.all(grasp.q >= model.joints.lower - 1e-12)
    assert np.all(grasp.q <= model.joints.upper + 1e-12)


def test_the_grasp_moves_with_the_body(ball):
    _, field = ball
    model, rng = human("left"), np.random.default_rng(0)
    root = Pose(np.array([-0.095, 0.0, 0.056]), np.array([1.0, 0.0, 0.0, 0.0]))
    world = Pose(rng.normal(size=3), rotation.random(rng))
    here = close_around(model, field, root=root)
    there = close_around(model, field, root=world @ root, body=world)
    np.testing.assert_allclose(here.q, there.q, atol=1e-6)


def test_an_empty_hand_closes_fully(ball):
    _, field = ball
    model = trident()
    far = Pose(np.array([5.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]))
    grasp = close_around(model, field, root=far, end=model.pose("pinch"))
    assert not grasp.touching.any()
    assert grasp.depth == 0.0
    np.testing.assert_allclose(grasp.q, model.pose("pinch"), atol=1e-6)


def test_mistakes_are_explained(ball):
    _, field = ball
    model, root = trident(), Pose.identity()
    with pytest.raises(InvalidValueError, match="steps is 0; expected 1 or more"):
        close_around(model, field, root=root, steps=0)
    with pytest.raises(InvalidValueError, match=r"shape \(30,\); expected"):
        close_around(model, field, root=root, start=np.zeros(30))
    with pytest.raises(InvalidValueError, match="NaN or infinity"):
        close_around(model, field, root=root, end=np.full(8, np.nan))
