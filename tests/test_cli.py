"""The command line: what it prints, writes and returns."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import types
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from PIL import Image

import benchmarks
from handwright.cli import bench as bench_command
from handwright.cli import main as cli
from handwright.cli.commands import COMMANDS
from handwright.geometry.shapes import SHAPES
from handwright.hands.registry import HANDS, make_hand, straight_length
from handwright.scenes import SCENES


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("handwright")
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def test_hands_are_listed_with_their_sizes(capsys):
    assert cli.main(["hands"]) == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[1:]}
    assert set(rows) == set(HANDS)
    for name, entry in HANDS.items():
        model = make_hand(name)
        length = round(1000 * straight_length(model))
        assert rows[name].split()[1:4] == [
            str(model.num_joints),
            str(len(model.capsules)),
            str(length),
        ]
        assert rows[name].rstrip().endswith(entry.summary)


@pytest.mark.parametrize("name", HANDS)
def test_hands_of_the_table_are_what_their_names_say(name):
    model = make_hand(name)
    assert ("arm" in name.split("_")) == (model.wrist_link > 0)
    if name.startswith("human"):
        assert model.side in name
        assert 0.16 < straight_length(model) < 0.22
    assert "rest" in model.poses


def test_a_womans_hand_is_shorter():
    assert straight_length(make_hand("human_female_right")) < straight_length(
        make_hand("human_right")
    )


def test_shapes_are_listed(capsys):
    assert cli.main(["shapes"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(SHAPES)
    assert all(SHAPES[line.split()[0]].summary in line for line in lines)


def test_scenes_are_listed(capsys):
    assert cli.main(["scenes"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for name, scene in SCENES.items():
        assert f"{name} {scene.num_frames} {', '.join(scene.hands)}" in printed


def test_show_draws_a_shape(tmp_path, capsys, opengl):
    out = tmp_path / "box.png"
    assert cli.main(["show", "box", str(out), "--views", "3", "--size", "48"]) == 0
    assert f"Wrote {out}." in capsys.readouterr().out
    image = np.asarray(Image.open(out))
    assert image.shape[1] >= 3 * 48
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 50


def test_show_draws_a_row_for_each_pose(tmp_path, opengl):
    one, every = tmp_path / "one.png", tmp_path / "all.png"
    size = ["--views", "2", "--size", "32"]
    assert cli.main(["show", "trident", str(one), *size]) == 0
    assert cli.main(["show", "trident", str(every), "--pose", "all", *size]) == 0
    heights = [Image.open(path).height for path in (one, every)]
    assert heights[1] > 4 * (heights[0] - 8)
    assert Image.open(one).width == Image.open(every).width


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["show", "mugg", "a.png"],
            "Unknown hand or shape 'mugg'. Did you mean 'mug'? Known: beaker,",
        ),
        (["show", "human_rihgt", "a.png"], "Did you mean 'human_right'?"),
        (["show", "box", "a.jpg"], "Cannot write a picture to 'a.jpg'; expected a name that ends"),
        (["show", "box", "a.png", "--pose", "open"], "'box' is a shape and has no pose 'open'."),
        (["show", "trident", "a.png", "--pose", "opne"], "Did you mean 'open'?"),
        (["show", "box", "a.png", "--views", "0"], "--views is 0; expected 1 or more."),
        (["show", "box", "a.png", "--size", "0"], "--size is 0; expected 1 or more."),
    ],
)
def test_mistakes_are_told_without_a_traceback(arguments, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("handwright: ")
    assert text in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told(tmp_path, capsys, opengl):
    (tmp_path / "file").write_text("not a folder")
    out = tmp_path / "file" / "box.png"
    assert cli.main(["show", "box", str(out), "--views", "1", "--size", "16"]) == 1
    assert str(tmp_path / "file") in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["shw"], ["show"], ["show", "box", "a.png", "--veiws", "3"], ["bench", "nothing"],
                  ["show", "box", "a.png", "--views", "many"]]
)  # fmt: skip
def test_a_command_line_that_cannot_be_read_ends_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_debug_shows_the_traceback():
    plain = run("show", "mugg", "a.png")
    assert (plain.returncode, plain.stdout) == (1, "")
    assert "Traceback" not in plain.stderr
    for arguments in (["--debug", "show", "mugg", "a.png"], ["show", "mugg", "a.png", "--debug"]):
        debug = run(*arguments)
        assert debug.returncode == 1
        assert "Traceback" in debug.stderr
        assert "UnknownNameError" in debug.stderr


def test_help_and_version():
    done = run("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)
    assert "--version" in done.stdout
    bare = run()
    assert (bare.returncode, bare.stdout) == (0, done.stdout)
    from importlib.metadata import version

    assert run("--version").stdout == f"handwright {version('handwright')}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command, "--help"])
    assert stop.value.code in (0, None)
    printed = capsys.readouterr().out
    assert f"handwright {command}" in printed
    assert COMMANDS[command].__doc__.splitlines()[0] in printed


def test_bench_without_its_peer_names_the_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mink", None)
    assert cli.main(["bench", "kernels"]) == 1
    assert (
        "'handwright bench kernels' needs the 'dev' extra: pip install" in capsys.readouterr().err
    )


@pytest.fixture
def quick_benchmark(monkeypatch):
    """A benchmark that answers at once: here only the wiring is tried."""
    module = types.SimpleNamespace(
        run=lambda: {"fk_us": 1.5}, describe=lambda r: f"fk {r['fk_us']}"
    )
    monkeypatch.setitem(sys.modules, "benchmarks.kernels.bench", module)


@pytest.mark.parametrize(
    ("arguments", "text"), [(["--json"], '{"fk_us": 1.5}'), (["kernels"], "fk 1.5"), ([], "fk 1.5")]
)
def test_bench_prints_a_table_or_json(quick_benchmark, arguments, text, capsys):
    pytest.importorskip("mink")
    assert cli.main(["bench", *arguments]) == 0
    assert capsys.readouterr().out.strip() == text


@pytest.mark.parametrize("name", [one for one in benchmarks.MODULES if one.startswith("neural")])
def test_all_that_a_benchmark_of_networks_takes_is_an_option(name):
    pytest.importorskip("onnxruntime")
    options = {field.name for field in dataclasses.fields(bench_command.BenchOptions)}
    assert set(inspect.signature(bench_command.load_benchmark(name).run).parameters) <= options


def test_bench_without_a_checkout_says_where_benchmarks_are(monkeypatch, tmp_path, capsys):
    installed = tmp_path / "lib" / "site-packages" / "handwright"
    monkeypatch.setattr(bench_command, "PACKAGE", installed)
    assert cli.main(["bench", "verify"]) == 1
    said = capsys.readouterr().err
    assert "'handwright bench verify' runs from a source checkout" in said
    assert str(installed) in said
    assert 'pip install --editable ".[dev]"' in said


def test_bench_takes_no_package_of_the_same_name(monkeypatch, tmp_path, capsys):
    other = tmp_path / "benchmarks" / "__init__.py"
    module = types.ModuleType("benchmarks")
    module.__file__ = str(other)
    monkeypatch.setitem(sys.modules, "benchmarks", module)
    assert cli.main(["bench", "verify"]) == 1
    said = capsys.readouterr().err
    assert "has already been imported" in said
    assert str(other) in said


def test_every_benchmark_that_bench_names_is_there():
    names = get_args(bench_command._BenchName)
    assert tuple(benchmarks.MODULES) == names
    for name in names:
        module = bench_command.load_benchmark(name)
        assert callable(module.run)
        assert callable(module.describe)


def test_demo_hands_on_what_it_is_given(monkeypatch, tmp_path):
    motions, ten_shapes = [], []
    for name, run in (
        ("motions", lambda folder, **settings: motions.append((folder, settings))),
        ("shapes", ten_shapes.append),
    ):
        module = types.SimpleNamespace(run=run)
        monkeypatch.setitem(sys.modules, f"handwright.cli.demo.{name}", module)
    monkeypatch.chdir(tmp_path)
    here = tmp_path / "here"
    assert cli.main(["demo"]) == 0
    given = ["--num-solutions", "3", "--num-workers", "1", "--seed", "7"]
    assert cli.main(["demo", "--out", str(here), *given]) == 0
    assert motions == [
        (Path("out/demo"), {"num_solutions": 10, "num_workers": 2, "seed": 0}),
        (here, {"num_solutions": 3, "num_workers": 1, "seed": 7}),
    ]
    assert ten_shapes == []
    assert cli.main(["demo", "--shapes", "--out", str(here)]) == 0
    assert ten_shapes == [here]
    assert len(motions) == 2


@pytest.fixture
def asked(monkeypatch):
    """Makes the verb end at once as wanted; the methods that it was given."""
    from handwright.core.result import Progress, Result

    methods = []

    def end_with(status):
        def synthesize(problem, method, *, seed, on_progress):
            methods.append(method)
            on_progress(Progress("searching", {"solutions": 0.0}, 1.0, method.time_budget))
            return Result((), status, "", {"solutions": 0.0}, {"total": 1.0})

        monkeypatch.setattr("handwright.cli.synth.synthesize", synthesize)
        return methods

    return end_with


def test_synth_that_found_nothing_says_so(asked, tmp_path, capsys):
    from handwright.core.result import Status

    asked(Status.CANCELLED)
    with pytest.raises(SystemExit) as stop:
        cli.main(["synth", "milk_box_turn", "--out", str(tmp_path)])
    assert stop.value.code == 130
    printed = capsys.readouterr()
    # There is one budget by default, that of the method.
    assert "searching, 0 of 10 found, 59 s left" in printed.err
    assert "Stopped; motions found by then and written: 0." in printed.out
    asked(Status.TIME_BUDGET)
    assert cli.main(["synth", "milk_box_turn", "--out", str(tmp_path)]) == 1
    assert "TIME_BUDGET: the time budget ran out" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_synth_hands_on_wishes(asked, tmp_path):
    from handwright.core.result import Status
    from handwright.methods.sampling import NoContact

    methods = asked(Status.SOLVED)
    wishes = ["--grip", "power", "--keep-off", "little", "ring", "--strategy", "static"]
    wishes += ["--hold", "outside", "--json"]
    assert cli.main(["synth", "milk_box_turn", "--out", str(tmp_path), *wishes]) == 0
    (method,) = methods
    assert (method.grip, method.strategy, method.grasp_region) == ("power", "static", "outside")
    assert method.no_contact == (NoContact(("little", "ring")),)


def test_synth_hands_on_pushes_and_free_times(asked, tmp_path):
    from handwright.core.result import Status

    methods = asked(Status.SOLVED)
    wishes = ["--pushes", "4", "--push-force", "0.5", "--free-times", "--json"]
    assert cli.main(["synth", "pick_ball", "--out", str(tmp_path), *wishes]) == 0
    (method,) = methods
    assert (method.name, method.pushes, method.push_force) == ("trajopt", 4, 0.5)
    assert method.free_times


def test_synth_makes_no_folder_for_settings_that_it_refuses(tmp_path, capsys):
    out = tmp_path / "new"
    assert cli.main(["synth", "milk_box_turn", "--out", str(out), "--num-solutions", "0"]) == 1
    assert "num_solutions is 0" in capsys.readouterr().err
    assert not out.exists()


def test_an_interrupt_ends_quietly(monkeypatch, capsys):
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "hands", interrupted)
    assert cli.main(["hands"]) == 130
    assert capsys.readouterr().err == ("handwright: interrupted; nothing was left half written.\n")


def test_a_folder_that_cannot_be_made_is_named_before_the_work(tmp_path, capsys):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert cli.main(["demo", "--out", str(blocked)]) == 1
    assert f"Cannot make the folder '{blocked}'" in capsys.readouterr().err


def test_the_recordings_must_be_given(capsys):
    assert cli.main(["bench", "recorded-hand"]) == 1
    assert "Pass --data FOLDER" in capsys.readouterr().err


def test_bench_hands_on_the_options_that_a_benchmark_takes(monkeypatch, capsys):
    seen = {}

    def run(*, scenes=None, num=10, budget=60.0):
        seen.update(scenes=scenes, num=num, budget=budget)
        return {"scenes": {}}

    module = types.SimpleNamespace(run=run, describe=str)
    monkeypatch.setitem(sys.modules, "benchmarks.sampling.bench", module)
    assert cli.main(["bench", "sampling", "--scenes", "spatula", "--num", "3", "--json"]) == 0
    assert seen == {"scenes": "spatula", "num": 3, "budget": 60.0}
    assert capsys.readouterr().out.strip() == '{"scenes": {}}'
    assert cli.main(["bench", "sampling", "--windows", "3"]) == 1
    assert (
        "'handwright bench sampling' was given --windows, which it does not take. It takes "
        "--scenes, --num, --budget." in capsys.readouterr().err
    )
