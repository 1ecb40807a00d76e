"""Every example runs, is short, and uses nothing but the public interface."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

import handwright as hw

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9][0-9]_*.py"))
MAX_LINES = 80
OPEN_MODULES = {"handwright", "handwright.core.editing", "handwright.render"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_imports_public_names_only(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < MAX_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("handwright"):
            assert node.module in OPEN_MODULES
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert node.value.id != "hw" or node.attr in hw.__all__


def test_there_are_eight_examples_in_order():
    assert [path.name[:2] for path in EXAMPLES] == [f"0{number}" for number in range(1, 9)]


def _run(name, folder):
    (path,) = FOLDER.glob(f"{name}_*.py")
    return runpy.run_path(str(path))["main"](folder)


@pytest.mark.parametrize("name", ["01", "02", "04", "07", "08"])
def test_examples_return_certified_motions(name, tmp_path):
    result = _run(name, tmp_path)
    assert result.status.is_success
    assert all(certificate.passed for certificate in result.certificates)
    assert len(result.certificates) == len(result.clips) > 0
    assert any(path.stat().st_size > 0 for path in tmp_path.iterdir())


def test_a_pushed_cup_stays_in_the_hand(tmp_path):
    clip = _run("03", tmp_path)
    lowest = clip.bodies["cup"].position[-1, 2] - clip.bodies["cup"].position[0, 2]
    assert lowest > -0.01
    assert hw.load_clip(tmp_path / "pushed_cup.npz").num_frames == clip.num_frames


def test_kept_fingers_stay_and_others_change(tmp_path):
    first, second = _run("05", tmp_path)
    change = abs(first.hands["right"].q - second.hands["right"].q).max(axis=0)
    model = first.problem.hands["right"]
    for digit in model.digits:
        most = change[list(digit.joints)].max()
        if digit.name in ("thumb", "index"):
            assert most < 1e-3
    assert change.max() > 0.05
    little = [digit.name for digit in model.digits].index("little")
    touching = first.contacts.part[first.contacts.toucher == first.contacts.touchers.index("right")]
    assert not (model.capsules.digit[touching] == little).any()


def test_a_stiff_hand_is_refused(tmp_path, capsys):
    assert not _run("06", tmp_path).passed
    printed = capsys.readouterr().out
    assert "certified under" in printed
