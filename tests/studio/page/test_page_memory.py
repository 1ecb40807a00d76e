"""Twelve long clips in step, and what that takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from handwright.io.clip.file import save_clip
from handwright.methods import Scripted
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

pytestmark = [pytest.mark.slow, pytest.mark.scene, pytest.mark.xdist_group("page")]
MOST_MEGABYTES = 500


def test_twelve_clips_fit_into_memory(studio_on, tmp_path: Path):
    poses = ("open", "closed", "neutral", "pinch")
    for number in range(12):
        settings = Scripted(pose=poses[number % 4], end_pose=poses[(number // 4 + 1) % 4])
        clip = synthesize(load_scene("spatula"), settings, certify=False).best
        save_clip(clip, tmp_path / f"spatula_{number:02}.npz")
    page = studio_on(tmp_path)
    page.open("wall")
    page.click("views-12")
    page.wait("twelve views", lambda: len(page.all("cell", '[data-state="ready"]')) == 12)
    marks = page.js("return performance.getEntriesByType('mark').map((mark) => mark.name)")
    assert "handwright: first picture" in marks
    page.click("play")
    page.wait("time passes", lambda: page.find("time").get_attribute("data-frame") != "0")
    page.click("play")
    page.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    used = page.js("return performance.memory.usedJSHeapSize") / 1e6
    assert used < MOST_MEGABYTES
