"""The method of docs/how-to/add-a-method.md, as another package brings it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from handwright.cli.main import main
from handwright.core.result import Status
from handwright.io.clip.file import load_certificate, load_clip
from handwright.methods import METHODS, default_method
from handwright.scenes import read_problem
from handwright.synthesis import synthesize

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "add-a-method.md"
RESTING = """\
name: resting
duration: 0.5
fps: 30
hands:
  right: {model: human, side: right, start: {position: [0.0, -0.3, 1.1], turn_deg: [0, 0, 90]}}
bodies:
  box:
    shape: box
    size: {width: 0.06, depth: 0.05, height: 0.06}
    mass: 0.15
    start: {position: [0.0, 0.0, HEIGHT]}
environment:
  - plane: {normal: [0, 0, 1], offset: 0.75, friction: 0.6}
goals:
  - {of: box, at: 0.5, position: [0.0, 0.0, GOAL]}
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder with the page's method, installed as a package would be."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)
    assert len(block.splitlines()) <= 62
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "stand_still_package.py").write_text(block)
    dist = folder / "stand_still_package-1.0.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: stand-still-package\nVersion: 1\n")
    (dist / "entry_points.txt").write_text(
        "[handwright.methods]\nstand_still = stand_still_package:StandStill\n"
        "missing = no_such_package:Nothing\nother_name = stand_still_package:StandStill\n"
        "scripted = stand_still_package:StandStill\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("stand_still_package", None)


def resting(folder: Path, *, height: float = 0.78, goal: float = 0.78) -> Path:
    path = folder / "resting.yaml"
    path.write_text(RESTING.replace("HEIGHT", str(height)).replace("GOAL", str(goal)))
    return path


def test_it_is_in_the_table_and_gives_certified_motions(package, tmp_path):
    method = METHODS["stand_still"](num_solutions=2)
    assert "stand_still" in METHODS
    problem = read_problem(resting(tmp_path))
    result = synthesize(problem, method, seed=3)
    assert result.status is Status.SOLVED
    assert len(result.clips) == len(result.certificates) == 2
    assert all(certificate.passed for certificate in result.certificates)
    assert result.clips[0].provenance.is_certified
    again = synthesize(problem, method, seed=3)
    for one, two in zip(result.clips, again.clips, strict=True):
        assert one.hands["right"].q.tobytes() == two.hands["right"].q.tobytes()
    with pytest.warns(UserWarning, match="no_such_package:Nothing, which cannot be loaded"):
        assert default_method(problem) == "trajopt"


def test_what_the_table_cannot_use_is_named(package):
    from handwright.errors import InvalidValueError, UnknownNameError
    from handwright.methods import Scripted

    with pytest.raises(InvalidValueError, match="no_such_package:Nothing, which cannot be loaded"):
        METHODS["missing"]
    with pytest.raises(InvalidValueError, match="whose 'name' is 'other_name'"):
        METHODS["other_name"]
    with pytest.raises(UnknownNameError, match="Did you mean 'stand_still'"):
        METHODS["stand_stil"]
    # Nobody takes the place of a method of this package.
    assert METHODS["scripted"] is Scripted


def test_a_box_in_the_air_is_refused_and_a_missed_goal_is_told(package, tmp_path):
    method = METHODS["stand_still"](time_budget=0.01, spread=0.0)
    floating = synthesize(read_problem(resting(tmp_path, height=0.9, goal=0.9)), method)
    assert (floating.status, floating.clips) == (Status.REFUSED, ())
    assert floating.refused["force_residual"] == floating.statistics["refused"] >= 1
    assert "force_residual is 1 of weight, allowed 0.01, at frame 0" in floating.message
    missed = synthesize(read_problem(resting(tmp_path, goal=0.9)), method)
    assert missed.status is Status.GOALS_MISSED
    assert not missed.status.is_success
    assert "'box' is 120 mm (allowed 5) from its goal" in missed.message
    assert set(missed.refused) == {"goals"}
    assert missed.certificates[0].passed


def run_synth(folder: Path, *more: str) -> list[str]:
    return ["synth", str(resting(folder)), "--method", "stand_still", "-o", str(folder), *more]


def test_synth_names_clips_by_seed_and_never_overwrites(package, tmp_path, capsys):
    taken = tmp_path / "resting_s5_01.npz"
    taken.write_text("mine")
    assert main(run_synth(tmp_path, "--num-solutions", "2", "--seed", "5", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["seed"], told["refused"]) == ("SOLVED", 5, {})
    files = [Path(clip["file"]).name for clip in told["clips"]]
    assert sorted(files) == ["resting_s5_00.npz", "resting_s5_02.npz"]
    assert all(clip["certified"] and clip["verdict"] == "certified" for clip in told["clips"])
    assert {"certification", "preparation", "total"} <= told["timings"].keys()
    assert taken.read_text() == "mine"
    assert main(run_synth(tmp_path, "--seed", "5")) == 0
    assert "resting_s5_03.npz" in capsys.readouterr().out
    certificate = load_certificate(tmp_path / "resting_s5_03.npz")
    assert certificate is not None
    assert certificate.passed
    assert certificate.num_frames == load_clip(tmp_path / "resting_s5_03.npz").num_frames
    assert main(["info", str(tmp_path / "resting_s5_03.npz")]) == 0
    assert "certified (as stored;" in capsys.readouterr().out


def test_synth_ends_with_1_unless_all_was_found(package, tmp_path, capsys):
    # One attempt fits into the budget, two motions were asked for.
    short = ("--num-solutions", "100000", "--time-budget", "0.02")
    with pytest.raises(SystemExit) as stop:
        main(run_synth(tmp_path, *short))
    assert stop.value.code == 1
    printed = capsys.readouterr().out
    assert "PARTLY_SOLVED" in printed
    assert list(tmp_path.glob("resting_s0_*.npz"))
    resting(tmp_path, height=0.9)
    path = tmp_path / "resting.yaml"
    arguments = ["synth", str(path), "--method", "stand_still", "--time-budget", "0.01"]
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "-o", str(tmp_path / "none"), "--json"])
    assert stop.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["clips"]) == ("REFUSED", [])
    assert told["refused"]["force_residual"] >= 1
    assert list((tmp_path / "none").iterdir()) == []
    assert main([*arguments, "-o", str(tmp_path / "none")]) == 1
    assert "REFUSED: motions were found" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_synth_keeps_what_it_has_found(package, tmp_path, number):
    arguments = run_synth(tmp_path, "--num-solutions", "100000", "--time-budget", "10000")
    path = os.pathsep.join([str(package), *sys.path])
    code = "import sys; from handwright.cli.main import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        end = time.monotonic() + 300.0
        while not (tmp_path / "resting_s0_01.npz").exists():
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(number)
        printed, told = process.communicate(timeout=120)
    assert process.returncode == 130, told
    files = sorted(tmp_path.glob("*.npz"))
    assert f"Stopped; motions found by then and written: {len(files)}." in printed
    for file in files:
        certificate = load_certificate(file)
        assert certificate is not None
        assert certificate.passed
        assert load_clip(file).num_frames > 10


def test_importing_one_family_loads_no_other():
    code = (
        "import sys, handwright.methods as m\n"
        "assert not [n for n in sys.modules if n.startswith('handwright.methods.s')], 'at import'\n"
        "m.METHODS['sampling']\n"
        "bad = [n for n in sys.modules if n.startswith(('handwright.methods.trajopt',\n"
        "       'handwright.methods.stepwise', 'handwright.grasping', 'torch'))]\n"
        "assert not bad, bad\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
