"""Several learned motions of one problem: styles by chance, and several networks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="the extra neural is not installed")

from taught_grasps import taught_grasp

from handwright.methods import NeuralFingers
from handwright.methods.base import Attempt, AttemptContext, Search
from handwright.methods.neural.motion import learned_motion
from handwright.methods.neural.network.runtime import load_network
from handwright.methods.neural.searches import GuidedSearches
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

TINY = str(Path(__file__).parents[2] / "fixtures" / "tiny_fingers")


@pytest.fixture(scope="module")
def problem():
    return taught_grasp(5).problem


def plain(problem, seed=0, **settings):
    settings = {"model": TINY, "finish": "plain", **settings}
    clips = synthesize(problem, NeuralFingers(**settings), seed=seed, certify=False).clips
    return [clip.hands["right"].q for clip in clips]


def test_the_first_motion_is_the_networks_and_the_others_differ(problem):
    found = plain(problem, num_solutions=3)
    own = learned_motion(problem, load_network(TINY)).hands["right"].q
    assert sum(np.array_equal(q, own) for q in found) == 1
    for first in range(3):
        for second in range(first):
            assert np.abs(found[first] - found[second]).max() > 1e-3


def test_a_seed_gives_the_same_styles_and_another_gives_others(problem):
    first, again, other = (plain(problem, seed, num_solutions=2) for seed in (1, 1, 2))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert any(np.abs(one - two).max() > 1e-3 for one, two in zip(first, other, strict=True))


def test_styles_keep_to_limits_and_last(problem):
    quiet, loud = (
        learned_motion(
            problem, load_network(TINY), style_noise=amount, rng=np.random.default_rng(1)
        )
        .hands["right"]
        .q
        for amount in (0.0, 0.2)
    )
    tree = problem.hands["right"].joints
    assert (loud >= tree.lower - 1e-9).all()
    assert (loud <= tree.upper + 1e-9).all()
    assert np.abs(loud[-1] - quiet[-1]).max() > 1e-3


def test_without_noise_there_is_one_motion_for_each_model(problem):
    assert len(plain(problem, num_solutions=3, style_noise=0.0)) == 1
    both = plain(problem, num_solutions=3, style_noise=0.0, model=f"{TINY},{TINY}")
    assert len(both) == 2
    np.testing.assert_array_equal(*both)


class Around(Search):
    """Finds the number of its guide, and a second motion that nobody asked for."""

    def __init__(self, guide):
        self.guide = guide

    def attempt(self, context):
        assert context.wanted == 1
        return Attempt((self.guide, self.guide), Counter({"too far": 1}), {"frames": 2.0})

    def cost(self, found):
        return float(found)


def test_guides_take_turns_and_their_searches_are_told_together():
    searches = GuidedSearches(lambda seed, number: 10 * seed + number, 2, Around)
    attempts = [searches.attempt(AttemptContext(3, n, 5, 60.0)) for n in range(4)]
    assert [attempt.first(1).found for attempt in attempts] == [
        [(0, 30)], [(1, 31)], [(0, 30)], [(1, 31)],
    ]  # fmt: skip
    assert searches.clip(attempts[1].found[0]) == 31
    assert searches.cost(attempts[1].found[0]) == 31.0
    assert searches.statistics(attempts) == {"frames": 8.0}
    assert "4 times" in searches.cause(attempts)


def test_several_guides_are_searched_by_several_workers():
    method = NeuralFingers(model=TINY, num_solutions=2, num_workers=2, time_budget=20.0)
    result = synthesize(load_scene("milk_box_turn"), method, seed=0)
    assert result.status.is_success
    assert len(result.clips) == 2
