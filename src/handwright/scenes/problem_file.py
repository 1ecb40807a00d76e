"""Problems from files: those that people write, hands of robots among them, and recordings."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handwright.core.hand import HandModel, Side
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.io.goals import file as goal_file


def read_problem(path: str | Path) -> Problem:
    """Reads a problem from a problem file (.yaml): one with goals, or with tracks, or with both.

    Args:
        path: The file; docs/how-to/write-goals.md tells what is in it.

    Raises:
        FileFormatError: Something in the file cannot be used; the text lists all of it by line.
    """
    return goal_file.read_problem(path, _robot_hand)


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


def _robot_hand(path: Path, mapping: Any) -> HandModel:  # noqa: ANN401  whatever YAML holds
    """A hand from a robot file, with a named mapping or the fields of one.

    Args:
        path: MJCF or URDF file.
        mapping: ``shadow`` for the Shadow hand, or fields of ``HandMapping`` by name.
    """
    # The simulator is loaded only for those who have a robot's file.
    from handwright.physics import SHADOW_HAND, HandMapping, from_mjcf

    known_hands = {"shadow": SHADOW_HAND}
    if isinstance(mapping, str):
        if mapping not in known_hands:
            raise UnknownNameError("mapping", mapping, known_hands)
        return from_mjcf(path, known_hands[mapping])
    if not isinstance(mapping, dict):
        raise InvalidValueError(
            f"mapping is {mapping!r}; expected what is what in '{path.name}': one of "
            f"{', '.join(known_hands)}, or root and digits."
        )
    known = [item.name for item in dataclasses.fields(HandMapping)]
    for key in mapping:
        if key not in known:
            raise UnknownNameError("key of mapping", str(key), known)
    try:
        return from_mjcf(path, TypeAdapter(HandMapping).validate_python(mapping))
    except ValidationError as error:
        listed = "; ".join(
            f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()
        )
        raise InvalidValueError(f"mapping of '{path.name}': {listed}.") from error
