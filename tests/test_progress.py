"""Progress on the terminal and in logs."""

from __future__ import annotations

import io

from rich.console import Console

from handwright.cli import progress as module
from handwright.cli.progress import ProgressLine, progress_text
from handwright.core.result import Progress

NUMBERS = {"solutions": 3.0, "dead_ends": 12.0, "total_frames": 500.0}


def test_the_text_tells_counts_speed_and_time_left():
    text = progress_text(Progress("searching", NUMBERS, seconds=4.0, budget=60.0), wanted=10)
    assert text == (
        "searching, 3 of 10 found, 12 dead ends, 500 frames explored, 125 frames/s, 56 s left"
    )


def test_what_is_not_known_is_left_out():
    assert progress_text(Progress("preparing")) == "preparing"
    many = Progress("searching", {"solutions": 3.0})
    assert progress_text(many, wanted=1) == "searching, 1 of 1 found"
    assert progress_text(many) == "searching, 3 found"
    assert progress_text(Progress("searching", NUMBERS)) == (
        "searching, 3 found, 12 dead ends, 500 frames explored"
    )


def test_time_left_is_never_negative():
    assert progress_text(Progress("searching", {}, 70.0, 60.0)) == "searching, 0 s left"


def test_a_log_gets_a_line_for_each_stage_and_then_one_every_few_seconds(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    file = io.StringIO()
    with ProgressLine(wanted=99, console=Console(file=file)) as line:
        line(Progress("preparing"))
        for step in range(61):
            now[0] = 100.0 + 0.1 * step
            line(Progress("searching", {"solutions": float(step)}))
    assert file.getvalue().splitlines() == [
        "preparing",
        "searching, 0 of 99 found",
        "searching, 50 of 99 found",
    ]


def test_a_terminal_gets_one_live_line():
    file = io.StringIO()
    with ProgressLine(console=Console(file=file, force_terminal=True, width=80)) as line:
        line(Progress("preparing"))
        line(Progress("searching", NUMBERS))
        shown = line._spinner.status
    assert shown == "searching, 3 found, 12 dead ends, 500 frames explored"
    # Nothing of it stays when it is over: the last thing is to erase the line.
    assert file.getvalue().rstrip().endswith("\x1b[2K")
