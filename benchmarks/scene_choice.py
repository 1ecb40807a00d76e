"""Scenes of a benchmark that are asked for on the command line, and their seeds."""

from __future__ import annotations

from collections.abc import Sequence

from handwright.errors import InvalidValueError, UnknownNameError

FIRST_SEED = 1000
"""Seeds from here on serve benchmarks alone: nothing is tuned on them."""


def chosen_scenes(text: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """Names out of a list with commas, each once; all that the benchmark knows if None."""
    if text is None:
        return tuple(known)
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    for name in names:
        if name not in known:
            raise UnknownNameError("scene of this benchmark", name, known)
    if not names:
        raise InvalidValueError(
            f"--scenes names no scene; expected some of {', '.join(known)}, with commas."
        )
    return names
