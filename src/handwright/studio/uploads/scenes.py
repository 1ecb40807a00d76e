"""Scenes that come with the package, and those that a user brought."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.hand import Side
from handwright.core.problem import Problem
from handwright.core.surface import HalfSpace
from handwright.core.track import Track
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.mesh.bodies import load_body
from handwright.geometry.shapes import SHAPES, make_shape
from handwright.hands import human
from handwright.io.bvh.files import read_bvh
from handwright.io.gltf.read import load_glb
from handwright.io.tracks_csv import load_tracks
from handwright.scenes import SCENES, goal_scenes, load_scene, read_problem, toss_scenes
from handwright.studio.messages import SceneFromTracks
from handwright.studio.uploads.files import mesh_upload, upload_path

FPS = 30.0
"""Frames a second of scenes made from tracks."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


def packaged_scenes() -> list[str]:
    """Names of the scenes that come with the package."""
    return [*SCENES, *goal_scenes(), *toss_scenes()]


def own_scenes(hidden: Path) -> list[str]:
    """Names of the scenes that a user brought."""
    return sorted(path.stem for path in (hidden / "scenes").glob("*.*") if _NAME.match(path.stem))


def free_name(hidden: Path, name: str) -> str:
    """A name that a new scene may have; raises if it is not one."""
    if not _NAME.fullmatch(name):
        raise InvalidValueError(
            f"A scene is to be named '{name[:80]}'; expected up to 60 letters, digits, '_' or '-'."
        )
    if name in packaged_scenes():
        raise InvalidValueError(f"There is a scene '{name}' already. Choose another name.")
    return name


def find_scene(hidden: Path, name: str) -> Problem:
    """A scene by its name."""
    if name in packaged_scenes():
        return _packaged(name)
    if name not in own_scenes(hidden):
        raise UnknownNameError("scene", name, (*packaged_scenes(), *own_scenes(hidden)))
    goals, tracks = (hidden / "scenes" / f"{name}.{suffix}" for suffix in ("yaml", "json"))
    path = goals if goals.is_file() else tracks
    return _own(hidden, path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _packaged(name: str) -> Problem:
    return load_scene(name)


@functools.lru_cache(maxsize=8)
def _own(hidden: Path, path: Path, _changed: int) -> Problem:
    if path.suffix == ".yaml":
        return read_problem(path)
    return problem_of_tracks(hidden, SceneFromTracks.model_validate_json(path.read_bytes()))


def problem_of_tracks(hidden: Path, scene: SceneFromTracks) -> Problem:
    """A problem with a human hand and a body on tracks that a user brought.

    There is a table below the lowest point of the body in the first frame.
    """
    tracks = read_tracks(upload_path(hidden, scene.tracks))
    for name in (scene.hand, scene.body):
        if name not in tracks:
            raise UnknownNameError("track of this upload", name, tracks)
    if scene.hand == scene.body:
        raise InvalidValueError(f"The track '{scene.hand}' is given to hand and body; choose two.")
    side: Side = "left" if "left" in scene.hand.lower() else "right"
    times = _common_times(tracks[scene.hand], tracks[scene.body])
    hand, thing = (tracks[name].resampled(times) for name in (scene.hand, scene.body))
    start = float(times[0])
    body = _body(hidden, scene)
    lowest = float(thing.pose[0].apply(body.vertices)[:, 2].min())
    return Problem(
        name=scene.name,
        times=times - start,
        hands={side: human(side)},
        bodies={body.name: body},
        tracks={
            side: Track(times - start, hand.pose),
            body.name: Track(times - start, thing.pose),
        },
        environment=(HalfSpace(np.array([0.0, 0.0, 1.0]), lowest),),
    )


def read_tracks(path: Path) -> dict[str, Track]:
    """Tracks by name: of a table, the joints of a skeleton, the hands and bodies of a clip."""
    if path.suffix == ".csv":
        return load_tracks(path)
    if path.suffix == ".bvh":
        motion = read_bvh(path)
        return {name: motion.joint_track(name) for name in motion.names}
    if path.suffix == ".glb":
        loaded = load_glb(path)
        poses = {name: motion.root for name, motion in loaded.hands.items()} | dict(loaded.bodies)
        return {name: Track(loaded.times, pose) for name, pose in poses.items()}
    raise InvalidValueError(f"'{path.name}' holds no tracks; expected .csv, .bvh or .glb.")


def _body(hidden: Path, scene: SceneFromTracks) -> RigidBody:
    if (scene.mesh is None) == (scene.shape is None):
        raise InvalidValueError("Expected either a mesh or a shape for the body; give one of them.")
    if scene.shape is not None:
        if scene.shape not in SHAPES:
            raise UnknownNameError("shape", scene.shape, SHAPES)
        body = make_shape(scene.shape)
    else:
        body = load_body(mesh_upload(hidden, str(scene.mesh)), repair=True)
    return body.with_mass(scene.mass).with_friction(scene.friction)


def _common_times(hand: Track, body: Track) -> np.ndarray:
    first = max(hand.times[0], body.times[0])
    last = min(hand.times[-1], body.times[-1])
    count = int(np.floor((last - first) * FPS + 1e-6)) + 1
    if count < 4:
        raise InvalidValueError(
            f"The two tracks have {max(last - first, 0.0):.2f} s in common; expected four frames "
            f"or more at {FPS:.0f} a second."
        )
    return np.minimum(first + np.arange(count) / FPS, last)
