"""Commands that take a clip file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handwright.cli import main as cli
from handwright.core.clip import Provenance
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.shapes import make_shape
from handwright.hands import trident
from handwright.io.clip.file import load_clip, save_clip
from handwright.math.pose import Pose
from handwright.methods import Scripted
from handwright.synthesis import synthesize

TIMES = np.linspace(0.0, 0.5, 31)


def saved(folder, *, falls):
    """A ball beside an idle hand: falling freely, or hanging in the air against all physics."""
    fall = 0.5 * 9.81 * TIMES**2 if falls else 0.0 * TIMES
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (len(TIMES), 1))
    ball = np.stack([0.0 * TIMES, 0.0 * TIMES, 2.0 - fall], axis=-1)
    aside = np.tile([1.0, 0.0, 2.0], (len(TIMES), 1))
    problem = Problem(
        "ball",
        TIMES,
        {"hand": trident()},
        {"ball": make_shape("sphere")},
        {"hand": Track(TIMES, Pose(aside, wxyz)), "ball": Track(TIMES, Pose(ball, wxyz))},
    )
    path = folder / ("falls.npz" if falls else "hangs.npz")
    save_clip(synthesize(problem, Scripted(), certify=False).best, path)
    return str(path)


def run(arguments):
    try:
        return cli.main(arguments)
    except SystemExit as stop:
        return stop.code


def test_verify_passes_free_flight_and_refuses_a_ball_that_hangs(tmp_path, capsys):
    assert run(["verify", saved(tmp_path, falls=True)]) == 0
    assert ": certified" in capsys.readouterr().out
    assert run(["verify", saved(tmp_path, falls=False)]) == 1
    assert "not certified: force_residual" in capsys.readouterr().out


def test_verify_prints_json(tmp_path, capsys):
    assert run(["verify", saved(tmp_path, falls=True), "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert len(verdict["frames"]) == len(TIMES)


def test_verify_says_whether_the_clip_is_of_a_scene(tmp_path, capsys):
    clip = saved(tmp_path, falls=True)
    assert run(["verify", clip, "--against", "mug"]) == 1
    said = capsys.readouterr().out
    assert ": certified" in said
    assert "the problem of the clip is not that of 'mug':" in said
    assert "  - bodies/mug is missing" in said
    assert "  - bodies/ball is not in it" in said
    assert run(["verify", clip, "--against", "mug", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["against"]
    assert found["problem"] == "mug"
    assert "bodies/mug is missing" in found["differences"]
    assert run(["verify", clip, "--against", "mugg"]) == 1
    assert "mugg" in capsys.readouterr().err


def test_help_of_commands_that_take_a_clip_has_their_limits(capsys):
    for name in ("verify", "evaluate", "info"):
        assert run([name, "--help"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        for option in ("--limit-memory-gb", "--limit-seconds", "--debug"):
            assert option in said, (name, option)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is an empty file"),
        (b"some notes\n", "is a text file; expected a clip file"),
        (b"\x89PNG\0\0", "is truncated, damaged or no .npz file"),
    ],
)
def test_files_that_are_no_clips_are_called_what_they_are(tmp_path, capsys, content, said):
    path = tmp_path / "odd\nname.npz"
    path.write_bytes(content)
    assert run(["verify", str(path)]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "odd\\nname.npz" in error
    assert len(error.splitlines()) == 1


def test_an_archive_of_nothing_is_no_clip(tmp_path, capsys):
    np.savez(tmp_path / "empty.npz")
    assert run(["verify", str(tmp_path / "empty.npz")]) == 1
    assert "holds nothing at all, no 'clip.json'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lost", "lines"),
    [
        (
            "problem/hands/hand/",
            ["problem/hands/hand: ", "parts are missing, such as joints/parent"],
        ),
        ("problem/hands/hand/joints/parent", ["problem/hands/hand/joints/parent is missing"]),
    ],
)
def test_a_missing_part_is_told_once(tmp_path, capsys, lost, lines):
    path = saved(tmp_path, falls=True)
    cut = tmp_path / "cut.npz"
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(cut, "w") as less:
        for name in whole.namelist():
            if not name.startswith(lost):
                less.writestr(name, whole.read(name))
    assert run(["verify", str(cut)]) == 1
    error = capsys.readouterr().err.splitlines()
    assert len(error) == 2
    assert all(text in error[1] for text in lines)


def test_what_follows_from_a_missing_part_is_not_told(tmp_path, capsys):
    path = saved(tmp_path, falls=True)
    cut = tmp_path / "cut.npz"
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(cut, "w") as less:
        for name in whole.namelist():
            content = whole.read(name)
            if name == "clip.json":
                document = json.loads(content)
                del document["clip"]["problem"]
                content = json.dumps(document).encode()
            less.writestr(name, content)
    assert run(["verify", str(cut)]) == 1
    assert capsys.readouterr().err.splitlines()[1:] == ["  - problem is missing"]


def test_verify_says_under_which_assumptions(tmp_path, capsys):
    assert run(["verify", saved(tmp_path, falls=True), "--soft-tissue-mm", "2"]) == 0
    assert "certified under" in capsys.readouterr().out


def test_evaluate_prints_units_and_conventions(tmp_path, capsys):
    path = saved(tmp_path, falls=True)
    assert run(["evaluate", path, "--sweep"]) == 0
    text = capsys.readouterr().out
    assert "cm/s^2" in text
    assert "contact at 3 mm" in text
    assert "ball: realism with contact at 5 mm: " in text
    assert "ball: realism with sliding above inf m/s: " in text
    assert "ball: realism with all frames: " in text
    assert run(["evaluate", path, "--json"]) == 0
    json.loads(capsys.readouterr().out)


def test_info_names_scene_method_and_bodies(tmp_path, capsys):
    assert run(["info", saved(tmp_path, falls=True)]) == 0
    text = capsys.readouterr().out
    for part in ("ball", "scripted", "31 in 0.500 s (60.0 a second)", "friction"):
        assert part in text


@pytest.mark.parametrize("suffix", [".glb", ".bvh", ".csv", ".npz"])
def test_export_writes_the_format_of_the_suffix(tmp_path, suffix, capsys):
    out = tmp_path / "new" / f"a{suffix}"
    assert run(["export", saved(tmp_path, falls=True), str(out)]) == 0
    assert "Wrote" in capsys.readouterr().out
    written = list((tmp_path / "new").iterdir())
    assert written
    assert all(path.stat().st_size > 100 for path in written)


@pytest.mark.usefixtures("opengl")
def test_render_draws_a_strip(tmp_path, capsys):
    out = tmp_path / "a.png"
    size = ["--width", "64", "--height", "64", "--stills", "2"]
    assert run(["render", saved(tmp_path, falls=True), str(out), *size]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")
    assert "Wrote" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["verify", "none.npz"], "none.npz: there is no such file; expected a clip file (.npz)."),
        (["verify", "."], ".: is a folder; expected a clip file (.npz). Give one of the 2 in it, "),
        (["info", "."], "is a folder"),
        (
            ["export", "clip.glb", "a.gif"],
            "clip.glb: is no clip file; expected one that handwright",
        ),
        (["verify", "{clip}", "--smoothing-hz", "30"], "expected below 30 Hz, half the frame rate"),
        (["export", "{clip}", "a.xyz"], "Unknown file suffix to write '.xyz'"),
        (["render", "{clip}", "a.avi"], "Unknown picture format '.avi'"),
        (["render", "{clip}", "a.gif", "--fps", "0"], "fps is 0"),
        (["render", "{clip}", "a.gif", "--labels", "a", "a"], "1 clips and the labels a, a"),
        (["info", "{text}"], "text.npz"),
    ],
)
def test_mistakes_are_told_without_a_traceback(tmp_path, monkeypatch, capsys, arguments, text):
    clip = saved(tmp_path, falls=True)
    (tmp_path / "text.npz").write_text("no zip file")
    (tmp_path / "clip.glb").write_bytes(b"glTF")
    monkeypatch.chdir(tmp_path)
    filled = [a.format(clip=clip, text=str(tmp_path / "text.npz")) for a in arguments]
    assert run(filled) == 1
    error = capsys.readouterr().err
    assert text in error
    assert "Traceback" not in error


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    program = Path(sys.executable).with_name("handwright")
    command = [program, "verify", saved(tmp_path, falls=True)]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


def test_info_leaves_out_empty_settings(tmp_path, capsys):
    path = tmp_path / "ball.npz"
    clip = load_clip(saved(tmp_path, falls=True))
    made = Provenance("ball", "sampling", {"pins": [], "grip": "any", "smoothing_hz": None}, 4)
    save_clip(replace(clip, provenance=made), path)
    assert run(["info", str(path)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "method sampling, seed 4" in lines
    assert "settings grip=any" in lines
    assert "made by an unknown version" in lines
