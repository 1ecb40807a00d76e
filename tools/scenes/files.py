"""Files of the scenes: holds, which only authoring reads, and what the package loads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from handwright.core.track import Track
from handwright.io.atomic import written_whole
from handwright.io.bvh.files import read_bvh, write_motion
from handwright.io.bvh.motion import BvhMotion
from handwright.math.pose import Pose
from handwright.scenes.catalogue import TRACKS
from tools.scenes.task import Hold

HOLDS = Path(__file__).parent / "data"
"""Folder of the holds."""
_HOLDS = "holds.json"


def load_holds(folder: Path = HOLDS) -> dict[str, Hold]:
    """All holds by name."""
    rows = json.loads((folder / _HOLDS).read_text(encoding="utf-8"))
    return {
        name: Hold(
            Pose.normalized(np.array(row["position"]), np.array(row["wxyz"])),
            np.array(row["pivot"]),
            np.array(row["points"]),
            np.array(row["touching"], dtype=bool),
            np.array(row["q"]),
            float(row["cost"]),
        )
        for name, row in rows.items()
    }


def save_holds(holds: Mapping[str, Hold], folder: Path = HOLDS) -> None:
    """Writes all holds; lengths in m to 1e-6, angles in rad to 1e-4."""
    rows = {
        name: {
            "position": hold.wrist.position.round(6).tolist(),
            "wxyz": hold.wrist.wxyz.round(6).tolist(),
            "pivot": hold.pivot.round(6).tolist(),
            "points": hold.points.round(6).tolist(),
            "touching": hold.touching.tolist(),
            "q": hold.q.round(4).tolist(),
            "cost": round(hold.cost, 3),
        }
        for name, hold in sorted(holds.items())
    }
    with written_whole(folder / _HOLDS) as file:
        file.write((json.dumps(rows, indent=1) + "\n").encode())


def save_tracks(name: str, tracks: Mapping[str, Track], folder: Path = TRACKS) -> Path:
    """Writes the tracks of a scene: position (m) and quaternion (wxyz) of every frame."""
    path = folder / f"{name}.npz"
    arrays = {
        key: np.concatenate([track.pose.position, track.pose.wxyz], axis=1)
        for key, track in tracks.items()
    }
    with written_whole(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return path


def load_person(name: str, folder: Path = TRACKS) -> BvhMotion:
    """The body that the wrists of a scene belong to."""
    return read_bvh(folder / f"{name}.bvh")


def save_person(name: str, person: BvhMotion, folder: Path = TRACKS) -> Path:
    """Writes the body of a scene."""
    path = folder / f"{name}.bvh"
    write_motion(person, path)
    return path


def save_problem(name: str, text: str, folder: Path = TRACKS) -> Path:
    """Writes the problem file of a scene."""
    path = folder / f"{name}.yaml"
    with written_whole(path) as file:
        file.write(text.encode())
    return path
