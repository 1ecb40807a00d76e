"""Derivatives of the least-squares terms, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.geometry.distance.sdf import make_field
from handwright.hands import human
from handwright.math import rotation
from handwright.methods.neural.fitting import body_view
from handwright.methods.neural.fitting.joint_table import joint_table
from handwright.methods.neural.fitting.network_pose import empty_pose, read_pose
from handwright.methods.neural.fitting.pose_terms import PoseWeights, pose_terms
from handwright.methods.neural.fitting.touch_terms import touch_table, touch_terms
from tests.methods.neural.fitting.half_gradients import assert_derivatives
from tests.methods.neural.fitting.held_bodies import held


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize(
    "weights",
    [PoseWeights(1.0, 0.0), PoseWeights(0.0, 4e-4)],
    ids=["places", "turns"],
)
def test_pose_terms(coupled, weights):
    model, rng = human("left", coupled=coupled), np.random.default_rng(0)
    joints, pose = joint_table(model), empty_pose()
    read_pose(joints, rng.normal(0.0, 0.1, (1, 220)), 0, pose)
    q = model.joints.random(rng)

    def terms(rig, links, work, digit):
        return pose_terms(rig, joints, links, digit, pose, weights, work, 0)

    assert_derivatives(model, q, terms)


def test_touch_terms():
    scene = held("ball")
    joints = joint_table(scene.model)
    touch = touch_table(scene.model, joints, push=2.0, depth=3e-4)
    touch.pull[:] = 1.0
    rng = np.random.default_rng(1)
    q = scene.model.joints.clamp(scene.q + rng.normal(0.0, 0.1, scene.q.size))
    view = scene.view()

    def terms(rig, links, work, digit):
        return touch_terms(rig, touch, links, digit, view, 0, work, 0)

    # The point of an axis that is nearest to the body is found to a thousandth of the axis.
    assert_derivatives(scene.model, q, terms, atol=0.03, least=1e-6)


def test_stay_terms():
    # Of a plane the normal is the same everywhere, so that no part of the derivative is left out.
    nodes = np.stack(np.meshgrid(*[np.linspace(-0.3, 0.3, 41)] * 3, indexing="ij"), axis=-1)
    plane = make_field(nodes[..., 2] + 0.1, np.full(3, -0.3), 0.015, 0.5)
    rng = np.random.default_rng(2)
    turn = rotation.to_matrix(rotation.exp(rng.normal(size=3)))
    view = body_view(plane, turn, np.array([0.02, -0.01, 0.05]))
    model = human("right")
    touch = touch_table(model, joint_table(model), push=1.0, depth=-1.0)
    touch.stay[:] = rng.uniform(0.5, 2.0, len(touch.stay))
    touch.on_link[:] = rng.normal(0.0, 0.01, touch.on_link.shape)
    touch.on_body[:] = rng.normal(0.0, 0.05, touch.on_body.shape)
    q = model.joints.random(rng)

    def terms(rig, links, work, digit):
        return touch_terms(rig, touch, links, digit, view, 0, work, 0)

    assert_derivatives(model, q, terms)
