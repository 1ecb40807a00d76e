"""The benchmark of the studio: what it lacks it says before it starts."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.studio import picture
from benchmarks.studio.picture import find_browser
from handwright.errors import InvalidValueError


def only(*names):
    return lambda name: f"/somewhere/{name}" if name in names else None


@pytest.mark.parametrize(
    ("there", "missing"), [((), "no chromium"), (("chromium",), "no chromedriver")]
)
def test_a_missing_browser_is_named(monkeypatch, there, missing):
    monkeypatch.setattr(shutil, "which", only(*there))
    with pytest.raises(InvalidValueError, match=f"{missing} on the path. Install both"):
        find_browser()


def test_a_page_that_is_not_built_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", only("google-chrome", "chromedriver"))
    monkeypatch.setattr(picture, "PAGE", tmp_path)
    with pytest.raises(InvalidValueError, match="make studio"):
        find_browser()
    (tmp_path / "index.html").touch()
    assert find_browser() == ("/somewhere/google-chrome", "/somewhere/chromedriver")
