"""Read-only arrays and tables for frozen nouns."""

from __future__ import annotations

import copyreg
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def _read_only(table: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(table)


# Python sends no read-only tables to other processes unless it is told how.
copyreg.pickle(MappingProxyType, lambda table: (_read_only, (dict(table),)))


def read_only_copy(values: ArrayLike) -> np.ndarray:
    """A copy as float64 that cannot be written to."""
    copy = np.array(values, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy


def freeze_arrays(noun: object) -> None:
    """Replaces every array field of a frozen dataclass by a read-only contiguous copy."""
    for item in fields(noun):  # type: ignore[arg-type]
        value = getattr(noun, item.name)
        if isinstance(value, np.ndarray):
            copy = np.array(value, order="C")
            copy.setflags(write=False)
            object.__setattr__(noun, item.name, copy)
