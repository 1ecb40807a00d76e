"""Learned fingers as a method."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from handwright.core.result import Status
from handwright.errors import HandwrightError
from handwright.hands import human
from handwright.methods import NeuralFingers
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import SHIPPED, load_network
from handwright.methods.neural.rollout import START, rolled_out
from handwright.methods.neural.sensing.view import hand_views
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

TINY = Path(__file__).parents[2] / "fixtures" / "tiny_fingers"


@pytest.fixture(scope="module")
def problem():
    return load_scene("milk_box_turn")


@pytest.fixture(scope="module")
def network():
    return load_network(TINY)


@pytest.mark.parametrize("correction", ["none", "algorithm1", "contact", "grip"])
def test_fingers_start_neutral_and_keep_to_their_limits(problem, network, correction):
    views = hand_views(problem)
    found = rolled_out(network, views, correction=correction)
    for name, q in found.items():
        tree = problem.hands[name].joints
        assert q.shape == (len(views[name]), len(tree))
        np.testing.assert_array_equal(q[0], problem.hands[name].pose(START))
        assert (q >= tree.lower - 1e-9).all()
        assert (q <= tree.upper + 1e-9).all()
        assert np.abs(np.diff(q, axis=0)).max() > 1e-4


def test_a_plain_motion_is_the_network_s_own_at_the_times_of_the_problem(problem, network):
    plain = NeuralFingers(model=str(TINY), finish="plain")
    result = synthesize(problem, plain, certify=False)
    made = learned_motion(problem, network)
    np.testing.assert_array_equal(result.best.times, problem.times)
    for name in problem.hands:
        np.testing.assert_array_equal(result.best.hands[name].q, made.hands[name].q)


def test_a_start_that_is_given_is_gone_on_from(problem, network):
    views = hand_views(problem)
    name = next(iter(views))
    closed = human().pose("closed")
    found = rolled_out(network, views, start={name: closed})[name]
    np.testing.assert_array_equal(found[0], closed)
    neutral = problem.hands[name].pose(START)
    assert np.abs(found[1] - closed).max() < np.abs(found[1] - neutral).max()


def test_the_network_of_the_package_is_taken_if_none_is_named(problem):
    assert NeuralFingers().model == SHIPPED
    result = synthesize(problem, NeuralFingers(finish="plain"))
    assert result.status is not Status.BAD_INPUT


def test_a_model_that_is_not_there_is_named(problem):
    with pytest.raises(HandwrightError, match="no_such_model"):
        synthesize(problem, NeuralFingers(model="no_such_model"))


def test_views_over_different_times_are_refused(network):
    with pytest.raises(HandwrightError, match="no hand"):
        rolled_out(network, {})
