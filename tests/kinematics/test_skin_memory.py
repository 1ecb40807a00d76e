"""Skin points that are not looked at again: bounds that hold, and costs that stay the same."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.geometry.distance.environment import floor, pack_environment
from handwright.geometry.distance.sdf import make_field
from handwright.hands import human
from handwright.kinematics.ik.digit import digit_cost, place_digit
from handwright.kinematics.ik.digit_table import rig_of
from handwright.kinematics.ik.problem import DigitProblem, IkWeights, make_work
from handwright.kinematics.obstacles import Around
from handwright.kinematics.skin.memory import (
    forget_skin,
    keep_skin,
    make_skin_memory,
    skin_travel,
)
from handwright.kinematics.skin.samples import sample_position, skin_samples
from handwright.kinematics.tree import forward, links_for

HUMAN = human()
SAMPLES = skin_samples(HUMAN, 0.004)
RIG = rig_of(HUMAN)
TREE, TABLE = RIG


def _ball(center, radius):
    spacing, count = 0.004, 90
    origin = center - 0.5 * spacing * (count - 1)
    nodes = origin + spacing * np.moveaxis(np.indices((count,) * 3), 0, -1)
    return make_field(np.linalg.norm(nodes - center, axis=-1) - radius, origin, spacing)


def _points(links, capsule):
    rows = range(SAMPLES.first[capsule], SAMPLES.first[capsule + 1])
    return np.array([sample_position(SAMPLES, row, links) for row in rows])


@pytest.mark.parametrize("size", [0.002, 0.03, 0.4])
def test_no_point_goes_farther_than_is_said_not_even_one_that_two_digits_carry(size):
    rng = np.random.default_rng(3)
    links, memory = links_for(HUMAN), make_skin_memory(SAMPLES, 2)
    q = HUMAN.joints.clamp(0.5 * HUMAN.pose("closed"))
    forward(TREE, q, links)
    shares = []
    for digit in range(5):
        forget_skin(TABLE, SAMPLES, memory, links, digit, 1)
    before = {c: _points(links, c) for c in TABLE.capsule.ravel() if c >= 0}
    # All digits and the wrist move.
    forward(TREE, HUMAN.joints.clamp(q + size * rng.standard_normal(len(q))), links)
    links.position[:] += size * 0.05 * rng.standard_normal(3)
    for capsule, old in before.items():
        gone = np.linalg.norm(_points(links, capsule) - old, axis=1).max()
        until, moved = skin_travel(SAMPLES, memory, links, capsule, 1)
        assert until == 0.0
        assert memory.moved[1, capsule] == moved
        assert gone <= moved
        shares.append(gone / moved)
    # A bound of no use would be far off.
    assert np.mean(shares) > 0.4


def test_costs_and_slopes_are_the_same_as_if_every_point_was_looked_at():
    rng = np.random.default_rng(5)
    field = _ball(np.array([0.1, 0.0, -0.04]), 0.045)
    around = Around(field, pack_environment([floor(-0.06)]), SAMPLES, 80)
    weights = IkWeights(num_object_capsules=3, digits=0.0)
    target, normal = np.array([0.1, 0.01, 0.005]), np.array([0.0, 0.0, 1.0])
    plain, remembering = make_work(), make_work(SAMPLES)
    rest = HUMAN.pose("rest").copy()
    limits = TABLE.lower, TABLE.upper
    problem = DigitProblem(RIG, around, target, normal, rest, *limits, weights)
    touched = skipped = 0
    for digit in range(5):
        links = links_for(HUMAN)
        q = HUMAN.joints.clamp(0.45 * HUMAN.pose("closed"))
        forward(TREE, q, links)
        forget_skin(TABLE, SAMPLES, remembering.skin, links, digit, 0)
        for step in range(60):
            size = 10.0 ** rng.uniform(-4.0, -1.0)
            trial = HUMAN.joints.clamp(q + size * rng.standard_normal(len(q)))
            place_digit(RIG, links, digit, trial)
            given = (problem, links, digit, trial)
            expected = digit_cost(*given, plain, 0, np.inf)
            capsules = TABLE.capsule[digit][TABLE.capsule[digit] >= 0][:3]
            known = remembering.skin.known.copy()
            assert digit_cost(*given, remembering, 0, np.inf) == expected
            np.testing.assert_array_equal(remembering.gradient[0], plain.gradient[0])
            np.testing.assert_array_equal(remembering.matrix[0], plain.matrix[0])
            rows = np.concatenate(
                [np.arange(SAMPLES.first[c], SAMPLES.first[c + 1])[:80] for c in capsules]
            )
            skipped += int((remembering.skin.known[0, rows] == known[0, rows]).sum())
            touched += len(rows)
            # Some poses are kept, others left again.
            if step % 3:
                q = trial
                keep_skin(TABLE, SAMPLES, remembering.skin, links, digit, 0)
    # Most points need no second look, or nothing is won.
    assert skipped > 0.5 * touched


def test_a_cost_that_reaches_what_is_allowed_is_infinite():
    around = Around(_ball(np.zeros(3), 0.02), pack_environment(()), SAMPLES, 80)
    links, work = links_for(HUMAN), make_work()
    q = HUMAN.pose("rest").copy()
    forward(TREE, q, links)
    limits = TABLE.lower, TABLE.upper
    problem = DigitProblem(RIG, around, np.zeros(3), np.eye(3)[2], q, *limits, IkWeights())
    given = (problem, links, 1, q)
    cost = digit_cost(*given, work, 0, np.inf)
    assert 0.0 < cost < np.inf
    assert digit_cost(*given, work, 0, 1.01 * cost) == cost
    assert digit_cost(*given, work, 0, 0.99 * cost) == np.inf
