"""Read-only arrays for frozen nouns."""

from __future__ import annotations

from dataclasses import fields

import numpy as np


def freeze_arrays(noun: object) -> None:
    """Replaces every array field of a frozen dataclass by a read-only contiguous copy."""
    for item in fields(noun):  # type: ignore[arg-type]
        value = getattr(noun, item.name)
        if isinstance(value, np.ndarray):
            copy = np.array(value, order="C")
            copy.setflags(write=False)
            object.__setattr__(noun, item.name, copy)
