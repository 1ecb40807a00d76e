"""Motions that the certificate refuses, on the command line: never among the others."""

from __future__ import annotations

import json

import pytest

from handwright.cli.main import main as run
from handwright.io.clip.file import load_certificate, load_clip

# A hand that does not mind the box: forces cannot hold it.
ASKED = ["synth", "milk_box_turn", "--method", "scripted", "--end-pose", "closed"]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder of what a refused run has left when it was asked to keep it."""
    folder = tmp_path_factory.mktemp("kept")
    assert run([*ASKED, "--out", str(folder), "--keep-refused"]) == 1
    return folder


def test_without_being_asked_nothing_is_written_and_it_is_said_how(tmp_path, capsys):
    assert run([*ASKED, "--out", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "REFUSED: motions were found" in told.err
    assert f"With --keep-refused such motions are, into {tmp_path / 'refused'}." in told.out
    assert list(tmp_path.iterdir()) == []


def test_a_refused_motion_has_a_folder_of_its_own_and_its_verdict(kept):
    assert [path.name for path in kept.iterdir()] == ["refused"]
    (file,) = (kept / "refused").iterdir()
    assert file.name == "milk_box_turn_s0_00.npz"
    certificate = load_certificate(file)
    assert not certificate.passed
    clip = load_clip(file)
    assert not clip.provenance.is_certified
    assert clip.provenance.method == "scripted"


def test_what_was_refused_is_told_with_file_and_verdict(tmp_path, capsys):
    options = ["--out", str(tmp_path), "--keep-refused"]
    assert run([*ASKED, *options]) == 1
    printed = capsys.readouterr().out
    file = tmp_path / "refused" / "milk_box_turn_s0_00.npz"
    verdict = load_certificate(file).verdict
    assert verdict.startswith("not certified")
    assert "refused motion" in printed
    assert verdict in printed
    with pytest.raises(SystemExit) as stop:
        run([*ASKED, *options, "--json"])
    assert stop.value.code == 1
    told = json.loads(capsys.readouterr().out)
    assert told["clips"] == []
    # The file of the first run is left alone.
    other = str(tmp_path / "refused" / "milk_box_turn_s0_01.npz")
    assert told["refused_clips"] == [{"file": other, "certified": False, "verdict": verdict}]


def test_a_refused_motion_is_made_again(kept, capsys):
    (file,) = (kept / "refused").iterdir()
    assert run(["reproduce", str(file)]) == 0
    assert "Same bytes: refused motion 1 of 1 is that of the clip." in capsys.readouterr().out
