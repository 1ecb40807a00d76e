"""The peer of the trajectory optimiser: its gradients, its descent, and what is compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.trajopt.peer import LocalCost, _least_count, descend_by_lbfgs
from handwright.errors import InvalidValueError
from handwright.methods import ContactInvariant
from handwright.methods.trajopt.attempt import static_start
from handwright.methods.trajopt.method import allowed_contacts
from handwright.methods.trajopt.schedule.stages import LOOSE, quiet, weights
from handwright.scenes import load_scene


@pytest.fixture(scope="module")
def started():
    """A noisy static start with the cost to be lowered."""
    problem, method = load_scene("pick_pen_horizontal"), ContactInvariant()
    built = method.ready(problem)[0]
    work = static_start(built, np.random.default_rng(3), allowed_contacts(problem, built))
    stage = weights(LOOSE, is_frozen=False, friction=0.8, squeeze=1.5)
    calm = quiet(built)
    return work, LocalCost.of(work, stage, calm), stage, calm


def test_the_cost_is_ours(started):
    work, cost, stage, calm = started
    assert cost.total(work.keys) == pytest.approx(work.cost(stage, calm), rel=1e-12)


def test_local_differences_are_those_of_the_whole_cost(started):
    work, cost, *_ = started
    rng = np.random.default_rng(5)
    step = 1e-6 * work.scale
    steps = np.where(work.fixed, 0.0, step)
    keys = work.keys + np.where(work.fixed, 0.0, 1e-3 * work.scale) * rng.normal(size=steps.shape)
    slope = cost.gradient(keys, steps)
    assert not slope[work.fixed].any()
    rows = rng.permutation(np.argwhere(~work.fixed))[:60]
    for k, i in rows:
        ahead, behind = keys.copy(), keys.copy()
        ahead[k, i] += step[i]
        behind[k, i] -= step[i]
        whole = (cost.total(ahead) - cost.total(behind)) / (2.0 * step[i])
        # Forward against central differences: off by half a step of bending.
        bend = (cost.total(ahead) + cost.total(behind) - 2.0 * cost.total(keys)) / step[i]
        assert slope[k, i] == pytest.approx(whole, abs=abs(bend) + 1e-3 / work.scale[i], rel=1e-5)


def test_the_peer_lowers_the_cost_within_its_bounds(started):
    work, cost, *_ = started
    before = work.keys.copy()
    done = descend_by_lbfgs(cost, work, allowed_s=2.0)
    times, costs = np.array(done.falls).T
    np.testing.assert_array_equal(work.keys, before)
    assert costs[0] == pytest.approx(cost.total(before), rel=1e-12)
    assert costs[-1] < 0.9 * costs[0]
    assert np.all(np.diff(costs) < 0.0)
    assert np.all(np.diff(times) > 0.0)
    assert done.gradients >= 1


def test_the_least_count_is_found():
    for wanted in range(1, 46):
        assert _least_count(lambda count, least=wanted: count >= least, 45) == wanted


def test_cyclic_motions_are_refused(started):
    work, _, stage, calm = started
    ring = replace(work, model=work.model._replace(is_cyclic=True))
    with pytest.raises(InvalidValueError, match="cyclic"):
        LocalCost.of(ring, stage, calm)
