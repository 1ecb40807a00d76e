"""Training runs: losses fall, runs go on where they were left, and what they leave is complete."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from taught_grasps import taught_grasp

pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import torch

from handwright.errors import FileFormatError, InvalidValueError
from handwright.learning.training.loss import Loss
from handwright.learning.training.recipe import RECIPES
from handwright.learning.training.records.card import FREE, Material
from handwright.learning.training.records.checkpoints import BEST, FOLDER, LAST, best_of
from handwright.learning.training.training import train
from handwright.methods.neural.network.runtime import load_network

MATERIAL = Material("made-up grasps", FREE, command="handwright train grasps -o model")
TINY = {"width": 24, "batch": 16, "dropout": 0.1, "learning_rate": 3e-3}
TINY_RECIPES = {
    "ours": replace(RECIPES["ours"], epochs=4, chains=32, **TINY),
    "windowed": replace(
        RECIPES["windowed"],
        epochs=4,
        window=20,
        velocity_weight=0.02,
        **(TINY | {"batch": 1, "learning_rate": 0.02}),
    ),
}


class StoppedError(Exception):
    """Stands for whatever ends a run."""


@pytest.fixture(scope="module")
def motions():
    splits = ["train", "train", "train", "validation", "test"]
    return [(taught_grasp(seed), split) for seed, split in enumerate(splits)]


@pytest.fixture(scope="module", params=list(TINY_RECIPES))
def run(request, motions, tmp_path_factory):
    """A run that is not interrupted: its recipe, its folder and its history."""
    recipe = TINY_RECIPES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    return recipe, folder, train(motions, recipe, folder, material=MATERIAL, seed=3)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    held = torch.load(folder / FOLDER / LAST, weights_only=True)["state"]
    found = {}
    for name in ("network", "first", "second"):
        found |= {f"{name}.{key}": value for key, value in held.get(name, {}).items()}
    return found


def stop_after(epoch: int):
    def watch(progress):
        if progress.last is not None and progress.last.number == epoch:
            raise StoppedError

    return watch


def test_the_loss_falls(run):
    recipe, _, history = run
    # The passes of the windowed network have losses of their own.
    parts = [history[: recipe.epochs], history[recipe.epochs :]]
    for part in filter(None, parts):
        assert part[-1].loss < 0.8 * part[0].loss
    assert history[-1].figures.error < history[0].figures.error


def test_a_resumed_run_equals_an_uninterrupted_one(run, motions, tmp_path):
    recipe, folder, history = run
    with pytest.raises(StoppedError):
        train(motions, recipe, tmp_path, material=MATERIAL, seed=3, watch=stop_after(1))
    with pytest.raises(StoppedError):
        train(
            motions, recipe, tmp_path, material=MATERIAL, seed=3, resume=True, watch=stop_after(3)
        )
    again = train(motions, recipe, tmp_path, material=MATERIAL, seed=3, resume=True)
    assert [one.loss for one in again] == [one.loss for one in history]
    assert [one.figures for one in again] == [one.figures for one in history]
    kept, found = weights(folder), weights(tmp_path)
    assert kept.keys() == found.keys()
    assert all(torch.equal(kept[name], found[name]) for name in kept)


def test_the_folder_of_a_model_is_complete(run):
    recipe, folder, history = run
    card = json.loads((folder / "model.json").read_text())
    best = best_of(history)
    assert card["best"]["error_mm"] == best.figures.error
    assert card["best"]["epoch"] == best.number
    assert len(card["epochs"]) == len(history)
    assert card["recipe"]["width"] == recipe.width
    assert (card["seed"], card["license"], card["lessons"]) == (3, "Apache-2.0", 3)
    assert card["bytes"] == sum(one.stat().st_size for one in folder.glob("*.onnx"))
    text = (folder / "README.md").read_text()
    for words in (
        "Apache-2.0",
        "`handwright train grasps -o model`",
        "made-up grasps",
        "| width |",
    ):
        assert words in text
    picture = np.asarray(Image.open(folder / "curves.png"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 3
    held = torch.load(folder / FOLDER / BEST, weights_only=True)
    assert len(json.loads(held["about"])["history"]) == best.number
    assert load_network(folder).facts.width == recipe.width


def test_another_run_is_not_gone_on_with(run, motions):
    recipe, folder, _ = run
    with pytest.raises(InvalidValueError, match="holds a training run already"):
        train(motions, recipe, folder, material=MATERIAL, seed=3)
    other = replace(recipe, width=27)
    with pytest.raises(InvalidValueError, match="width was 24 and is 27; the seed was 3 and is 4"):
        train(motions, other, folder, material=MATERIAL, seed=4, resume=True)
    with pytest.raises(InvalidValueError, match="the motions are others"):
        train(motions[1:], recipe, folder, material=MATERIAL, seed=3, resume=True)


def test_what_cannot_go_on_is_said(motions, tmp_path):
    recipe = TINY_RECIPES["ours"]
    with pytest.raises(InvalidValueError, match="no training can go on"):
        train(motions, recipe, tmp_path, material=MATERIAL, resume=True)
    (tmp_path / FOLDER / LAST).write_bytes(b"nonsense")
    with pytest.raises(FileFormatError, match=r"last\.pt: cannot be read"):
        train(motions, recipe, tmp_path, material=MATERIAL, resume=True)


def test_splits_that_are_missing_are_said(motions, tmp_path):
    with pytest.raises(InvalidValueError, match="in the validation split"):
        train(motions[:2], TINY_RECIPES["ours"], tmp_path, material=MATERIAL)


def test_a_training_that_goes_astray_ends_with_advice(motions, tmp_path, monkeypatch):
    monkeypatch.setattr(Loss, "__call__", lambda _, outputs, wanted: np.inf * outputs.mean())
    with pytest.raises(InvalidValueError, match="gone astray"):
        train(motions, TINY_RECIPES["ours"], tmp_path, material=MATERIAL)
