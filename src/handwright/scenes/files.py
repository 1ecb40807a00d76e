"""Holds and tracks of the scenes as files of the package."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from handwright.core.track import Track
from handwright.errors import UnknownNameError
from handwright.io.atomic import written_whole
from handwright.io.bvh.files import read_bvh, write_motion
from handwright.io.bvh.motion import BvhMotion
from handwright.math.pose import Pose
from handwright.scenes.motion import frame_times
from handwright.scenes.task import Hold

DATA = Path(__file__).parent / "data"
"""Where the files are."""
_HOLDS = "holds.json"


def load_holds(folder: Path = DATA) -> dict[str, Hold]:
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


def save_holds(holds: Mapping[str, Hold], folder: Path = DATA) -> None:
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


def load_tracks(name: str, folder: Path = DATA) -> dict[str, Track]:
    """The tracks of one scene, by the names of its hands and bodies."""
    path = folder / f"{name}.npz"
    if not path.is_file():
        known = [file.stem for file in folder.glob("*.npz")]
        raise UnknownNameError("file of scene tracks", name, known)
    with np.load(path, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    return {
        key: Track(frame_times(len(rows)), Pose(rows[:, :3], rows[:, 3:]))
        for key, rows in arrays.items()
    }


def save_tracks(name: str, tracks: Mapping[str, Track], folder: Path = DATA) -> Path:
    """Writes the tracks of a scene: position (m) and quaternion (wxyz) of every frame."""
    path = folder / f"{name}.npz"
    arrays = {
        key: np.concatenate([track.pose.position, track.pose.wxyz], axis=1)
        for key, track in tracks.items()
    }
    with written_whole(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return path


def load_person(name: str, folder: Path = DATA) -> BvhMotion:
    """The body that the wrists of a scene belong to."""
    return read_bvh(folder / f"{name}.bvh")


def save_person(name: str, person: BvhMotion, folder: Path = DATA) -> Path:
    """Writes the body of a scene."""
    path = folder / f"{name}.bvh"
    write_motion(person, path)
    return path


def person_wrists(person: BvhMotion, sides: Iterable[str]) -> dict[str, Track]:
    """Wrist tracks of a body, as roots of our hands, by side."""
    # A left wrist's x axis points to its fingers, which at the body's zero pose is to the left.
    back = Pose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))
    return {
        side: Track(
            frame_times(len(person)),
            person.joint_track(f"{side.capitalize()}Hand", back if side == "left" else None).pose,
        )
        for side in sides
    }
