"""BVH files: bodies come in, and go out with fingers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from handwright.core.clip import Clip
from handwright.core.read_limits import read_limits
from handwright.errors import InvalidValueError
from handwright.io.bvh.hands import hands_alone, hands_on_body
from handwright.io.bvh.motion import BvhMotion, UpAxis
from handwright.io.bvh.parse import read_motion
from handwright.io.bvh.write import write_motion
from handwright.io.clip.resample import resampled

__all__ = ["BvhMotion", "read_bvh", "write_bvh", "write_motion"]


def read_bvh(path: str | Path, *, unit: float = 0.01, up: UpAxis = "y") -> BvhMotion:
    """Reads the skeleton and the motion of a BVH file.

    Every order of channels is read, joints without channels or end sites too. Position channels
    take the place of a joint's offset.

    Args:
        path: The file.
        unit: Metres in one unit of the file, which BVH does not state: 0.01 for centimetres.
        up: Axis of the file that points up, ``y`` or ``z``.

    Raises:
        FileFormatError: The file is not BVH, is cut short, or holds numbers that cannot be used;
            the message names the line.
    """
    if not (math.isfinite(unit) and unit > 0.0):
        raise InvalidValueError(f"unit is {unit}; expected the metres in one unit of the file.")
    if up not in ("y", "z"):
        raise InvalidValueError(f"up is {up!r}; expected 'y' or 'z'.")
    return read_motion(Path(path), unit, up)


def write_bvh(
    clip: Clip,
    path: str | Path,
    *,
    body: BvhMotion | None = None,
    wrist_joint: str | Mapping[str, str] | None = None,
    fps: float | None = None,
    skeleton: str | None = None,
) -> None:
    """Writes the hands of a clip, alone or on a body.

    Alone: centimetres, Y up, the wrist as root (two hands share a root that stands still), times
    from zero. On a body: all frames, numbers, unit and axes of the body are kept, and each hand
    hangs below a wrist joint where the clip has it, also if that is not where the body's wrist is;
    in frames of the body before and after the clip it keeps its first and last pose.

    Joint names are the hand's frame names behind the hand's name, such as
    ``right_index_proximal``. The joints of an arm are not written; the wrist moves as it does.

    Args:
        clip: The motion; its bodies have no place in BVH.
        path: Where to; the file appears whole or not at all.
        body: A body whose time is the clip's.
        wrist_joint: The body's wrist joint, or one for every hand by the hand's name.
        fps: Frames a second for hands alone; the clip's own if None. Frames are evenly spaced
            and interpolated where the clip's are not.
        skeleton: Whose names the joints of hands alone have: ``openxr``, ``unity`` or ``unreal``;
            those said above if None.
    """
    if body is None:
        if wrist_joint is not None:
            raise InvalidValueError("wrist_joint is given without a body; give both or neither.")
        _write_alone(clip, path, fps, skeleton)
        return
    if skeleton is not None:
        raise InvalidValueError(
            f"skeleton is '{skeleton}' and a body is given; expected one of them, for hands on a "
            "body keep our names."
        )
    if fps is not None:
        raise InvalidValueError(
            f"fps is {fps} and a body is given; expected one of them, for the body's own frames "
            "are kept."
        )
    if wrist_joint is None:
        raise InvalidValueError(
            "A body is given without wrist_joint; expected the name of its wrist joint, one of: "
            f"{', '.join(body.names)}."
        )
    if isinstance(wrist_joint, str):
        if len(clip.hands) != 1:
            raise InvalidValueError(
                f"wrist_joint is '{wrist_joint}' for {len(clip.hands)} hands; expected a mapping "
                f"from each of {', '.join(clip.hands)} to a joint."
            )
        wrist_joint = dict.fromkeys(clip.hands, wrist_joint)
    write_motion(hands_on_body(clip, body, wrist_joint), path)


def _write_alone(clip: Clip, path: str | Path, fps: float | None, skeleton: str | None) -> None:
    if not clip.hands:
        raise InvalidValueError("The clip has no hands; expected some to write as BVH.")
    if fps is None:
        # A single frame lasts as long as one of film.
        fps = clip.fps or 24.0
    if not (math.isfinite(fps) and fps > 0.0):
        raise InvalidValueError(f"fps is {fps}; expected a positive finite number.")
    span = float(clip.times[-1] - clip.times[0])
    # The last frame is kept if it is a whole number of frames away but for rounding.
    count = math.floor(span * fps * (1.0 + 1e-9) + 1e-6) + 1
    if count > read_limits().frames:
        raise InvalidValueError(
            f"{span:g} s at {fps:g} frames a second are {count} frames; expected at most "
            f"{read_limits().frames}. Lower fps."
        )
    times = np.minimum(clip.times[0] + np.arange(count) / fps, clip.times[-1])
    write_motion(hands_alone(resampled(clip, times), fps, skeleton), path)
