"""The recordings of the ManipNet data set (Zhang et al. 2021): two hands, one object.

The data are under CC-BY-NC and are not part of this package; users bring the files, converted to
metres, 120 Hz, Y up, quaternions wxyz, one .npz file for each recording. Beside them are looked
for, in the file's folder and the one above: ``objects/<name>.obj`` and ``hand_skin_<side>.npz``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel, Side
from handwright.core.track import Track
from handwright.errors import FileFormatError, InvalidValueError
from handwright.geometry.mesh.bodies import load_body
from handwright.hands import human
from handwright.io.axes import world_to_z_up
from handwright.io.manipnet.arrays import (
    MAX_FRAMES,
    array_names,
    check_shape,
    load_arrays,
    unit_quaternions,
)
from handwright.io.manipnet.hand import (
    JointMotion,
    RecordedHand,
    frame_rate,
    hand_of_arrays,
    joint_motion,
    matched_hand,
    read_hand,
    recorded_names,
    wrist_poses,
)
from handwright.io.manipnet.range import with_recorded_range
from handwright.io.manipnet.recording import SIDES, Recording
from handwright.io.manipnet.skin import RecordedSkin, read_skin
from handwright.io.manipnet.table import table_height
from handwright.math.pose import Pose

__all__ = [
    "RecordedHand",
    "RecordedSkin",
    "Recording",
    "is_recording",
    "read_hand",
    "read_recording",
    "read_skin",
]

_KIND = "a ManipNet recording"


def is_recording(path: str | Path) -> bool:
    """Whether a .npz file looks like a recording of the data set, by the names of its arrays."""
    names = array_names(path)
    return "fps" in names and any(
        name.startswith("object_") and name.endswith("_quat_wxyz") for name in names
    )


def read_recording(
    path: str | Path,
    *,
    start: int | None = None,
    stop: int | None = None,
    body: RigidBody | None = None,
    skins: Mapping[Side, RecordedSkin] | None = None,
) -> Recording:
    """Reads a recording: object and wrists, and fingers where they were recorded.

    Args:
        path: The .npz file.
        start: First frame to keep; the first of the file if None.
        stop: Frame after the last one to keep. If None, up to the end, without frames that only
            repeat the last one.
        body: The object, in the frame of its recorded pose; if None, made from
            ``objects/<name>.obj``, mended where it is open, with the density of wood.
        skins: Skins of the recorded hands; if None, ``hand_skin_<side>.npz`` is looked for.
    """
    path = Path(path)
    arrays = load_arrays(path, ["fps"], kind=_KIND)
    fps = frame_rate(path, arrays)
    name, pose = _object_track(path, arrays)
    count = len(pose)
    if not 2 <= count <= MAX_FRAMES:
        raise FileFormatError(f"{path}: has {count} frames; expected 2 to {MAX_FRAMES}.")
    _check_lengths(path, arrays, count)
    repeated = _repeated(arrays, count)
    keep = _kept(path, start, stop, count, count - repeated)
    if body is None:
        if not name:
            raise FileFormatError(
                f"{path}: does not say which object was recorded. Pass its body: "
                "read_recording(path, body=load_body(mesh, repair=True))."
            )
        body = load_body(_beside(path, f"objects/{name}.obj"), repair=True)
    times = np.arange(count) / fps
    whole = world_to_z_up(pose)
    tracks = {body.name: Track(times[keep], whole[keep])}
    models: dict[str, HandModel] = {}
    fingers: dict[str, RecordedHand] = {}
    worn: dict[str, RecordedSkin] = {}
    joints: dict[str, JointMotion] = {}
    for side in SIDES:
        if f"{side}_wrist_pos" not in arrays:
            continue
        wrist = world_to_z_up(wrist_poses(path, arrays, side))
        tracks[side] = Track(times[keep], wrist[keep])
        if f"{side}_joint_pos" not in arrays:
            models[side] = human(side)
            continue
        skin = (
            read_skin(_beside(path, f"hand_skin_{side}.npz"), side)
            if skins is None or side not in skins
            else skins[side]
        )
        hand = hand_of_arrays(path, arrays, side, skin=skin)
        _check_skin(path, arrays, skin)
        # Bones and limits are those of the whole recording, whatever part is kept.
        whole_hand = hand.cut(slice(0, count - repeated))
        models[side] = with_recorded_range(matched_hand(whole_hand), whole_hand)
        fingers[side], worn[side] = hand.cut(keep), skin
        joints[side] = JointMotion(*(part[keep] for part in joint_motion(path, arrays, side)))
    return Recording(
        name=path.stem,
        fps=fps,
        start=keep.start,
        body=body,
        tracks=MappingProxyType(tracks),
        models=MappingProxyType(models),
        fingers=MappingProxyType(fingers),
        skins=MappingProxyType(worn),
        joints=MappingProxyType(joints),
        table=table_height(body, whole[: count - repeated], fps),
        repeated=repeated,
    )


def _object_track(path: Path, arrays: dict[str, np.ndarray]) -> tuple[str, Pose]:
    """Name of the object, "" if it has none, and its poses in the world of the file."""
    names = [str(name) for name in np.atleast_1d(arrays.get("object_names", np.zeros(0, "U1")))]
    if len(names) > 1:
        raise FileFormatError(
            f"{path}: holds the objects {', '.join(names)}; expected one. Split the recording."
        )
    prefix = f"object_{names[0]}" if names else "object"
    missing = [key for key in (f"{prefix}_pos", f"{prefix}_quat_wxyz") if key not in arrays]
    if missing:
        raise FileFormatError(f"{path}: arrays {', '.join(missing)} are missing; expected {_KIND}.")
    place = check_shape(path, arrays, f"{prefix}_pos", (None, 3))
    key = f"{prefix}_quat_wxyz"
    turn = check_shape(path, arrays, key, (len(place), 4))
    return names[0] if names else "", Pose(place, unit_quaternions(path, key, turn))


def _check_lengths(path: Path, arrays: dict[str, np.ndarray], count: int) -> None:
    ends = ("_pos", "_quat_wxyz")
    wrong = [
        f"{key} {array.shape}"
        for key, array in arrays.items()
        if key.endswith(ends) and array.shape[:1] != (count,)
    ]
    halves = [
        f"{side}_wrist_quat_wxyz is missing"
        for side in SIDES
        if f"{side}_wrist_pos" in arrays and f"{side}_wrist_quat_wxyz" not in arrays
    ]
    if wrong:
        halves.append(f"the object has {count} frames, but: {', '.join(wrong)}")
    if halves:
        raise FileFormatError(f"{path}: " + "; ".join(halves) + ".")


def _check_skin(path: Path, arrays: dict[str, np.ndarray], skin: RecordedSkin) -> None:
    """The skin is blended joint by joint, so it must number them as the recording does."""
    names = recorded_names(path, arrays)
    if tuple(names) != skin.joints:
        raise FileFormatError(
            f"{path}: has the joints {', '.join(names)}, but the skin of the {skin.side} hand "
            f"{', '.join(skin.joints)}; expected the same in the same order. Use the skin that "
            "belongs to the recording."
        )


def _repeated(arrays: dict[str, np.ndarray], count: int) -> int:
    """How many frames at the end only repeat the one before them."""
    same = np.ones(count, dtype=bool)
    for key, array in arrays.items():
        if key.endswith(("_pos", "_quat_wxyz")):
            same &= (array == array[-1]).reshape(count, -1).all(axis=1)
    return int(same[::-1].argmin()) - 1 if not same.all() else 0


def _kept(path: Path, start: int | None, stop: int | None, count: int, moving: int) -> slice:
    first, last = 0 if start is None else start, moving if stop is None else stop
    if not 0 <= first < last <= count:
        # A default is not named as if somebody had asked for it.
        asked = " and ".join(
            f"{name}={value}"
            for name, value in (("start", start), ("stop", stop))
            if value is not None
        )
        most = count if stop is not None else moving
        end = f"; from frame {moving} on they repeat the last one" if moving < count else ""
        raise InvalidValueError(
            f"{path}: {asked} was asked for; the recording has {count} frames{end}. Expected "
            f"0 <= start < stop <= {most}; stop is the frame after the last one to keep."
        )
    return slice(first, last)


def _beside(path: Path, relative: str) -> Path:
    """A file of the data set, in the recording's folder or the one above."""
    tried = [folder / relative for folder in (path.parent, path.parent.parent)]
    for found in tried:
        if found.is_file():
            return found
    raise FileFormatError(
        f"{path}: neither '{tried[0]}' nor '{tried[1]}' is there. Put the file of the data set "
        "into one of these places, or pass body= and skins=."
    )
