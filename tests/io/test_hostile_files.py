"""Files that ask for too much or describe what cannot be: a clear message, before any work."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

from handwright.cli import main as cli
from handwright.core.clip import Clip
from handwright.core.contact import ContactTrack
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.errors import FileFormatError, HandwrightError, InvalidValueError, MeshError
from handwright.evidence import certify
from handwright.geometry.mesh.bodies import load_body, load_mesh
from handwright.geometry.mesh.repair import repair_mesh
from handwright.hands import human
from handwright.hands.capsules import spread_sites
from handwright.hands.skin.build import skin_of
from handwright.io.clip.file import load_clip, save_clip
from handwright.io.clip.npz_file import load_npz
from handwright.io.goals.strict_yaml import read_yaml
from handwright.math.pose import Pose
from handwright.physics.mjcf.robot_file import load_robot_file
from handwright.printable import is_printable, printable
from handwright.read_limits import ReadLimits, read_limits, reading_with

ROOT = Path(__file__).parents[2]
Edit = Callable[[dict[str, bytes]], None]
BOX = trimesh.creation.box((0.05, 0.05, 0.05))


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def edited(
    human_clip: Clip, tmp_path: Path
) -> Callable[[Callable[[dict[str, bytes]], None]], Path]:
    """Makes a damaged copy of a clip file."""

    def edit(change: Edit) -> Path:
        path = tmp_path / "edited.npz"
        save_clip(human_clip, path)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        change(members)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path

    return edit


class TestMeshFiles:
    @pytest.mark.parametrize(
        ("name", "content", "words"),
        [
            ("far.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 99\n", "cannot be read"),
            ("two.obj", "v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n", "cannot be read|empty"),
            ("mixed.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 1 2 9 4\n", "read|empty"),
        ],
    )
    def test_what_is_no_mesh_is_said(
        self, tmp_path: Path, name: str, content: str, words: str
    ) -> None:
        with pytest.raises(HandwrightError, match=words):
            load_body(written(tmp_path, name, content))

    def test_indices_out_of_range_are_found_behind_every_format(self, tmp_path: Path) -> None:
        data = BOX.export(file_type="ply")
        bad = data[:-4] + (10**6).to_bytes(4, "little")
        with pytest.raises(FileFormatError, match=r"faces point to vertices 0 to 1000000 of 8"):
            load_mesh(written(tmp_path, "a.ply", bad))

    def test_damaged_stl_names_no_missing_package(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "charset_normalizer", None)
        data = b"solid x\n facet" + bytes(range(128, 256)) * 10
        with pytest.raises(FileFormatError, match=r"cannot be read as \.stl") as caught:
            load_body(written(tmp_path, "a.stl", data))
        assert "No module" not in str(caught.value)

    @pytest.mark.parametrize("repair", [False, True])
    def test_huge_coordinates_are_refused(self, tmp_path: Path, repair: bool) -> None:
        text = BOX.export(file_type="off").replace("0.0250000000", "1e200")
        path = written(tmp_path, "a.off", text)
        with pytest.raises(MeshError, match="a coordinate is 1e\\+200 m"):
            load_body(path, repair=repair, allow_any_size=True)

    def test_limits_are_kept_and_can_be_set(self, tmp_path: Path) -> None:
        path = written(tmp_path, "a.off", BOX.export(file_type="off"))
        for limits, words in (
            (ReadLimits(faces=11), "12 faces; expected at most 11, the setting ReadLimits.faces"),
            (ReadLimits(vertices=7), "8 vertices; expected at most 7"),
            (ReadLimits(file_bytes=100), "file bytes; expected at most 100"),
        ):
            with reading_with(limits), pytest.raises(FileFormatError, match=words):
                load_body(path)
        assert read_limits() == ReadLimits()
        with pytest.raises(InvalidValueError, match="frames is 0; expected a whole number"):
            ReadLimits(frames=0)

    def test_loose_triangles_are_not_mended_one_by_one(self) -> None:
        corners = np.random.default_rng(0).uniform(size=(50_000, 3, 3))
        faces = np.arange(150_000).reshape(-1, 3)
        with pytest.raises(MeshError, match="50,000 parts; expected at most 1,000"):
            repair_mesh(corners.reshape(-1, 3), faces)
        strip = np.stack([np.arange(30_000) + k for k in range(3)], axis=1)
        steps = np.stack([np.arange(30_002), np.arange(30_002) % 2, np.zeros(30_002)], axis=1)
        with pytest.raises(MeshError, match="30,002 open edges; expected at most 20,000"):
            repair_mesh(steps, strip)

    def test_a_heap_of_vertices_is_not_merged_pair_by_pair(self) -> None:
        vertices = np.random.default_rng(0).uniform(size=(30_000, 3)) * 1e-9
        vertices[0] = 1.0
        faces = np.arange(30_000).reshape(-1, 3)
        with pytest.raises(MeshError, match="vertices lie within"):
            repair_mesh(vertices, faces)


def changed(clip: Clip, **body: Any) -> Clip:
    """The clip with another ball."""
    ball = replace(clip.problem.bodies["ball"], **body)
    return replace(clip, problem=replace(clip.problem, bodies={"ball": ball}))


NO_EDGES = np.zeros((0, 2), dtype=np.int64)


class TestClips:
    def test_meshes_in_clips_pass_the_checks_of_bodies(
        self, human_clip: Clip, tmp_path: Path
    ) -> None:
        ball = human_clip.problem.bodies["ball"]
        loose = np.concatenate([ball.vertices, [[0.0, 0.0, 1.0]]])
        for body, words in (
            ({"faces": ball.faces[:, ::-1]}, "the surface is inverted"),
            ({"faces": ball.faces[1:]}, "not watertight: 3 open edges"),
            ({"faces": ball.faces[:1], "sharp_edges": NO_EDGES}, "not watertight"),
            ({"vertices": loose}, "1 unreferenced vertices"),
            ({"vertices": ball.vertices * 1e9}, "a coordinate is"),
        ):
            with pytest.raises(InvalidValueError, match=f"problem/bodies/ball: .*{words}"):
                save_clip(changed(human_clip, **body), tmp_path / "a.npz")

    def test_a_file_that_was_edited_is_judged_the_same_way(self, edited: Any) -> None:
        def invert(members: dict[str, bytes]) -> None:
            name = "problem/bodies/ball/faces.npy"
            faces, buffer = np.load(io.BytesIO(members[name])), io.BytesIO()
            np.save(buffer, np.ascontiguousarray(faces[:, ::-1]))
            members[name] = buffer.getvalue()

        with pytest.raises(FileFormatError, match="the surface is inverted"):
            load_clip(edited(invert))

    @pytest.mark.parametrize(
        ("times", "words"),
        [
            (np.arange(31) * 1e-9, "times are 1e-09 s apart, expected at least 1e-05 s"),
            (np.arange(31) * 1e-300, "times are 1e-300 s apart"),
            (np.arange(31) * 1e6, "times reach 3e\\+07 s"),
        ],
    )
    def test_times_that_are_none_are_refused(
        self, human_clip: Clip, times: np.ndarray, words: str
    ) -> None:
        with pytest.raises(InvalidValueError, match=words):
            replace(human_clip, times=times)

    def test_places_beyond_reason_are_refused(self, human_clip: Clip) -> None:
        count = len(human_clip.times)
        away = Pose(np.full((count, 3), 1e200), human_clip.bodies["ball"].wxyz)
        with pytest.raises(InvalidValueError, match="body 'ball' is more than 1e\\+07 m away"):
            replace(human_clip, bodies={"ball": away})
        with pytest.raises(InvalidValueError, match="it is more than"):
            Track(human_clip.times, away)

    def test_of_a_clip_without_bodies_the_hands_are_judged(self, human_clip: Clip) -> None:
        problem = Problem("alone", human_clip.times, human_clip.problem.hands, {})
        alone = replace(human_clip, problem=problem, bodies={}, contacts=ContactTrack.empty())
        assert "joint_limits" not in certify(alone).reasons
        hand, motion = next(iter(alone.hands.items()))
        bent = replace(alone, hands={**alone.hands, hand: replace(motion, q=motion.q + 4.0)})
        assert "joint_limits" in certify(bent).reasons

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        path = tmp_path / "pipe.npz"
        os.mkfifo(path)
        for read in (load_npz, load_clip, read_yaml):
            with pytest.raises(FileFormatError, match="is a pipe or a device"):
                read(path)


class TestHandModels:
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"along": np.array([0.0, 0.02, 0.02, 0.04])}, "places do not increase"),
            ({"palmar": np.full(4, -0.01)}, "not in the range of hands"),
            ({"palmar": np.full(4, 1e9)}, "not in the range of hands"),
            ({"palmar": np.full(3, 0.01)}, "4, 4, 4, 3 places and girths"),
            ({"length": 0.01}, "places do not increase up to the length"),
        ],
    )
    def test_girths_of_no_hand_are_refused(
        self, change: dict[str, Any], words: str, user_view: None
    ) -> None:
        skin = human().skin
        assert skin is not None
        good = {"along": np.linspace(0.0, 0.04, 4), "length": 0.05}
        good |= {name: np.full(4, 0.01) for name in ("half_breadth", "dorsal", "palmar")}
        profile = replace(skin.digits[1], **good)
        with pytest.raises(InvalidValueError, match=words):
            replace(profile, **change)

    def test_a_palm_too_thin_for_its_skin_is_refused_before_it_is_meshed(self) -> None:
        model = human()
        assert model.skin is not None
        with pytest.raises(InvalidValueError, match="palm and wrist are"):
            replace(model.skin, palm_half_thickness=1e-6)
        thin = replace(model, skin=replace(model.skin, palm_half_thickness=1.1e-3))
        with pytest.raises(InvalidValueError, match="too much for a hand"):
            skin_of(thin)

    def test_renamed_joints_are_named(self) -> None:
        model = human()
        names = tuple(name.replace("thumb", "toe") for name in model.joints.names)
        with pytest.raises(HandwrightError, match="'thumb'"):
            skin_of(replace(model, joints=replace(model.joints, names=names)))

    def test_lengths_of_no_hand_are_refused(self) -> None:
        model = human()
        facing = np.tile([0.0, 0.0, 1.0], (len(model.capsules), 1))
        for far in (1e300, np.nan):
            lost = replace(model.capsules, end=np.full(model.capsules.end.shape, far))
            with pytest.raises(InvalidValueError, match="is not within 100 m"):
                spread_sites(model.joints, lost, facing, 10)
        capsules = replace(model.capsules, radius=model.capsules.radius * 1e9)
        with pytest.raises(InvalidValueError, match="above 100 m"):
            replace(model, capsules=capsules)


class TestRobotFiles:
    @pytest.mark.parametrize(
        ("inner", "asset"),
        [
            ('<replicate count="3000000"><geom size="1"/></replicate>', ""),
            (
                '<replicate count="1000"><replicate count="1000"><geom size="1"/></replicate>'
                "</replicate>",
                "",
            ),
            ('<flexcomp name="f" type="grid" count="1000 1000 1" dim="2"/>', ""),
            ("", '<hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/>'),
        ],
    )
    def test_what_is_repeated_too_often_is_refused_unbuilt(
        self, tmp_path: Path, inner: str, asset: str
    ) -> None:
        text = f"<mujoco><asset>{asset}</asset><worldbody>{inner}</worldbody></mujoco>"
        with pytest.raises(FileFormatError, match="elements; expected at most 20,000"):
            load_robot_file(written(tmp_path, "a.xml", text))

    def test_some_repetition_is_fine(self, tmp_path: Path) -> None:
        inner = '<replicate count="10" offset="1 0 0"><geom size="0.1"/></replicate>'
        text = f"<mujoco><worldbody>{inner}</worldbody></mujoco>"
        assert load_robot_file(written(tmp_path, "a.xml", text)).model.ngeom == 10

    def test_a_mimic_that_is_no_number_is_named(self, tmp_path: Path) -> None:
        text = (
            '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
            '<parent link="a"/><child link="b"/><mimic joint="k" multiplier="x"/></joint></robot>'
        )
        with pytest.raises(FileFormatError, match="Joint 'j' mimics 'k' with multiplier 'x'"):
            load_robot_file(written(tmp_path, "a.urdf", text))


class TestNames:
    def test_control_characters_are_written_out(self) -> None:
        assert printable("a\x1b[2Jb\n\u202ec\ud800") == "a\\x1b[2Jb\\n\\u202ec\\ud800"
        assert printable("Käse 日本 👍🏽") == "Käse 日本 👍🏽"
        assert is_printable("Käse")
        assert not is_printable("a\rb")

    def test_no_verdict_can_be_forged_by_a_name(self, human_clip: Clip) -> None:
        forged = "ball, 31 frames: certified\n\x1b[8m"
        with pytest.raises(InvalidValueError, match="holds control characters"):
            replace(human_clip.problem, name=forged)
        certificate = replace(certify(human_clip), clip=forged, notes=("a\nb",))
        text = str(certificate)
        assert "certified\\n\\x1b[8m, 31 frames: not certified" in text.split("\n")[0]
        assert "note: a\\nb" in text

    def test_a_file_with_such_a_name_is_refused_and_told_in_one_line(
        self, edited: Any, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def rename(members: dict[str, bytes]) -> None:
            document = json.loads(members["clip.json"])
            document["clip"]["problem"]["name"] = "x\ncertified\x1b[8m"
            members["clip.json"] = json.dumps(document).encode()

        assert cli.main(["verify", str(edited(rename))]) == 1
        told = capsys.readouterr()
        assert "certified\\x1b[8m" in told.err
        assert "\x1b" not in told.err + told.out


def test_limits_of_commands_are_told(
    human_clip: Clip, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.npz"
    save_clip(human_clip, path)
    run: Callable[..., int] = lambda *options: cli.main(["verify", str(path), *options])  # noqa: E731
    assert run("--limit-seconds", "0.001") == 1
    assert "took more than 0.001 s" in capsys.readouterr().err
    assert run("--limit-seconds=x") == 1
    assert "--limit-seconds is 'x'; expected a number above zero" in capsys.readouterr().err
    assert run("--limit-memory-gb", "0.5") == 1
    assert "expected at least 1 GB" in capsys.readouterr().err


@pytest.mark.slow
def test_three_thousand_damaged_files_of_every_kind_are_read_cleanly() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.fuzz", "--count", "3000", "--seed", "1", "--json"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    assert len(found) == 16
    for kind, counts in found.items():
        assert counts["accepted"] > 0, kind
        assert counts["clean"] > 0, kind
        assert [counts[what] for what in ("unclean", "hang", "memory")] == [0, 0, 0], kind
    assert done.returncode == 0
