"""What a file that a user brought is good for, found out in a helper."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from handwright.errors import FileFormatError, HandwrightError, InvalidValueError
from handwright.geometry.mesh.bodies import load_body
from handwright.io.atomic import written_whole
from handwright.io.clip.file import load_clip
from handwright.io.goals.schema import ProblemFile
from handwright.io.goals.strict_yaml import read_yaml
from handwright.io.manipnet.dataset import is_recording
from handwright.scenes import read_problem
from handwright.studio.messages import SceneFromTracks, SceneInfo, Upload
from handwright.studio.server.request_errors import TroubleError
from handwright.studio.uploads.catalogue import describe_scene
from handwright.studio.uploads.files import upload_path
from handwright.studio.uploads.scenes import free_name, own_scenes, problem_of_tracks, read_tracks

_MAX_TRACKS = 200
_MAX_FACES = 300_000


def read_upload(hidden: Path, name: str) -> Upload:
    """Looks at an uploaded file; what it holds becomes a mesh, tracks, a scene or a clip.

    Args:
        hidden: What the studio keeps.
        name: Identifier of the upload.
    """
    path = upload_path(hidden, name)
    try:
        return _READERS[path.suffix](hidden, name, path)
    except TroubleError:
        raise
    except HandwrightError as error:
        # Where the file is kept means nothing to whoever sent it.
        raise TroubleError(422, str(error).replace(str(path), path.name)) from error


def _mesh(_hidden: Path, name: str, path: Path) -> Upload:
    body = load_body(path, repair=True)
    if len(body.faces) > _MAX_FACES:
        raise InvalidValueError(
            f"{path.name} has {len(body.faces)} triangles; expected at most {_MAX_FACES}. "
            "Make it coarser."
        )
    size = " x ".join(f"{1e3 * edge:.0f}" for edge in np.ptp(body.vertices, axis=0))
    text = f"{len(body.faces)} triangles, {size} mm, {1e3 * body.mass:.0f} g if it were of wood"
    return Upload(id=name, name=path.name, kind="mesh", summary=text)


def _mesh_or_tracks(hidden: Path, name: str, path: Path) -> Upload:
    """A .glb that we wrote holds a motion; others hold meshes."""
    try:
        return _tracks(hidden, name, path)
    except FileFormatError as not_ours:
        try:
            return _mesh(hidden, name, path)
        except HandwrightError as error:
            raise InvalidValueError(f"{error} (As a motion: {not_ours})") from error


def _tracks(_hidden: Path, name: str, path: Path) -> Upload:
    tracks = read_tracks(path)
    longest = max(track.duration for track in tracks.values())
    text = f"{len(tracks)} tracks, up to {longest:.1f} s"
    listed = list(tracks)[:_MAX_TRACKS]
    return Upload(id=name, name=path.name, kind="scene", summary=text, tracks=listed)


def _clip(_hidden: Path, name: str, path: Path) -> Upload:
    if is_recording(path):
        raise InvalidValueError(
            f"{path.name} is a ManipNet recording, which needs its object and skins beside it. "
            "Make a clip of it first: handwright export RECORDING.npz CLIP.npz"
        )
    clip = load_clip(path)
    text = f"{clip.num_frames} frames of {clip.provenance.scene} by {clip.provenance.method}"
    return Upload(id=name, name=path.name, kind="clip", summary=text)


def _goals(hidden: Path, name: str, path: Path) -> Upload:
    _refuse_other_files(path)
    scene = free_name(hidden, path.stem)
    problem = read_problem(path)
    target = hidden / "scenes" / f"{scene}.yaml"
    is_same = target.is_file() and target.read_bytes() == path.read_bytes()
    if scene in own_scenes(hidden) and not is_same:
        raise InvalidValueError(f"There is a scene '{scene}' already. Rename {path.name}.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(target) as file:
        file.write(path.read_bytes())
    text = f"{len(problem.goals)} goals for {', '.join(problem.bodies)}"
    return Upload(id=name, name=path.name, kind="scene", summary=text, scene=scene)


def _refuse_other_files(path: Path) -> None:
    """Problem files can name other files; an uploaded one must not read this machine's."""
    document = read_yaml(path)
    try:
        file = ProblemFile.model_validate(document.value)
    except ValueError:
        return  # ``read_problem`` says what is wrong, by line.
    named = [body.mesh for body in file.bodies.values() if body.mesh is not None]
    named += [hand.model for hand in file.hands.values() if "." in hand.model or "/" in hand.model]
    named += [hand.bvh.file for hand in file.hands.values() if hand.bvh is not None]
    named += [] if file.tracks is None else [file.tracks]
    if named:
        raise InvalidValueError(
            f"{path.name} names the file '{named[0][:80]}'; expected shapes and shipped hands "
            "only. Upload meshes and tracks by themselves, and put them together in the editor."
        )


_READERS = {
    ".obj": _mesh,
    ".stl": _mesh,
    ".ply": _mesh,
    ".off": _mesh,
    ".glb": _mesh_or_tracks,
    ".npz": _clip,
    ".bvh": _tracks,
    ".csv": _tracks,
    ".yaml": _goals,
    ".yml": _goals,
}


def make_scene(hidden: Path, wanted: SceneFromTracks) -> SceneInfo:
    """Makes a scene of uploaded tracks and a body."""
    name = free_name(hidden, wanted.name)
    if name in own_scenes(hidden):
        raise TroubleError(409, f"There is a scene '{name}' already. Choose another name.")
    problem_of_tracks(hidden, wanted)
    (hidden / "scenes").mkdir(parents=True, exist_ok=True)
    with written_whole(hidden / "scenes" / f"{name}.json") as file:
        file.write(wanted.model_dump_json().encode())
    return describe_scene(hidden, name)
