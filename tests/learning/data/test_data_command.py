"""The command that makes data and shows it."""

from __future__ import annotations

import shutil
from pathlib import Path

from handwright.cli.main import main as run
from handwright.learning.data import ACTIVITIES

TAUGHT = Path(__file__).parents[2] / "fixtures" / "taught"


def test_tables_are_whole_where_there_is_no_terminal(tmp_path, capsys, monkeypatch):
    # Some shells hand the width of their terminal on to what they pipe.
    monkeypatch.setenv("COLUMNS", "60")
    shutil.copytree(TAUGHT, tmp_path / "taught")
    assert run(["data", "show", str(tmp_path / "taught")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["shape", *" ".join(ACTIVITIES).split(), "frames", "motions"]
    assert "…" not in "".join(lines)
