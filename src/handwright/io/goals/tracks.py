"""Tracks that a problem file names: tables of poses (.npz), joints of a recorded body (.bvh)."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from jaxtyping import Float

from handwright.core.read_limits import read_limits
from handwright.errors import FileFormatError, InvalidValueError
from handwright.math.pose import Pose

_RATE_SLACK = 0.01
"""How far the rate of a recorded body may be from the problem's, as a share: files round it."""


def read_poses(path: Path) -> dict[str, Pose]:
    """Poses by the names of hands and bodies, all with the same number of frames.

    Args:
        path: A .npz file with an array for each name and a row ``x y z qw qx qy qz`` for each
            frame, m.

    Raises:
        FileFormatError: There is no such file, or it holds something else.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            tables = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile, AttributeError) as error:
        raise FileFormatError(
            f"'{path.name}' cannot be read as tracks ({error}); expected a .npz file with an array "
            "for each hand and body, a row x y z qw qx qy qz for each frame."
        ) from error
    for name, table in tables.items():
        if table.ndim != 2 or table.shape[1] != 7 or table.dtype != np.float64:
            raise FileFormatError(
                f"'{path.name}': '{name}' is {table.dtype} of shape {table.shape}; expected "
                "float64 of shape (frames, 7): x y z qw qx qy qz."
            )
    counts = {name: len(table) for name, table in tables.items()}
    if len(set(counts.values())) != 1 or not 1 < min(counts.values()) <= read_limits().frames:
        listed = ", ".join(f"'{name}' {count}" for name, count in counts.items()) or "no track"
        raise FileFormatError(
            f"'{path.name}' has {listed}; expected the same number of frames for all, from 2 to "
            f"{read_limits().frames}."
        )
    return {name: Pose(table[:, :3], table[:, 3:]) for name, table in tables.items()}


def joint_poses(
    path: Path, joint: str, correction: Float[np.ndarray, "4"] | None, times: np.ndarray
) -> Pose:
    """Poses of a wrist that is a joint of a recorded body.

    Args:
        path: A .bvh file.
        joint: Its name there.
        correction: How the hand's root is turned in the joint's axes, a unit quaternion.
        times: Frames of the problem, s; the file must have as many, as far apart.

    Raises:
        FileFormatError: The file cannot be read.
        InvalidValueError: Its frames are others.
    """
    # Few problems have a body, and reading one takes the kinematics of hands along.
    from handwright.io.bvh.files import read_bvh

    person = read_bvh(path)
    step = float(times[1] - times[0])
    if len(person) != len(times) or abs(person.frame_time - step) > _RATE_SLACK * step:
        raise InvalidValueError(
            f"'{path.name}' has {len(person)} frames {person.frame_time:g} s apart; expected "
            f"{len(times)} frames {step:g} s apart."
        )
    turn = None if correction is None else Pose(np.zeros(3), correction)
    return person.joint_track(joint, turn).pose
