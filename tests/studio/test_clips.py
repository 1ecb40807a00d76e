from __future__ import annotations

import json

import numpy as np
import pygltflib
import pytest

from handwright.errors import InvalidValueError
from handwright.io.clip.file import load_clip
from handwright.io.skeleton_names import link_names
from handwright.studio.messages import ClipSummary, Comparison, Timeline


def test_about_names_the_folder_and_nothing_above_it(served):
    told = served.get("/api/about").json()
    assert told["folder"] == "clips"
    assert str(served.root.parent) not in json.dumps(told)


def test_clips_of_the_folder_and_those_in_it_are_listed(served):
    clips = [ClipSummary(**clip) for clip in served.get("/api/clips").json()]
    files = {clip.file for clip in clips}
    assert {"ball_0.npz", "ball_1.npz", "more/ball_2.npz", "broken.npz"} <= files
    assert len({clip.id for clip in clips}) == len(clips)
    ball = next(clip for clip in clips if clip.file == "ball_0.npz")
    assert (ball.scene, ball.method, ball.num_frames) == ("hold_a_ball", "scripted", 8)
    assert ball.duration == pytest.approx(0.5)
    assert served.get(f"/api/clips/{ball.id}").json()["file"] == "ball_0.npz"


def test_a_broken_file_is_listed_with_its_trouble(served):
    clip = served.clip("broken.npz")
    assert "broken.npz" in clip["trouble"]
    assert str(served.root) not in clip["trouble"]
    answer = served.get(f"/api/clips/{clip['id']}/model.glb")
    assert answer.status_code == 422
    assert answer.json()["message"] == clip["trouble"]


def test_every_clip_is_judged_in_the_background_and_numbered_by_how_it_moves(served):
    def judged():
        clips = [served.clip(f"ball_{n}.npz") for n in (0, 1)]
        return clips if all(clip["cluster"] is not None for clip in clips) else None

    first, second = served.wait(judged)
    assert first["is_certified"] is False
    assert first["verdict"].startswith("not certified")
    # Their fingers do the same.
    assert first["cluster"] == second["cluster"] == 0
    assert first["strategies"] == {"hold": 0, "slide": 0, "relocate": 0}
    assert "physical_realism" in {figure["name"] for figure in first["figures"]}


def test_the_timeline_says_what_fails_when(served):
    clip = served.clip("ball_0.npz")
    answer = served.get(f"/api/clips/{clip['id']}/timeline")
    timeline = Timeline(**answer.raise_for_status().json())
    assert timeline.id == clip["id"]
    assert len(timeline.times) == len(timeline.failed) == clip["num_frames"]
    assert all(len(curve.values) == clip["num_frames"] for curve in timeline.curves)
    # Nothing holds the ball against gravity.
    assert any("Unexplained force: 100 % of weight" in text for text in timeline.failed[4])
    check = next(check for check in timeline.checks if check.name == "force_residual")
    assert (check.is_passed, check.allowed, check.unit) == (False, 1.0, "% of weight")


def test_the_model_is_played_without_contacts_and_kept(served):
    clip = served.clip("ball_0.npz")
    answer = served.get(f"/api/clips/{clip['id']}/model.glb").raise_for_status()
    assert answer.headers["content-type"] == "model/gltf-binary"
    names = {node.name for node in pygltflib.GLTF2().load_from_bytes(answer.content).nodes}
    assert {"hand:root", "ball"} <= names
    assert not {"contacts", "forces"} & names
    tag = {"If-None-Match": answer.headers["etag"]}
    assert served.get(f"/api/clips/{clip['id']}/model.glb", headers=tag).status_code == 304


def test_two_clips_are_compared_over_time(served):
    ids = [served.clip(f"ball_{n}.npz")["id"] for n in (0, 1)]
    answer = served.get("/api/compare", params={"first": ids[0], "second": ids[1]})
    comparison = Comparison(**answer.raise_for_status().json())
    by_name = {curve.name: curve for curve in comparison.curves}
    np.testing.assert_allclose(
        by_name["place.ball"].values, 100.0 * np.array(comparison.times), atol=1e-3
    )
    assert max(by_name[name].values[3] for name in by_name if name.startswith("tip.")) == 0.0


def test_clips_of_other_lengths_are_not_compared(served):
    ids = [served.clip(name)["id"] for name in ("ball_0.npz", "more/ball_2.npz")]
    answer = served.get("/api/compare", params={"first": ids[0], "second": ids[1]})
    assert answer.status_code == 409
    assert "8 and 9 frames" in answer.json()["message"]


@pytest.mark.parametrize(
    ("format", "start"), [("glb", b"glTF"), ("bvh", b"HIERARCHY"), ("npz", b"PK"), ("csv", b"name")]
)
def test_clips_are_downloaded_in_other_formats(served, format, start):
    clip = served.clip("ball_0.npz")
    answer = served.get(f"/api/clips/{clip['id']}/export", params={"format": format})
    assert answer.raise_for_status().content.startswith(start)
    assert f'filename="ball_0.{format}"' in answer.headers["content-disposition"]
    left = served.root / ".handwright" / "exports"
    served.wait(lambda: not list(left.glob("*")))


def test_the_frame_rate_of_a_download_is_chosen(served, tmp_path):
    clip = served.clip("ball_0.npz")
    address = f"/api/clips/{clip['id']}/export"
    answer = served.get(address, params={"format": "npz", "fps": 30})
    (tmp_path / "ball.npz").write_bytes(answer.raise_for_status().content)
    assert load_clip(tmp_path / "ball.npz").num_frames == 16


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format": "npz", "skeleton": "unity"}, "do not take skeleton=unity; they take fps"),
        ({"format": "glb", "skeleton": "unity"}, "neither a right nor a left one"),
        ({"format": "glb", "skeleton": "maya"}, "'openxr', 'unity' or 'unreal'"),
        ({"format": "fbx"}, "format"),
        ({"format": "glb", "fps": "-3"}, "'fps' is '-3'; expected a number above 0."),
        ({"format": "png", "fps": "3"}, "they take contacts, forces"),
    ],
)
def test_options_that_a_format_does_not_take_are_refused(served, options, said):
    clip = served.clip("ball_0.npz")
    answer = served.get(f"/api/clips/{clip['id']}/export", params=options)
    assert answer.status_code == 422
    assert said in answer.json()["message"]


def test_favourites_stay_with_the_folder(served):
    clip = served.clip("ball_1.npz")
    address = f"/api/clips/{clip['id']}/favourite"
    told = served.client.put(address, json={"is_favourite": True}).raise_for_status().json()
    assert told["is_favourite"]
    kept = json.loads((served.root / ".handwright" / "favourites.json").read_text())
    assert kept == ["ball_1.npz"]
    assert not served.client.put(address, json={"is_favourite": False}).json()["is_favourite"]


@pytest.mark.parametrize("file", ["spare.npz", "another.npz"])
def test_a_deleted_clip_is_gone_and_can_be_fetched_back(served, file):
    # The folder is that of all tests: others may have deleted clips before.
    before = set(served.root.glob(".handwright/deleted/*/*"))
    (served.root / file).write_bytes((served.root / "ball_0.npz").read_bytes())
    clip = served.wait(
        lambda: next((c for c in served.get("/api/clips").json() if c["file"] == file), None)
    )
    assert served.client.delete(f"/api/clips/{clip['id']}").status_code == 204
    assert served.get(f"/api/clips/{clip['id']}").status_code == 404
    kept = set(served.root.glob(".handwright/deleted/*/*")) - before
    assert [path.read_bytes() for path in kept] == [(served.root / "ball_0.npz").read_bytes()]


def test_other_names_of_joints_know_the_side(served):
    from handwright.hands import human

    right, left = human("right"), human("left")
    names = link_names("right", right, "unity", is_only=False)
    assert "RightIndexProximal" in names.values()
    assert "RightHand" in names.values()
    assert link_names("left", left, "unreal", is_only=True)[left.wrist_link] == "hand_l"
    alone = set(link_names("left", left, "openxr", is_only=True).values())
    assert "XR_HAND_JOINT_INDEX_PROXIMAL_EXT" in alone
    both = set(link_names("left", left, "openxr", is_only=False).values())
    assert both == {f"left_{name}" for name in alone}
    with pytest.raises(InvalidValueError, match="Leave skeleton out"):
        link_names("hand", load_clip(served.root / "ball_0.npz").problem.hands["hand"], "unity",
                   is_only=True)  # fmt: skip


def test_damaged_results_are_made_anew(tmp_path):
    from handwright.studio.library.judged import SUMMARY, read_judged

    assert read_judged(tmp_path) is None
    (tmp_path / SUMMARY).write_text('{"is_certified": tr')
    assert read_judged(tmp_path) is None
    assert not (tmp_path / SUMMARY).exists()
