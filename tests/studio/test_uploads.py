from __future__ import annotations

import json
import struct

import numpy as np
import pytest
import trimesh

from handwright.core.track import Track
from handwright.io.tracks_csv import save_tracks
from handwright.math.pose import Pose

from .conftest import small_clip

GOALS = """
name: my_lift
duration: 1.0
fps: 30
hands:
  right: {model: human, side: right, start: {position: [0, -0.3, 0.1]}}
bodies:
  box: {start: {position: [0, 0, 0.03]}, %s}
goals:
  - {of: box, from: 0.8, to: 1.0, position: [0, 0, 0.2]}
"""


def upload(served, name, content):
    return served.client.post("/api/uploads", params={"name": name}, content=content)


def cube(kind: str, edge: float = 0.06) -> bytes:
    exported = trimesh.creation.box((edge, edge, edge)).export(file_type=kind)
    return exported if isinstance(exported, bytes) else exported.encode()


@pytest.mark.parametrize("kind", ["obj", "stl", "ply", "off", "glb"])
def test_meshes_take_the_place_of_bodies(served, kind):
    read = upload(served, f"../../my cube.{kind}", cube(kind)).raise_for_status().json()
    assert (read["kind"], read["name"]) == ("mesh", f"my_cube.{kind}")
    assert "60 x 60 x 60 mm" in read["summary"]
    request = {
        "scene": "milk_box_turn",
        "method": "scripted",
        "certify": False,
        "bodies": [{"body": "milk_box", "upload": read["id"], "mass": 0.3, "friction": 0.9}],
    }
    if kind == "obj":
        job = served.client.post("/api/jobs", json=request).raise_for_status().json()
        job = served.job(job["id"], "done", "failed")
        assert job["state"] == "done", job["message"]
        model = served.get(f"/api/clips/{job['clips'][0]}/export", params={"format": "npz"})
        from handwright.io.clip.file import load_clip

        path = served.root.parent / "swapped.npz"
        path.write_bytes(model.content)
        body = load_clip(path).problem.bodies["milk_box"]
        assert (body.mass, body.friction) == (pytest.approx(0.3), pytest.approx(0.9))
        np.testing.assert_allclose(np.ptp(body.vertices, axis=0), 0.06, atol=1e-9)


BAD_GLTF = {"asset": {"version": "2.0"}, "buffers": [{"uri": "/etc/passwd", "byteLength": 100}]}


def glb_of(document: dict) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text))
    return head + struct.pack("<I4s", len(text), b"JSON") + text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("noise.stl", b"\x01\x02 not a mesh at all" * 30),
        ("short.stl", b"\0" * 80 + struct.pack("<I", 2_000_000_000)),
        ("open.obj", b"v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n"),
        ("wild.obj", b"v 0 0 0\nf 1 2 999999999\n"),
        (
            "nan.ply",
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\nnan\n",
        ),
        ("cut.glb", cube("glb")[:100]),
        ("outside.glb", glb_of(BAD_GLTF)),
        ("huge.obj", cube("obj", edge=50.0)),
        ("empty.off", b"OFF\n0 0 0\n"),
        ("no.npz", b"PK\x03\x04"),
        ("no.bvh", b"HIERARCHY\nROOT hips {"),
        ("no.csv", b"time,x,y\n0,1,2\n"),
        ("no.yaml", b"name: [unclosed"),
        ("tagged.yaml", b"!!python/object/apply:os.system ['true']"),
    ],
)
def test_malformed_files_are_refused_with_a_reason(served, name, content):
    answer = upload(served, name, content)
    assert answer.status_code == 422
    message = answer.json()["message"]
    assert message
    assert str(served.root) not in message
    assert "root:" not in message
    assert "unexpectedly" not in message


@pytest.mark.parametrize("name", ["run.py", "page.html", "mesh", ".obj.exe", "a.pkl"])
def test_other_kinds_of_files_are_refused(served, name):
    answer = upload(served, name, b"import os")
    assert answer.status_code == 415
    assert ".obj" in answer.json()["message"]


def test_an_empty_file_is_refused(served):
    assert upload(served, "empty.obj", b"").status_code == 422


def test_a_clip_joins_the_wall(served, tmp_path):
    from handwright.io.clip.file import save_clip

    save_clip(small_clip(0.3), tmp_path / "mine.npz")
    read = upload(served, "mine.npz", (tmp_path / "mine.npz").read_bytes()).json()
    assert read["kind"] == "clip"
    assert served.clip("mine.npz")["scene"] == "hold_a_ball"


def test_goals_become_a_scene_unless_they_name_files(served):
    good = upload(served, "my_lift.yaml", (GOALS % "shape: box").encode())
    assert good.raise_for_status().json()["scene"] == "my_lift"
    scenes = {scene["name"]: scene for scene in served.get("/api/scenes").json()}
    assert scenes["my_lift"]["is_uploaded"]
    assert scenes["my_lift"]["method"] == "trajopt"
    assert not scenes["milk_box_turn"]["is_uploaded"]
    named = "/etc/passwd"
    texts = (
        GOALS % f"mesh: {named}",
        (GOALS % "shape: box").replace("duration: 1.0\n", f"tracks: {named}\n"),
        (GOALS % "shape: box").replace(
            "model: human", f"bvh: {{file: {named}, joint: a}}, model: human"
        ),
    )
    for text in texts:
        assert named in text
        bad = upload(served, "other.yaml", text.encode())
        assert bad.status_code == 422
        assert f"names the file '{named}'" in bad.json()["message"]
    taken = upload(served, "pick_ball.yaml", (GOALS % "shape: box").encode())
    assert "already" in taken.json()["message"]


def test_tracks_and_a_shape_become_a_scene(served, tmp_path):
    times = np.linspace(0.0, 1.0, 61)
    rise = np.stack([0.0 * times, 0.0 * times, 1.0 + 0.1 * times], axis=-1)
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (61, 1))
    tracks = {
        "left_wrist": Track(times, Pose(rise - np.array([0.2, 0.0, 0.0]), wxyz)),
        "prop": Track(times, Pose(rise, wxyz)),
    }
    save_tracks(tracks, tmp_path / "take.csv")
    read = upload(served, "take.csv", (tmp_path / "take.csv").read_bytes()).json()
    assert read["tracks"] == ["left_wrist", "prop"]
    wanted = {
        "name": "my_take", "tracks": read["id"], "hand": "left_wrist", "body": "prop",
        "mesh": None, "shape": "box", "mass": 0.2, "friction": 0.8,
    }  # fmt: skip
    made = served.client.post("/api/scenes", json=wanted).raise_for_status().json()
    assert (made["hands"], made["num_frames"], made["method"]) == (["left"], 31, "sampling")
    assert made["bodies"][0]["mass"] == pytest.approx(0.2)
    again = served.client.post("/api/scenes", json=wanted)
    assert again.status_code == 409
    model = served.get("/api/scenes/my_take/model.glb").raise_for_status()
    assert model.content.startswith(b"glTF")
    assert served.get("/api/scenes/none/model.glb").status_code == 404
    for change, said in (
        ({"hand": "head"}, "Known: left_wrist, prop"),
        ({"shape": "cloud"}, "Unknown shape 'cloud'"),
        ({"mesh": "0" * 16}, "either a mesh or a shape"),
        ({"name": "../x"}, "letters, digits"),
        ({"tracks": "../../etc"}, "There is no upload"),
    ):
        answer = served.client.post("/api/scenes", json={**wanted, "name": "other", **change})
        assert answer.status_code == 422
        assert said in answer.json()["message"]
