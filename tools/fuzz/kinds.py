"""What is damaged and how it is read: kinds of files, good ones of each, and their readers."""

from __future__ import annotations

import io
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import trimesh

from handwright.core.clip import Clip
from handwright.core.problem import Problem
from handwright.core.surface import HalfSpace
from handwright.core.track import Track
from handwright.evidence import certify
from handwright.geometry.mesh.bodies import load_body
from handwright.geometry.shapes import make_shape
from handwright.hands import human, trident
from handwright.io import formats
from handwright.io.clip.npz_file import load_npz
from handwright.io.goals.file import read_problem
from handwright.io.manipnet.dataset import read_recording
from handwright.math.pose import Pose
from handwright.methods.scripted import Scripted
from handwright.physics.mjcf.hand_mapping import DigitMapping, HandMapping
from handwright.physics.mjcf.importing import from_mjcf
from handwright.synthesis import synthesize
from tools.fuzz import robots
from tools.fuzz.mutations import BLIND, Mutation, change_glb, change_npz, change_text, pick

# As few frames as the judge takes for a motion.
_FRAMES = 8
_EXPORTS = (".glb", ".bvh", ".csv", ".usda")
_GRIPPER = HandMapping(
    root="palm", digits={"jaw": "jaw_link", "finger": DigitMapping("tip_link")}, num_sites=40
)
_ODD = HandMapping(root="base", digits={"first": "c", "second": "d"}, num_sites=30)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file."""

    suffix: str
    good: tuple[bytes, ...]
    knowing: Mutation | None
    """Damages it without breaking the container; None for kinds that are damaged blindly."""
    read: Callable[[Path, int], object]
    """Takes the path and the number of the file."""
    share: float = 1.0
    """How many there are of it, against the others."""

    def damaged(self, rng: np.random.Generator) -> bytes:
        """A good file with one or more things wrong."""
        data: bytes = pick(rng, self.good)
        if self.knowing is not None and rng.random() < 0.7:
            return self.knowing(rng, data)
        mutation: Mutation = pick(rng, BLIND)
        return mutation(rng, data)


def make_kinds() -> dict[str, Kind]:
    """All kinds, with good files made by code."""
    clips = tuple(_packed(clip) for clip in (_small_clip(), _human_clip()))
    small, box = _small_clip(), make_shape("box")
    meshes = {suffix: _meshes(suffix) for suffix in ("obj", "ply", "stl", "off", "glb")}
    return {
        "csv": Kind(".csv", (_written(small, ".csv"),), change_text, _load),
        "yaml": Kind(
            ".yaml", _problem_files(), change_text, lambda path, _: read_problem(path), 0.4
        ),
        "bvh": Kind(".bvh", (_written(_human_clip(), ".bvh"),), change_text, _load),
        "glb_tracks": Kind(".glb", (_written(small, ".glb"),), change_glb, _load),
        "glb_mesh": Kind(".glb", meshes["glb"], change_glb, _body),
        "obj": Kind(".obj", meshes["obj"], change_text, _body),
        "ply": Kind(".ply", meshes["ply"], change_text, _body),
        "stl": Kind(".stl", meshes["stl"], change_text, _body),
        "off": Kind(".off", meshes["off"], change_text, _body),
        "urdf": Kind(
            ".urdf", (robots.URDF,), change_text, lambda path, _: from_mjcf(path, _GRIPPER)
        ),
        "mjcf": Kind(
            ".xml", (robots.MJCF,), change_text, lambda path, _: from_mjcf(path, _ODD), share=0.4
        ),
        "npz_bytes": Kind(".npz", clips, None, lambda path, _: load_npz(path)),
        "npz_tree": Kind(".npz", clips, change_npz, lambda path, _: load_npz(path)),
        "npz_certify": Kind(
            ".npz", clips, change_npz, lambda path, _: certify(load_npz(path)), share=0.4
        ),
        "npz_export": Kind(".npz", clips, change_npz, _export, share=0.4),
        "recording": Kind(
            ".npz", (_recording(),), change_npz, lambda path, _: read_recording(path, body=box)
        ),
    }


def _load(path: Path, _: int) -> object:
    return formats.load(path)


def _body(path: Path, number: int) -> object:
    return load_body(path, repair=number % 2 == 0, allow_any_size=number % 3 == 0)


def _export(path: Path, number: int) -> None:
    clip = load_npz(path)
    formats.export(clip, path.with_name("out" + _EXPORTS[number % len(_EXPORTS)]))


def _motion(name: str, hand: str) -> Clip:
    times = np.arange(_FRAMES) / 30.0
    model = human() if hand == "right" else trident()
    rise = np.stack([0.0 * times, 0.0 * times, 0.05 * np.sin(3.0 * times)], axis=-1)
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (_FRAMES, 1))
    problem = Problem(
        name,
        times,
        {hand: model},
        {"box": make_shape("box")},
        {
            hand: Track(times, Pose(rise - np.array([0.13, 0.0, 0.0]), wxyz)),
            "box": Track(times, Pose(rise, wxyz)),
        },
        environment=(HalfSpace(np.array([0.0, 0.0, 1.0]), -0.3),),
    )
    result = synthesize(problem, Scripted("open", "closed"), seed=1, certify=False)
    assert result.best is not None
    return result.best


def _small_clip() -> Clip:
    return _motion("fuzzed", "hand")


def _human_clip() -> Clip:
    return _motion("fuzzed hand", "right")


def _written(clip: Clip, suffix: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"good{suffix}"
        formats.export(clip, path)
        return path.read_bytes()


def _packed(clip: Clip) -> bytes:
    return _written(clip, ".npz")


def _meshes(suffix: str) -> tuple[bytes, ...]:
    ball = trimesh.creation.icosphere(subdivisions=1, radius=0.03)
    tube = trimesh.creation.annulus(0.03, 0.04, 0.06, sections=12)
    # Two parts; parts that overlap take seconds to unite.
    boxes = [trimesh.creation.box((0.02, 0.02, side)) for side in (0.02, 0.03)]
    boxes[1].apply_translation([0.05, 0.0, 0.0])
    return tuple(
        _mesh_bytes(mesh, suffix) for mesh in (ball, tube, trimesh.util.concatenate(boxes))
    )


def _mesh_bytes(mesh: trimesh.Trimesh, suffix: str) -> bytes:
    data = mesh.export(file_type=suffix)
    return data if isinstance(data, bytes) else str(data).encode()


def _problem_files() -> tuple[bytes, ...]:
    import handwright.scenes

    folder = Path(handwright.scenes.__file__).parent / "data" / "goals"
    return tuple(path.read_bytes() for path in sorted(folder.glob("*.yaml"))[:6])


def _recording() -> bytes:
    """The body's track and a wrist, as the recordings of ManipNet have them."""
    rng = np.random.default_rng(0)
    wxyz = rng.normal(size=(12, 4))
    wxyz /= np.linalg.norm(wxyz, axis=1, keepdims=True)
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(
            buffer,
            fps=120.0,
            object_names=np.array(["cube"]),
            object_cube_pos=rng.normal(size=(12, 3)),
            object_cube_quat_wxyz=wxyz,
            right_wrist_pos=rng.normal(size=(12, 3)),
            right_wrist_quat_wxyz=wxyz[::-1],
        )
    return buffer.getvalue()
