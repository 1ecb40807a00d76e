"""Cyclic coordinate descent for several points of a digit at once."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.hands import human
from handwright.kinematics.fk import frame_poses
from handwright.kinematics.ik.ccd import ChainGoals, descend_chain
from handwright.kinematics.ik.digit_table import rig_of
from handwright.kinematics.tree import forward, links_for

DIGITS = ("thumb", "index", "middle", "ring", "little")


def goals_of(model, q, noise=0.0, seed=0):
    """Joints of all digits where another posture has them."""
    rows = [
        [n for n, name in enumerate(model.frames.names) if name.startswith(digit)]
        for digit in DIGITS
    ]
    frames = np.concatenate(rows)
    target = frame_poses(model, q).position[frames]
    target = target + np.random.default_rng(seed).normal(0.0, 1.0, target.shape) * noise
    first = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return ChainGoals(
        first, model.frames.link[frames].astype(np.int64),
        np.array(model.frames.position[frames]), target,
    )  # fmt: skip


@pytest.mark.parametrize("coupled", [False, True])
def test_all_joints_of_a_digit_come_to_reachable_targets(coupled):
    model, rng = human(coupled=coupled), np.random.default_rng(0)
    rig, links = rig_of(model), links_for(model)
    for _ in range(10):
        wanted = model.joints.clamp(model.pose("rest") + rng.normal(0.0, 0.2, model.num_joints))
        goals, q = goals_of(model, wanted), model.joints.clamp(model.pose("rest"))
        forward(rig.tree, q, links)
        for digit in range(5):
            error, sweeps = descend_chain(rig, links, q, digit, goals, 1e-5, 500)
            assert error < 1e-3
            assert sweeps > 0
        assert np.all(q >= model.joints.lower)
        assert np.all(q <= model.joints.upper)


def test_every_sweep_brings_points_nearer_even_out_of_reach():
    model = human()
    rig, links = rig_of(model), links_for(model)
    goals, q = goals_of(model, model.pose("closed"), noise=0.02), np.array(model.pose("open"))
    forward(rig.tree, q, links)
    for digit in range(5):
        errors = [descend_chain(rig, links, q, digit, goals, 0.0, 1)[0] for _ in range(20)]
        assert np.all(np.diff(errors) <= 1e-15)
        assert errors[-1] < errors[0]


def test_one_digit_moves_no_other():
    model = human()
    rig, links = rig_of(model), links_for(model)
    goals, q = goals_of(model, model.pose("closed")), np.array(model.pose("open"))
    forward(rig.tree, q, links)
    descend_chain(rig, links, q, 2, goals, 1e-4, 5)
    others = [j for j in range(model.num_joints) if j not in model.digits[2].joints]
    np.testing.assert_array_equal(q[others], model.pose("open")[others])
