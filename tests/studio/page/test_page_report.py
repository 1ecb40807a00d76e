"""A report, opened from disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from handwright.io.clip.file import save_clip
from handwright.methods import Scripted
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

pytestmark = pytest.mark.slow


def test_a_report_needs_no_server(report_of, tmp_path: Path):
    folder = tmp_path / "clips"
    folder.mkdir()
    # Two runs that number their motions alike.
    for stem, pose in (("milk_box_turn", "open"), ("milk_box_turn_81fba3be", "closed")):
        clip = synthesize(load_scene("milk_box_turn"), Scripted(end_pose=pose), certify=False).best
        save_clip(clip, folder / f"{stem}_00.npz")
    page = report_of(folder, tmp_path / "report.html")
    page.driver.get("about:blank")
    page.asked_for(), page.complaints()
    page.open("wall")
    page.ready("report")
    assert len(page.all("cell", '[data-state="ready"]')) == 2
    assert {run.text for run in page.all("run-number")} == {"run 1", "run 2"}
    assert not page.all("tab-make")
    page.click("report-table")
    assert len(page.find("report-figures").find_elements("css selector", "tbody tr")) == 2
    page.click("report-wall")
    page.click("open-stage")
    page.ready("stage")
    assert page.wait("checks", lambda: page.all("checks"))
    assert page.complaints() == []
    assert [u for u in page.asked_for() if not u.startswith(("file:", "data:", "about:"))] == []
