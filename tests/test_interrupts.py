"""Ctrl-C and SIGTERM at several moments: exit code 130, one line, and no process left behind."""

from __future__ import annotations

import _imp
import errno
import importlib.machinery
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from handwright.cli.interrupts import Interrupts
from handwright.cli.main import main
from handwright.io import atomic

CODE = "import sys; from handwright.cli.main import main; sys.exit(main())"
LINE = "handwright: interrupted; nothing was left half written."
PATIENCE = 300.0


def started(*arguments: str, code: str = CODE) -> subprocess.Popen[str]:
    """A command that leads a group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def group(leader: int) -> set[int]:
    """Living processes of a group, from the system's table."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z" and int(fields[2]) == leader:
                found.add(int(entry.name))
    return found


def wait_for(ready):
    end = time.monotonic() + PATIENCE
    while not (found := ready()):
        assert time.monotonic() < end, "nothing happened for a long time"
        time.sleep(0.02)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_at_any_moment_ends_with_one_line(tmp_path, number):
    # While it starts, while it loads, and while it works; to it alone and to its whole group.
    arguments = ["demo", "--out", str(tmp_path), "--num-solutions", "500"]
    for moment, stop in ((0.3, os.kill), (0.9, os.killpg), (2.5, os.kill)):
        process = started(*arguments, code=f"print(flush=True); {CODE}")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moment)
        stop(process.pid, number)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, told
        lines = [line for line in told.splitlines() if not line.startswith("preparing")]
        assert lines == [LINE]
        wait_for(lambda leader=process.pid: not group(leader))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the table of processes")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(number):
    code = (
        "from handwright.methods.workers import started_workers\n"
        "import time\n"
        "if __name__ == '__main__':\n"
        "    with started_workers(2, time.sleep, (0,)) as pool:\n"
        "        jobs = [pool.submit(time.sleep, 3600) for _ in range(2)]\n"
        "        print('ready', flush=True)\n"
        "        jobs[0].result()\n"
    )
    process = started(code=code)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    wait_for(lambda: len(group(process.pid)) >= 3)
    process.send_signal(number)
    process.communicate(timeout=PATIENCE)
    wait_for(lambda: not group(process.pid))


def test_an_interrupt_within_a_destructor_comes_again():
    class Late:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def work() -> None:
        late = Late()
        del late
        time.sleep(30.0)

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        work()
    assert interrupts.came


def test_an_interrupt_waits_until_a_compiled_module_is_loaded(monkeypatch):
    loader = importlib.machinery.ExtensionFileLoader("_json", "_json.so")
    loaded = []

    def create(_spec: object) -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.2)
        loaded.append(True)

    def work() -> None:
        loader.create_module(importlib.machinery.ModuleSpec("_json", loader))
        time.sleep(30.0)

    monkeypatch.setattr(_imp, "create_dynamic", create)
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        work()
    assert loaded


def test_whatever_an_interrupt_becomes_is_an_interrupt(monkeypatch, capsys):
    from handwright.cli.commands import COMMANDS

    def broken() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise ImportError("half loaded") from error

    monkeypatch.setitem(COMMANDS, "hands", broken)
    assert main(["hands"]) == 130
    assert capsys.readouterr().err == LINE + "\n"


def test_a_disk_that_is_full_names_the_file(tmp_path, monkeypatch):
    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(atomic.os, "fsync", full)
    with (
        pytest.raises(OSError, match=r"No space left on device: .*whole\.txt"),
        atomic.written_whole(tmp_path / "whole.txt") as file,
    ):
        file.write(b"much")
    assert list(tmp_path.iterdir()) == []


def test_synth_on_a_full_disk_says_what_it_has_written(tmp_path, monkeypatch):
    from handwright.cli import clip_writer
    from handwright.core.result import Progress
    from handwright.errors import InvalidValueError
    from handwright.io.clip.file import load_clip, save_clip
    from tests.studio.conftest import small_clip

    def save(clip, path, **options):
        if path.name.endswith("_02.npz"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        save_clip(clip, path, **options)

    monkeypatch.setattr(clip_writer, "save_clip", save)
    writer = clip_writer.ClipWriter(tmp_path, "ball", 0, lambda _progress: None, Interrupts())
    clips = small_clip(), small_clip(0.2), small_clip(0.3)
    with pytest.raises(InvalidValueError, match="were written before: 2") as caught:
        writer(Progress("search", clips=clips))
    assert "ball_s0_02.npz: cannot be written (No space left on device)" in str(caught.value)
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["ball_s0_00.npz", "ball_s0_01.npz"]
    assert all(load_clip(path).num_frames == 8 for path in files)
