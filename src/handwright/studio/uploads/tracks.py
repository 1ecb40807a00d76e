"""Tracks from files that a user brought: .csv, .bvh and our own .glb."""

from __future__ import annotations

from pathlib import Path

from handwright.core.track import Track
from handwright.errors import InvalidValueError
from handwright.io.bvh.files import read_bvh
from handwright.io.gltf.read import load_glb
from handwright.io.tracks_csv import load_tracks


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
