"""Hands from robot files, for problem files."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError, UnknownNameError


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
