"""Commands about methods: 'methods', 'cite', 'reproduce', and the options of 'synth'."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tiny_problems import TINY

from handwright.cli import main as cli
from handwright.cli.commands import COMMANDS
from handwright.cli.options import given_settings, synth_parser
from handwright.core.settings import settings_of
from handwright.io.clip.file import load_clip, save_clip
from handwright.methods import METHODS, ContactSampling, Scripted
from handwright.methods.provenance import method_of, provenance_of
from handwright.methods.sampling import NoContact
from handwright.synthesis import synthesize


def run(arguments):
    try:
        return cli.main(arguments)
    except SystemExit as stop:
        return stop.code


def test_methods_are_listed_with_paper_and_number_of_settings(capsys):
    assert run(["methods"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for name, cls in METHODS.items():
        assert name in printed
        assert all(paper.short in printed for paper in cls.papers)
    assert run(["methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["methods"]
    assert [row["name"] for row in rows] == list(METHODS)
    for row in rows:
        assert row["settings"] == [item.name for item in settings_of(METHODS[row["name"]])]


def test_settings_of_one_method_are_listed(capsys):
    assert run(["methods", "trajopt"]) == 0
    printed = capsys.readouterr().out
    assert all(item.name in printed for item in settings_of(METHODS["trajopt"]))
    assert "0, 4 or 6" in printed
    assert run(["methods", "stepwise", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["method"] == "stepwise"
    assert answer["settings"][0]["unit"] == "(N m)^-2"
    assert run(["methods", "smpling"]) == 1
    assert "Did you mean 'sampling'?" in capsys.readouterr().err


def test_cite_prints_bibtex_for_a_method_a_clip_and_all(tmp_path, capsys):
    assert run(["cite", "sampling"]) == 0
    printed = capsys.readouterr().out
    assert "@article{YeLiu2012,\n  author = {Yuting Ye and C. Karen Liu}," in printed
    assert "  doi = {10.1145/2185520.2185537},\n}" in printed
    assert "Liu2008" not in printed
    assert run(["cite"]) == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("@")] == [
        "@article{YeLiu2012,",
        "@inproceedings{MordatchPopovicTodorov2012,",
        "@inproceedings{Liu2008,",
        "@article{Zhang2021,",
        "@mastersthesis{Luo2024,",
        "@software{handwright,",
    ]
    save_clip(made_clip(), tmp_path / "ball.npz")
    assert run(["cite", str(tmp_path / "ball.npz")]) == 0
    assert "% scripted: follows no paper." in capsys.readouterr().out
    assert run(["cite", "nobody"]) == 1
    assert "Unknown method 'nobody'" in capsys.readouterr().err


def made_clip():
    return synthesize(TINY["hold_a_ball"](), Scripted(end_pose="open"), seed=3, certify=False).best


def test_reproduce_says_whether_the_same_bytes_come_out(tmp_path, capsys):
    clip = made_clip()
    save_clip(clip, tmp_path / "ball.npz")
    assert run(["reproduce", str(tmp_path / "ball.npz")]) == 0
    assert "Same bytes: motion 1 of 1 is that of the clip." in capsys.readouterr().out
    q = clip.hands["hand"].q.copy()
    q[3, 1] += 1e-15
    moved = replace(clip, hands={"hand": replace(clip.hands["hand"], q=q)})
    save_clip(moved, tmp_path / "moved.npz")
    assert run(["reproduce", str(tmp_path / "moved.npz")]) == 1
    assert "none of 1 motions has the bytes of the clip" in capsys.readouterr().out
    old = replace(moved, provenance=replace(clip.provenance, version="0.0.1"))
    save_clip(old, tmp_path / "old.npz")
    assert run(["reproduce", str(tmp_path / "old.npz")]) == 1
    assert "The clip is by handwright 0.0.1, this is" in capsys.readouterr().out


def test_reproduce_refuses_clips_that_no_method_made(tmp_path, capsys):
    clip = made_clip()
    by_hand = replace(clip, provenance=replace(clip.provenance, method="recording"))
    save_clip(by_hand, tmp_path / "ball.npz")
    assert run(["reproduce", str(tmp_path / "ball.npz")]) == 1
    assert "The clip was made by 'recording', which is none of the methods" in (
        capsys.readouterr().err
    )


def test_a_clip_of_an_earlier_release_is_made_again_with_todays_names(tmp_path):
    clip = made_clip()
    settings = {
        "num_solutions": 3,
        "keep_off": [{"digits": ["little"], "start": None, "end": 0.5}],
        "hold": "outside",
        "skin_shear": 0.001,
        "fills_hollows": True,
        "kept": [],
    }
    made = replace(clip.provenance, method="sampling", settings=settings)
    save_clip(replace(clip, provenance=made), tmp_path / "old.npz")
    assert method_of(load_clip(tmp_path / "old.npz").provenance) == ContactSampling(
        num_solutions=3,
        no_contact=(NoContact(("little",), end=0.5),),
        grasp_region="outside",
        skin_stretch=0.001,
        treat_as_solid=True,
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_method_comes_back_from_its_provenance(name):
    method = METHODS[name]()
    assert method_of(provenance_of(TINY["hold_a_ball"](), method, 3)) == method


VALUES = {
    "integer": lambda item: int(item.default) + 1,
    "number": lambda item: 0.25 if item.default is None else 0.9 * item.default + 1e-3,
    "boolean": lambda item: not item.default,
    "choice": lambda item: item.choices[-1],
    "text": lambda _: "open",
}


@pytest.mark.parametrize("name", METHODS)
def test_every_plain_setting_is_an_option(name):
    import tyro

    cls = METHODS[name]
    wanted, words = {}, ["scene"]
    for item in settings_of(cls):
        if item.kind == "object":
            continue
        value = wanted[item.name] = VALUES[item.kind](item)
        option = item.name.replace("_", "-")
        if item.kind == "boolean":
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words += [f"--{option}", str(value)]
    for methods in ({name: cls}, dict(METHODS)):
        parsed = tyro.cli(synth_parser(methods), args=words)
        assert given_settings(parsed, methods) == wanted
    cls(**wanted)
    assert given_settings(tyro.cli(synth_parser({name: cls}), args=["scene"]), {name: cls}) == {}


def test_help_of_synth_has_a_group_for_each_method_with_units(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    assert run(["synth", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for name, cls in METHODS.items():
        assert f"{name} options" in printed
        for item in settings_of(cls):
            if item.about.unit:
                _, found, after = printed.partition(item.about.help)
                assert found, item.name
                assert f"{item.about.unit}, default {item.default_text}" in after[:80], item.name
    assert run(["synth", "--method", "stepwise", "--help"]) == 0
    printed = capsys.readouterr().out
    assert "stepwise options" in printed
    assert "sampling options" not in printed


def test_options_of_another_method_are_refused_however_they_are_given(capsys):
    for arguments in (
        ["--method", "trajopt", "--grip", "power"],
        ["--method=trajopt", "--grip=power"],
        ["--hold", "handle", "--method", "trajopt"],
        ["--method", "sampling", "--no-coupled"],
    ):
        assert run(["synth", "pick_ball", *arguments]) == 1
        assert "which it does not take. It takes --num-solutions" in capsys.readouterr().err
    assert run(["synth", "pick_ball", "--grip", "power"]) == 1
    assert "The method 'trajopt' was given --grip" in capsys.readouterr().err
    assert run(["synth", "pick_ball", "--method", "sampling", "--girp", "power"]) == 2


def test_scenes_and_clips_are_told_as_json(tmp_path, capsys):
    from handwright.scenes import SCENES, goal_scenes, toss_scenes

    assert run(["scenes", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["scenes"]
    assert [row["name"] for row in rows] == [*SCENES, *goal_scenes(), *toss_scenes()]
    assert {row["gives"] for row in rows} == {"tracks", "goals", "tosses"}
    clip = made_clip()
    save_clip(clip, tmp_path / "ball.npz")
    assert run(["info", str(tmp_path / "ball.npz"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["method"], facts["seed"], facts["frames"]) == ("scripted", 3, clip.num_frames)
    assert facts["settings"] == {"pose": "rest", "end_pose": "open"}
    assert facts["bodies"]["ball"]["mass"] == clip.problem.bodies["ball"].mass


def test_the_list_of_commands_has_one_line_for_each(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split("•")[1].split()[0] for line in lines if "•" in line]
    assert listed == list(COMMANDS)
    for command in ("show", "info", "verify", "evaluate", "report"):
        assert any(f" {command} " in line and "•" not in line for line in lines)
