"""Policies are learned, kept, and gone on with."""

import json

import pytest

from handwright.errors import InvalidValueError
from handwright.learning.throwing.recipe import PolicyRecipe

pytest.importorskip("stable_baselines3")
from handwright.learning.throwing.training import train_policy


def test_a_run_can_be_gone_on_with(tmp_path):
    told = []
    recipe = PolicyRecipe("throw-height", throws=4, drive="computed_torque", save_every=4)
    train_policy(recipe, tmp_path, seed=0, resume=False, tell=told.append)
    longer = PolicyRecipe("throw-height", throws=8, drive="computed_torque", save_every=4)
    history = train_policy(longer, tmp_path, seed=0, resume=True, tell=told.append)
    assert [figures.throws for figures in history] == [4, 8]
    assert told == history
    assert len(json.loads((tmp_path / "run.json").read_text())["history"]) == 2
    with pytest.raises(InvalidValueError, match="Give the same options"):
        train_policy(longer, tmp_path, seed=1, resume=True, tell=told.append)


def test_nothing_to_go_on_with_is_said(tmp_path):
    with pytest.raises(InvalidValueError, match="holds no policy"):
        train_policy(PolicyRecipe("hit-box"), tmp_path, seed=0, resume=True, tell=print)
