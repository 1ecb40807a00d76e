"""The hour of ``tools.soak`` in some seconds: all that it does, once or so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.soak.__main__ import main
from tools.soak.disk import SmallDisk
from tools.soak.ledger import Ledger


@pytest.mark.slow
@pytest.mark.scene
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the table of processes")
def test_a_studio_that_is_treated_badly_loses_nothing(tmp_path, capsys):
    main(["--minutes", "0.15", "--clients", "6", "--folder", str(tmp_path), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["lost"] == told["broken"] == told["unexpected"] == []
    assert told["tracebacks"] == 0, (tmp_path / "server.log").read_text()
    assert told["process_kills"] + told["fills"] >= 3
    assert told["requests"] >= 10
    assert told["memory_first_mb"] > 100.0


def test_what_the_server_said_and_is_not_so_is_noticed(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.saved("gone.npz")
    ledger.saved("bad.npz")
    (tmp_path / "bad.npz").write_bytes(b"no clip")
    ledger.check_all()
    assert ledger.lost == ["gone.npz"]
    assert [text.partition(":")[0] for text in ledger.broken] == ["bad.npz"]


def test_a_small_disk_is_full_until_it_is_freed(tmp_path):
    disk = SmallDisk(tmp_path / "disk", 2)
    if not disk.is_mounted:
        return  # A limit on files stands for it; the run above uses that.
    try:
        disk.fill([])
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "more").write_bytes(b"x" * 100)
        disk.free([])
        (disk.folder / "more").write_bytes(b"x" * 100)
    finally:
        disk.close()
