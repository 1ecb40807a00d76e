"""Folders with files that nobody should meet: the studio lists them, says why, and goes on."""

from __future__ import annotations

import errno
import json
import os
import zipfile

import numpy as np
import pytest

from handwright.io.clip.file import save_clip
from handwright.studio.library.folder import Folder
from handwright.studio.library.judged import SUMMARY

from .conftest import serving, small_clip


def edited(source, target, change) -> None:
    """A copy of a clip file with other members."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


def with_times(times):
    def change(name, data):
        if name != "times.npy":
            return data
        kept = data[: len(data) - 8 * len(times)]
        return kept + np.asarray(times, "<f8").tobytes()

    return change


def with_scene(scene):
    def change(name, data):
        if name != "clip.json":
            return data
        document = json.loads(data)
        document["clip"]["provenance"]["scene"] = scene
        return json.dumps(document).encode()

    return change


BAD_TIMES = {
    "nan": [np.nan] * 8,
    "infinite": [0, 1, 2, 3, 4, 5, 6, np.inf],
    "tiny": list(np.arange(8) * 1e-300),
    "denormal": [0, 5e-324, 1e-323, 2e-323, 3e-323, 4e-323, 5e-323, 6e-323],
    "backwards": list(-np.arange(8.0)),
    "huge": [-1.7e308, -1e308, -1e307, 0, 1e307, 1e308, 1.6e308, 1.7e308],
}


def test_no_file_of_a_folder_stops_the_studio(tmp_path):
    root = tmp_path / "clips"
    root.mkdir()
    good, damaged = root / "good.npz", os.fsencode(root) + b"/odd_\xff.npz"
    save_clip(small_clip(), good)
    (root / "broken_\udcfe.npz").write_bytes(b"PK\x03\x04 not a clip")
    with open(damaged, "wb") as file:
        file.write(good.read_bytes())
    edited(good, root / "half.npz", with_scene("half \ud800"))
    edited(good, root / "long.npz", with_scene("x" * 100_000))
    os.mkfifo(root / "pipe.npz")
    for name, times in BAD_TIMES.items():
        edited(good, root / f"{name}.npz", with_times(times))
    with serving(root) as served:
        clips = {clip["file"]: clip for clip in served.get("/api/clips").json()}
        for name in BAD_TIMES:
            trouble = clips[f"{name}.npz"]["trouble"]
            assert f"{name}.npz: its frames are not at rising, finite times" in trouble
        assert "broken_?.npz" in clips["broken_?.npz"]["trouble"]
        assert "pipe.npz" not in clips
        assert clips["half.npz"]["scene"] == "half ?"
        assert len(clips["long.npz"]["scene"]) == 200
        odd = clips["odd_?.npz"]
        assert odd["trouble"] is None
        answer = served.get(f"/api/clips/{odd['id']}/export", params={"format": "npz"})
        assert answer.content[:2] == b"PK"
        assert served.client.delete(f"/api/clips/{odd['id']}").status_code == 204
        # What comes later is seen as well.
        edited(good, root / "later.npz", with_times(BAD_TIMES["nan"]))
        served.wait(lambda: "later.npz" in {c["file"] for c in served.get("/api/clips").json()})
        (root / "later.npz").unlink()
        served.wait(lambda: "later.npz" not in {c["file"] for c in served.get("/api/clips").json()})


def test_an_error_that_nobody_foresaw_is_told_beside_the_file(tmp_path, monkeypatch):
    from handwright.studio.library import clips

    save_clip(small_clip(), tmp_path / "ball.npz")

    def fail(path):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(clips, "read_headline", fail)
    with serving(tmp_path) as served:
        told = served.clip("ball.npz")["trouble"]
    assert told == "ball.npz: This failed unexpectedly (ZeroDivisionError: by nothing)."


def test_names_as_long_as_they_can_be_are_deleted(tmp_path):
    name = "n" * 250 + ".npz"
    save_clip(small_clip(), tmp_path / "short.npz")
    (tmp_path / "short.npz").rename(tmp_path / name)
    with serving(tmp_path) as served:
        clip = served.clip(name)
        assert served.client.delete(f"/api/clips/{clip['id']}").status_code == 204
        assert served.get("/api/clips").json() == []
    assert [path.name for path in tmp_path.glob(".handwright/deleted/*/*")] == [name]


def test_a_verdict_in_the_folder_itself_is_not_believed(tmp_path):
    root = tmp_path / "clips"
    root.mkdir()
    save_clip(small_clip(), root / "ball.npz")
    with serving(root, judged=tmp_path / "mine") as served:
        served.wait(lambda: served.clip("ball.npz")["is_certified"] is not None)
    (results,) = (tmp_path / "mine").iterdir()
    forged = root / ".handwright" / "judged" / results.name
    forged.mkdir(parents=True)
    for path in results.iterdir():
        (forged / path.name).write_bytes(path.read_bytes())
    document = json.loads((forged / SUMMARY).read_text())
    (forged / SUMMARY).write_text(json.dumps({**document, "is_certified": True}))
    with serving(root, judged=tmp_path / "other") as served:
        judged = served.wait(lambda: served.clip("ball.npz")["verdict"])
        assert judged.startswith("not certified")
        assert served.clip("ball.npz")["is_certified"] is False


def test_a_read_only_folder_is_told(tmp_path, monkeypatch, caplog):
    save_clip(small_clip(), tmp_path / "ball.npz")
    with serving(tmp_path) as served:

        def refuse(_folder, name):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(tmp_path / name))

        monkeypatch.setattr(Folder, "part", refuse)
        ball = served.clip("ball.npz")["id"]
        answers = [
            served.client.post("/api/uploads", params={"name": "a.obj"}, content=b"v 0 0 0"),
            served.client.delete(f"/api/clips/{ball}"),
        ]
    for answer in answers:
        assert answer.status_code == 403
        assert "Read-only file system" in answer.json()["message"]
        assert str(tmp_path) not in answer.json()["message"]
    assert "Traceback" not in caplog.text


def test_helpers_say_what_the_disk_says(tmp_path):
    from handwright.studio.jobs.helper_processes import Work, _call

    (tmp_path / "results").write_text("in the way")
    save_clip(small_clip(), tmp_path / "ball.npz")
    failure = _call(Work.MAKE_MODEL, (tmp_path / "ball.npz", tmp_path / "results"))
    assert failure.status == 409
    assert failure.message.startswith("'results' cannot be read or written (File exists)")


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("sampling", {"num_workers": 100_000}),
        ("sampling", {"num_workers": 255}),
        ("sampling", {"num_solutions": 10**9}),
        ("sampling", {"time_budget": 1e300}),
        ("trajopt", {"samples_per_phase": 10**8}),
    ],
)
def test_absurd_settings_are_refused(served, method, settings):
    scene = "milk_box_turn" if method == "sampling" else "pick_ball"
    request = {"scene": scene, "method": method, "settings": settings}
    answer = served.client.post("/api/jobs", json=request)
    assert answer.status_code == 422
    assert next(iter(settings)) in answer.json()["message"]


def test_what_killed_servers_left_behind_is_dropped_once_it_is_old(tmp_path):
    folder = Folder(tmp_path / "clips", tmp_path / "judged")
    old = [
        folder.root / ".ball.npz.x1.part.npz",
        folder.part("uploads") / ".0123.part",
        folder.part("exports") / "ball.glb",
        folder.judged / "old" / SUMMARY,
    ]
    young = [folder.root / ".ball.npz.x2.part.npz", folder.part("live") / "new.glb"]
    kept = [folder.root / "ball.npz", folder.judged / "new" / SUMMARY]
    for path in [*old, *young, *kept]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("something")
    for path in [*old, *kept, folder.judged / "old"]:
        os.utime(path, (0, 0))
    folder.drop_leftovers()
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in [*young, *kept])
