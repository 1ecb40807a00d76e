"""Taught motions: certified motions with labels, in compact files.

A file holds poses and joint values as single-precision numbers and names the shapes with their
sizes; meshes are built anew when it is read, and contacts are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ContactTrack
from handwright.core.frozen import freeze_arrays
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.errors import FileFormatError, UnknownNameError
from handwright.io.clip.npy_archive import open_archive, write_archive
from handwright.io.input_files import check_folder
from handwright.learning.data.play import FPS
from handwright.learning.data.script import SPLITS, Split
from handwright.learning.data.shapes import Thing
from handwright.learning.data.stage import hand_model, work_table
from handwright.math.pose import Pose

ACTIVITIES = (
    "reach", "grasp", "carry", "tilt", "pour", "drink", "spin", "turn", "regrasp", "pass",
    "put_down", "fiddle", "retreat",
)  # fmt: skip
"""What hands do, frame by frame."""
_FORMAT = "handwright taught motion"
_VERSION = 1
_DOCUMENT = "motion.json"


@dataclass(frozen=True, slots=True, eq=False)
class TaughtMotion:
    """A certified motion to learn from, at 60 frames a second."""

    name: str
    """Of its file, such as ``primitives_s0_000012``."""
    clip: Clip
    """Hands are ``right`` and ``left``, or one of them; without contacts."""
    activity: tuple[str, ...]
    """What is done in each frame: T names of ``ACTIVITIES``."""
    things: Mapping[str, Thing]
    """Shape and size of each body, by its name."""
    split: Split
    acts: tuple[str, ...] = ()
    """What it was asked for between taking the thing and putting it down."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        object.__setattr__(self, "things", MappingProxyType(dict(self.things)))

    @property
    def shape(self) -> str:
        """Name of the shape, or of both with a plus between them."""
        return "+".join(thing.shape for thing in self.things.values())

    @property
    def num_frames(self) -> int:
        """Number of frames."""
        return self.clip.num_frames


def save_motion(motion: TaughtMotion, path: str | Path) -> None:
    """Writes a motion, whole or not at all.

    Args:
        motion: What to keep.
        path: Ends in ``.npz``.
    """
    made = motion.clip.provenance
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "name": motion.name,
        "split": motion.split,
        "acts": list(motion.acts),
        "activities": list(ACTIVITIES),
        "hands": list(motion.clip.hands),
        "things": {
            name: {"shape": thing.shape, "size": dict(thing.size), "friction": thing.friction}
            for name, thing in motion.things.items()
        },
        "made": {
            "scene": made.scene, "method": made.method, "settings": dict(made.settings),
            "seed": made.seed, "version": made.version, "is_certified": made.is_certified,
        },
    }  # fmt: skip
    arrays = {
        "activity": np.array([ACTIVITIES.index(name) for name in motion.activity], dtype=np.int32)
    }
    for name, pose in motion.clip.bodies.items():
        arrays[f"bodies/{name}"] = _packed(pose)
    for name, hand in motion.clip.hands.items():
        arrays[f"roots/{name}"] = _packed(hand.root)
        arrays[f"q/{name}"] = hand.q.astype(np.float32)
    write_archive(path, _DOCUMENT, document, arrays)


def load_motion(path: str | Path) -> TaughtMotion:
    """Reads a motion.

    Args:
        path: A file of ``save_motion``.
    """
    with open_archive(path, _DOCUMENT) as archive:
        document = archive.document
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise FileFormatError(
                f"{path}: is no taught motion. Give one that 'handwright data make' wrote."
            )
        if document.get("version") != _VERSION:
            raise FileFormatError(
                f"{path}: has version {document.get('version')}; expected {_VERSION}. Make the "
                "data again."
            )
        headers, problems = archive.headers(_DOCUMENT)
        if problems:
            raise FileFormatError(f"{path}: cannot be loaded: {'; '.join(problems)}.")
        arrays = {name: archive.array(name, header) for name, header in headers.items()}
    try:
        return _built(document, arrays)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: cannot be loaded ({error}). Make it again.") from error


def load_motions(folder: str | Path, split: Split | None = None) -> Iterator[TaughtMotion]:
    """Reads the motions of a folder one after the other, in the order of their names.

    Args:
        folder: Where ``handwright data make`` has written them.
        split: Only those of ``train``, ``validation`` or ``test``; all if None.
    """
    if split is not None and split not in SPLITS:
        raise UnknownNameError("split", split, SPLITS)
    for path in motion_files(folder):
        motion = load_motion(path)
        if split is None or motion.split == split:
            yield motion


def count_frames(path: str | Path) -> int:
    """Number of frames of a motion file, from its header."""
    with open_archive(path, _DOCUMENT) as archive:
        headers, _ = archive.headers(_DOCUMENT)
    if "activity" not in headers:
        raise FileFormatError(f"{path}: is no taught motion. Remove it and run again.")
    return headers["activity"].shape[0]


def motion_files(folder: str | Path) -> list[Path]:
    """Files of the motions of a folder and of the folders right in it, in the order of names.

    Args:
        folder: Of 'handwright data make', or a folder of such folders.
    """
    check_folder(folder, "a folder of motions that 'handwright data make' has written")
    found = [*Path(folder).glob("*_s*_[0-9]*.npz"), *Path(folder).glob("*/*_s*_[0-9]*.npz")]
    return sorted(found)


def _packed(pose: Pose) -> Float[np.ndarray, "T 7"]:
    return np.concatenate([pose.position, pose.wxyz], axis=1).astype(np.float32)


def _unpacked(rows: Float[np.ndarray, "T 7"]) -> Pose:
    values = rows.astype(np.float64)
    return Pose.normalized(values[:, :3], values[:, 3:])


def _built(document: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> TaughtMotion:
    things = {
        name: Thing(row["shape"], MappingProxyType(dict(row["size"])), float(row["friction"]))
        for name, row in document["things"].items()
    }
    names = document["activities"]
    activity = tuple(str(names[i]) for i in arrays["activity"].tolist())
    times = np.arange(len(activity)) / FPS
    hands = {
        side: HandMotion(_unpacked(arrays[f"roots/{side}"]), arrays[f"q/{side}"].astype(np.float64))
        for side in document["hands"]
    }
    bodies = {name: _unpacked(arrays[f"bodies/{name}"]) for name in things}
    roots = {side: hand.root for side, hand in hands.items()}
    problem = Problem(
        name=document["name"],
        times=times,
        hands={side: hand_model(side) for side in hands},
        bodies={name: thing.body() for name, thing in things.items()},
        tracks={name: Track(times, pose) for name, pose in (roots | bodies).items()},
        environment=(work_table(),),
    )
    clip = Clip(
        problem=problem,
        times=times,
        hands=hands,
        bodies=bodies,
        contacts=ContactTrack.empty(),
        provenance=Provenance(**document["made"]),
    )
    acts = tuple(str(name) for name in document.get("acts", ()))
    return TaughtMotion(document["name"], clip, activity, things, document["split"], acts)
