"""The recordings of the ManipNet data set (Zhang et al. 2021), as arrays in the wrist's frame.

The data are under CC-BY-NC and are not part of this package; users bring the files, converted to
metres, 120 Hz, quaternions wxyz, one .npz file for each recording.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import Side
from handwright.errors import FileFormatError, UnknownNameError
from handwright.hands.names import joint_names
from handwright.math.pose import Pose

_THUMB_BASE = "THUMB_CMC_FE"


@dataclass(frozen=True, slots=True, eq=False)
class RecordedHand:
    """Joints of one hand over a recording, in the wrist frame of this package."""

    side: Side
    fps: float
    names: tuple[str, ...]
    """Frame names of this package."""
    position: Float[np.ndarray, "T N 3"]
    """m, in the wrist frame: x distal, z dorsal, y to the thumb on a right hand."""
    thumb_base: Float[np.ndarray, "T 3"]
    """Point of the thumb's flexion axis, m, in the same frame."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


def read_hand(path: str | Path, side: Side) -> RecordedHand:
    """Reads one hand of a recording.

    Args:
        path: The .npz file.
        side: ``right`` or ``left``.
    """
    if side not in ("right", "left"):
        raise UnknownNameError("side", side, ("right", "left"))
    path = Path(path)
    arrays = _load(
        path,
        [
            "fps",
            "joint_names",
            f"{side}_joint_pos",
            f"{side}_wrist_pos",
            f"{side}_wrist_quat_wxyz",
        ],
    )
    theirs = [str(name) for name in arrays["joint_names"]]
    ours = {name: other for name, other in joint_names("manipnet", side).items() if name != "wrist"}
    missing = [name for name in (*ours.values(), _THUMB_BASE) if name not in theirs]
    if missing:
        raise FileFormatError(f"{path}: joints {', '.join(missing)} are not in the recording.")
    place = arrays[f"{side}_joint_pos"].astype(np.float64)
    wrist = Pose.normalized(
        arrays[f"{side}_wrist_pos"].astype(np.float64),
        arrays[f"{side}_wrist_quat_wxyz"].astype(np.float64),
    )
    local = wrist.inverse()[:, None].apply(place)
    if side == "left":
        # Their left hand points along -x: half a turn about the back of the hand.
        local = local * np.array([-1.0, -1.0, 1.0])
    return RecordedHand(
        side=side,
        fps=float(arrays["fps"]),
        names=tuple(ours),
        position=local[:, [theirs.index(name) for name in ours.values()]],
        thumb_base=local[:, theirs.index(_THUMB_BASE)],
    )


def _load(path: Path, keys: list[str]) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file; expected a ManipNet .npz recording.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            missing = [key for key in keys if key not in archive.files]
            if missing:
                raise FileFormatError(
                    f"{path}: arrays {', '.join(missing)} are missing; "
                    "expected a ManipNet recording."
                )
            arrays = {key: archive[key] for key in keys}
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path}: not a readable .npz file ({error}).") from error
    for key, value in arrays.items():
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            raise FileFormatError(f"{path}: array {key} holds NaN or infinity.")
    return arrays
