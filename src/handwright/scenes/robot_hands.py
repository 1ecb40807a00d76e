"""Hands from robot files, for files of goals."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handwright.core.hand import HandModel
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError, UnknownNameError
from handwright.io.goals import file as goal_file


def read_problem(path: str | Path) -> Problem:
    """Reads a problem from a file of goals (.yaml).

    Args:
        path: The file; docs/how-to/write-goals.md tells what is in it.

    Raises:
        FileFormatError: Something in the file cannot be used; the text lists all of it by line.
    """
    return goal_file.read_problem(path, robot_hand)


def robot_hand(path: Path, mapping: Any) -> HandModel:  # noqa: ANN401  whatever YAML holds
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
