"""The command 'synth' with files of goals and with methods by name."""

from __future__ import annotations

import pytest

from handwright.cli import main as cli

GOALS = """
name: any name, even one / that no file may have
duration: 1
hands:
  right: {model: human, side: right, start: {position: [0, 0, 1]}}
bodies:
  ball: {shape: sphere, start: {position: [0, 0, 1.2]}}
goals:
  - {of: ball, at: 1, position: [0, 0, 1.3]}
"""


def test_synth_names_the_options_that_a_method_does_not_take(tmp_path, capsys):
    (tmp_path / "lift.yaml").write_text(GOALS)
    arguments = ["synth", str(tmp_path / "lift.yaml"), "--method", "trajopt", "-o", str(tmp_path)]
    assert cli.main([*arguments, "--strategy", "slide", "--grip", "power"]) == 1
    assert (
        "The method 'trajopt' was given --strategy, --grip, which it does not take. "
        "It takes --num-solutions, --time-budget, --max-attempts," in capsys.readouterr().err
    )


@pytest.mark.parametrize("method", ["scripted", "sampling"])
@pytest.mark.parametrize("source", ["pick_ball", "lift.yaml"])
def test_synth_says_which_method_takes_goals(method, source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lift.yaml").write_text(GOALS)
    assert cli.main(["synth", source, "--method", method]) == 1
    told = capsys.readouterr().err
    assert "BAD_INPUT" in told
    assert "use the method 'trajopt', which works from them." in told


def test_synth_chooses_the_method_that_suits_the_problem():
    from handwright.methods import default_method
    from handwright.scenes import load_scene

    assert default_method(load_scene("milk_box_turn")) == "sampling"
    assert default_method(load_scene("pick_ball")) == "trajopt"
    assert default_method(load_scene("lift_cup")) == "stepwise"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["pick_bal"], "Unknown scene 'pick_bal'. Did you mean 'pick_ball'?"),
        (["none.yaml"], "none.yaml: there is no such file; expected a YAML file."),
        (["bad.yaml"], "bad.yaml: this problem file cannot be used:\n  - line 5, hands.right: "),
        (["milk_box_turn", "--method", "smpling"], "Did you mean 'sampling'?"),
    ],
)
def test_synth_tells_what_it_cannot_take_before_any_work(
    arguments, text, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text(GOALS.replace("model: human", "model: humn"))
    assert cli.main(["synth", *arguments]) == 1
    assert text in capsys.readouterr().err
