"""The command 'train': what it takes, says, refuses and leaves behind."""

from __future__ import annotations

import json
import sys

import pytest
from taught_grasps import taught_grasp

pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from handwright.cli import main as cli
from handwright.cli.train import RecipeOptions
from handwright.core.settings import settings_of
from handwright.learning.training.lessons import sources
from handwright.learning.training.optimising import learning_rate
from handwright.learning.training.recipe import RECIPES, Recipe


@pytest.fixture
def grasps(monkeypatch):
    """Stands for a folder of motions."""
    splits = ("train", "train", "validation")
    motions = [(taught_grasp(seed, 20), split) for seed, split in enumerate(splits)]
    monkeypatch.setattr(sources, "taught_motions", lambda _: motions)
    return ["train", "grasps", "--epochs", "1", "--width", "12", "--chains", "8"]


def test_a_model_is_trained_and_its_card_says_how(grasps, tmp_path, capsys, monkeypatch):
    out = tmp_path / "model"
    words = [*grasps, "-o", str(out), "--seed", "7", "--no-ambient", "--horizon", "0.1"]
    monkeypatch.setattr(sys, "argv", ["handwright", *words])
    assert cli.main(words) == 0
    said = capsys.readouterr()
    assert "best" in said.out
    card = json.loads((out / "model.json").read_text())
    assert card["command"].startswith("handwright train grasps --epochs 1 --width 12")
    assert str(tmp_path) not in card["command"]
    assert (card["seed"], card["license"]) == (7, "Apache-2.0")
    given = {"epochs": 1, "width": 12, "chains": 8, "ambient": False, "horizon": "0.1"}
    for item in settings_of(Recipe):
        wanted = given.get(item.name, getattr(RECIPES["ours"], item.name))
        assert card["recipe"][item.name] == wanted
    assert cli.main(words) == 1
    assert "holds a training run already" in capsys.readouterr().err
    assert cli.main([*words, "--resume"]) == 0


def test_settings_out_of_range_are_refused_before_anything_is_made(grasps, tmp_path, capsys):
    out = tmp_path / "model"
    assert cli.main([*grasps, "-o", str(out), "--dropout", "2"]) == 1
    assert "dropout is 2.0, expected 0 to 0.9" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "was given no motions; expected a folder of taught motions"),
        (["some", "--recordings", "others"], "both motions and recordings"),
        (["some", "--threads", "0"], "--threads is 0; expected 1 or more"),
        (["--recordings", "."], "holds no recordings"),
    ],
)
def test_what_cannot_be_trained_on_is_said(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", *words]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("package", ["torch", "onnx"])
def test_missing_packages_are_named_by_their_extra(package, monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "some"]) == 1
    assert "needs the 'learn' extra" in capsys.readouterr().err


def test_every_setting_of_a_recipe_is_an_option():
    names = set(RecipeOptions.__dataclass_fields__)
    assert names == {item.name for item in settings_of(Recipe)}


def test_one_cycle_goes_up_and_down_and_others_stay():
    recipe = Recipe(learning_rate=1e-3)
    rates = [learning_rate(recipe, n / 100) for n in range(101)]
    assert max(rates) == rates[30] == pytest.approx(1e-3)
    assert rates[0] == pytest.approx(4e-5)
    assert rates[-1] < 1e-6
    assert rates[:31] == sorted(rates[:31])
    assert rates[30:] == sorted(rates[30:], reverse=True)
    constant = Recipe(schedule="constant", learning_rate=1e-3)
    assert {learning_rate(constant, n / 10) for n in range(11)} == {1e-3}
