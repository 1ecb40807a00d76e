"""Problems from recordings: wrists and object as recorded, fingers to be found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from handwright.core.hand import Side
from handwright.core.problem import Problem


def from_recording(
    file: str | Path,
    start: int | None = None,
    stop: int | None = None,
    *,
    sides: Sequence[Side] | None = None,
    fps: float = 30.0,
) -> Problem:
    """A problem from a ManipNet recording; recorded fingers serve only to size the hands.

    Args:
        file: The .npz file, with its object and skins beside it as ``read_recording`` wants them.
        start: First frame, counted as in the file; the first one if None.
        stop: Frame after the last; the end if None.
        sides: Which hands, "left" or "right"; all that were recorded if None.
        fps: Rate of the problem, 1/s; the file's divided by a whole number.
    """
    # The kinematics that fit a recorded hand are loaded only for those who have a recording.
    from handwright.io.manipnet.dataset import read_recording

    # The whole file is read: its table and its bones come from more than the part that is wanted.
    return read_recording(file).problem(start, stop, sides=sides, fps=fps)
