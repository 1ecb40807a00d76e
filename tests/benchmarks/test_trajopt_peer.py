"""The peer of the trajectory optimiser: its gradients, its descent, and what is compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.trajopt.peer import LocalCost, _least_count, descend_by_lbfgs
from handwright.errors import InvalidValueError
from handwright.methods import ContactInvariant
from handwright.methods.trajopt.schedule.stage_weights import (
    LOOSE,
    regularization_weights,
    stage_weights,
)
from handwright.methods.trajopt.schedule.start import static_start
from handwright.scenes import load_scene


@pytest.fixture(scope="module")
def started():
    """A noisy static start with the cost to be lowered."""
    problem, method = load_scene("pick_pen_horizontal"), ContactInvariant()
    transcription = method.ready(problem)[0]
    descent = static_start(transcription, np.random.default_rng(3), transcription.allowed)
    stage = stage_weights(LOOSE, is_frozen=False, friction=0.8, squeeze=1.5)
    regularization = regularization_weights(transcription)
    return descent, LocalCost.of(descent, stage, regularization), stage, regularization


def test_the_cost_is_ours(started):
    descent, cost, stage, regularization = started
    before = descent.run(stage, regularization, 0)
    assert cost.total(descent.keys) == pytest.approx(before, rel=1e-12)


def test_local_differences_are_those_of_the_whole_cost(started):
    descent, cost, *_ = started
    rng = np.random.default_rng(5)
    step = 1e-6 * descent.scale
    steps = np.where(descent.fixed, 0.0, step)
    keys = descent.keys + np.where(descent.fixed, 0.0, 1e-3 * descent.scale) * rng.normal(
        size=steps.shape
    )
    gradient = cost.gradient(keys, steps)
    assert not gradient[descent.fixed].any()
    rows = rng.permutation(np.argwhere(~descent.fixed))[:60]
    for k, i in rows:
        ahead, behind = keys.copy(), keys.copy()
        ahead[k, i] += step[i]
        behind[k, i] -= step[i]
        whole = (cost.total(ahead) - cost.total(behind)) / (2.0 * step[i])
        # Forward against central differences: off by half a step of bending.
        bend = (cost.total(ahead) + cost.total(behind) - 2.0 * cost.total(keys)) / step[i]
        assert gradient[k, i] == pytest.approx(
            whole, abs=abs(bend) + 1e-3 / descent.scale[i], rel=1e-5
        )


def test_the_peer_lowers_the_cost_within_its_bounds(started):
    descent, cost, *_ = started
    before = descent.keys.copy()
    done = descend_by_lbfgs(cost, descent, allowed_s=2.0)
    times, costs = np.array(done.falls).T
    np.testing.assert_array_equal(descent.keys, before)
    assert costs[0] == pytest.approx(cost.total(before), rel=1e-12)
    assert costs[-1] < 0.9 * costs[0]
    assert np.all(np.diff(costs) < 0.0)
    assert np.all(np.diff(times) > 0.0)
    assert done.gradients >= 1


def test_the_least_count_is_found():
    for wanted in range(1, 46):
        assert _least_count(lambda count, least=wanted: count >= least, 45) == wanted


def test_cyclic_motions_are_refused(started):
    descent, _, stage, regularization = started
    ring = replace(descent, model=descent.model._replace(is_cyclic=True))
    with pytest.raises(InvalidValueError, match="cyclic"):
        LocalCost.of(ring, stage, regularization)
