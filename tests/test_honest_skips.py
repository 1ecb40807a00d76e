"""The rule that nothing is skipped unnoticed where everything is required."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_plain():
    pass

def test_optional():
    pytest.importorskip("a_package_that_nobody_has")

@pytest.mark.skip(reason="by hand")
def test_marked():
    pass

@pytest.mark.data
def test_recordings():
    pass

@pytest.mark.xfail(reason="known")
def test_known():
    raise AssertionError
"""
MODULE = 'import pytest\npytest.importorskip("a_package_that_nobody_has")\n'


@pytest.mark.parametrize(
    ("required", "outcome"),
    [
        ("", "1 passed, 4 skipped, 1 xfailed"),
        ("1", "1 failed, 1 passed, 1 skipped, 1 xfailed, 2 errors"),
    ],
)
def test_missing_parts_skip_or_fail(tmp_path: Path, required: str, outcome: str) -> None:
    folder = tmp_path / "project" / "tests"
    folder.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "test_some.py").write_text(TESTS)
    (folder / "test_module.py").write_text(MODULE)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = data: recordings\n")
    environment = {**os.environ, "HANDWRIGHT_REQUIRE_ALL": required}
    environment["HANDWRIGHT_MANIPNET_DATA"] = str(tmp_path / "nowhere")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-ra"]
    done = subprocess.run(
        [*command, str(folder), "--continue-on-collection-errors"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in done.stdout.splitlines()[-1], done.stdout
    assert "set HANDWRIGHT_MANIPNET_DATA to their folder" in done.stdout
    assert done.returncode == (1 if required else 0)
    if required:
        assert "this was skipped" in done.stdout
        assert "a_package_that_nobody_has" in done.stdout
