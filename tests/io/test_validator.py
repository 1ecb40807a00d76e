"""The .glb files before the validator of those who wrote the format (npm, ``gltf-validator``)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from handwright.core.clip import Clip
from handwright.io.gltf.write import save_glb

FOLDER = "HANDWRIGHT_GLTF_VALIDATOR"
SCRIPT = """
const validator = require("gltf-validator");
const bytes = new Uint8Array(require("fs").readFileSync(process.argv[1]));
validator.validateBytes(bytes, {maxIssues: 50}).then(
  (report) => console.log(JSON.stringify(report)),
  (error) => { console.error(error); process.exit(1); });
"""


@pytest.fixture(scope="module")
def modules() -> Path:
    """Folder of node's modules, with the validator in it."""
    folder = os.environ.get(FOLDER)
    if not folder:
        pytest.skip(
            f"{FOLDER} does not name a folder with the validator; make one with "
            "npm install --prefix FOLDER gltf-validator"
        )
    if shutil.which("node") is None:
        pytest.skip("there is no program 'node' to run the glTF validator with")
    modules = Path(folder).resolve() / "node_modules"
    assert (modules / "gltf-validator").is_dir(), f"{FOLDER} is '{folder}', without gltf-validator"
    return modules


def report_on(path: Path, modules: Path) -> dict:
    done = subprocess.run(
        ["node", "-e", SCRIPT, str(path)],
        env={**os.environ, "NODE_PATH": str(modules)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def complaints(report: dict) -> list[dict]:
    """All messages, but that the joint values, which the extras point to, are drawn by nothing."""
    messages = report["issues"]["messages"]
    return [m for m in messages if (m["code"], m["severity"]) != ("UNUSED_OBJECT", 2)]


@pytest.mark.parametrize("name", ["human_clip", "tiny_clip"])
def test_there_are_no_errors_and_no_warnings(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, modules: Path
) -> None:
    clip: Clip = request.getfixturevalue(name)
    save_glb(clip, tmp_path / "a.glb")
    report = report_on(tmp_path / "a.glb", modules)
    assert complaints(report) == []
    assert report["issues"]["numErrors"] == report["issues"]["numWarnings"] == 0
    assert report["info"]["animationCount"] == 1
    assert report["info"]["hasSkins"] == (name == "human_clip")


def test_a_film_rate_and_missing_overlays_pass_too(
    human_clip: Clip, tmp_path: Path, modules: Path
) -> None:
    save_glb(human_clip, tmp_path / "a.glb", fps=24.0, contacts=False, forces=False)
    report = report_on(tmp_path / "a.glb", modules)
    assert complaints(report) == []
    assert report["issues"]["numErrors"] == report["issues"]["numWarnings"] == 0


def test_the_validator_notices_a_fault(tiny_clip: Clip, tmp_path: Path, modules: Path) -> None:
    path = tmp_path / "a.glb"
    save_glb(tiny_clip, path)
    data = path.read_bytes()
    assert b'"version":"2.0"' in data
    path.write_bytes(data.replace(b'"version":"2.0"', b'"version":"two"', 1))
    assert report_on(path, modules)["issues"]["numErrors"] > 0
