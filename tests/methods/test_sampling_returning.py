"""Searches that find nothing return to how far they had come; those that find something do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.methods import ContactSampling
from handwright.methods.sampling.search.search import _FRESH_STARTS, TreeSearch
from handwright.methods.sampling.setup.prepare import prepare
from handwright.scenes import load_scene

HOPELESS = 16
"""A frame in which nothing carries the body."""


@pytest.fixture(scope="module")
def hold():
    problem = load_scene("milk_box_turn")
    problem = replace(problem, times=problem.times[:40])
    (found,) = prepare(problem, ContactSampling(num_solutions=1))
    return found


@pytest.fixture(scope="module")
def hopeless(hold):
    wrench = hold.searched.wrench.copy()
    wrench[HOPELESS:, :3] = [0.0, 0.0, 1e4]
    return hold._replace(searched=hold.searched._replace(wrench=wrench))


def starts_of(search, frames):
    """How many of its starts were first grasps, and from which frames the others set out."""
    grasps, returns = [0], []
    pose, restore = search._first_grasps.pose, search._beginnings.restore

    def counted_pose():
        grasps[0] += 1
        return pose()

    def noted_restore(path):
        frame = restore(path)
        returns.append(frame)
        return frame

    search._first_grasps.pose = counted_pose
    search._beginnings.restore = noted_restore
    found = search.next_path(frames)
    return found, grasps[0], [frame for frame in returns if frame >= 0]


def test_a_search_that_finds_nothing_returns_to_how_far_it_came(hopeless):
    search = TreeSearch(hopeless, np.random.default_rng(0))
    found, grasps, returns = starts_of(search, 1500)
    assert found is None
    assert grasps >= _FRESH_STARTS
    assert len(returns) > 2 * grasps
    assert max(returns) <= HOPELESS
    # What lies before a wall is not approached from one place alone.
    assert len(set(returns)) > 3


def test_the_same_random_numbers_return_alike(hopeless):
    runs = [starts_of(TreeSearch(hopeless, np.random.default_rng(5)), 600) for _ in range(2)]
    assert runs[0][1:] == runs[1][1:]


def test_a_search_that_soon_finds_a_path_starts_every_tree_anew(hold):
    search = TreeSearch(hold, np.random.default_rng(0))
    found, _, returns = starts_of(search, 3000)
    assert found is not None
    assert returns == []
    assert search._returns
    search.next_path(6000)
    assert not search._returns


def test_the_plain_search_of_the_paper_never_returns(hopeless):
    plain = hopeless._replace(policy=hopeless.policy._replace(is_informed=False))
    _, _, returns = starts_of(TreeSearch(plain, np.random.default_rng(0)), 600)
    assert returns == []
