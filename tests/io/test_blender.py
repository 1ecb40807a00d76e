"""The .glb files in Blender: armature, skin, action, and every vertex where it should be."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from handwright.core.clip import Clip
from handwright.hands.skin.build import skin_of
from handwright.io.gltf.write import save_glb
from handwright.kinematics import posed_skin

PYTHON = "HANDWRIGHT_BLENDER_PYTHON"
FPS = 30
FRAMES = (0, 7, 15, 22, 30)

pytestmark = pytest.mark.blender


@pytest.fixture(scope="module")
def imported(
    human_clip: Clip, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict, dict[str, np.ndarray]]:
    """What Blender says of the file, and its vertices (m) by number of the frame and object."""
    program = os.environ.get(PYTHON)
    if not program:
        pytest.skip(f"{PYTHON} does not name a Python with Blender's module bpy")
    folder = tmp_path_factory.mktemp("blender")
    save_glb(human_clip, folder / "a.glb")
    times = [str(human_clip.times[frame] - human_clip.times[0]) for frame in FRAMES]
    script = Path(__file__).with_name("blender_import.py")
    done = subprocess.run(
        [program, str(script), str(folder / "a.glb"), str(folder / "a.npz"), str(FPS), *times],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    with np.load(folder / "a.npz") as archive:
        return report, dict(archive)


def apart(one: np.ndarray, two: np.ndarray) -> float:
    """Largest distance, m, from a point of either set to the nearest of the other."""
    return max(float(cKDTree(a).query(b)[0].max()) for a, b in ((one, two), (two, one)))


def test_there_is_one_armature_with_a_bone_for_each_link(imported, human_clip):
    report, _ = imported
    joints = human_clip.problem.hands["right"].joints.names
    assert report["armatures"] == {"right": ["right:root", *(f"right:{name}" for name in joints)]}


def test_the_skin_is_bound_to_the_bones(imported, human_clip):
    report, _ = imported
    skin = report["skinned"]["right skin"]
    assert list(report["skinned"]) == ["right skin"]
    assert skin["groups"] == human_clip.problem.hands["right"].num_links
    assert skin["materials"] == ["skin", "nails"]


def test_the_action_lasts_as_long_as_the_clip(imported, human_clip):
    report, _ = imported
    duration = float(human_clip.times[-1] - human_clip.times[0])
    assert report["actions"] == {human_clip.problem.name: pytest.approx([0.0, FPS * duration])}


def test_the_skin_is_where_ours_is(imported, human_clip):
    _, vertices = imported
    model, motion = human_clip.problem.hands["right"], human_clip.hands["right"]
    for number, frame in enumerate(FRAMES):
        ours = posed_skin(model, skin_of(model), motion.q[frame], motion.root[frame])
        assert apart(vertices[f"{number}/right skin"], ours) < 1e-5
    assert apart(vertices["0/right skin"], vertices["2/right skin"]) > 1e-2


def test_the_body_is_where_ours_is(imported, human_clip):
    _, vertices = imported
    body = human_clip.problem.bodies["ball"]
    for number, frame in enumerate(FRAMES):
        ours = human_clip.bodies["ball"][frame].apply(body.vertices)
        assert apart(vertices[f"{number}/ball"], ours) < 1e-5
