"""Named tuples of arrays, allocated by the shapes and types that their annotations say."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
from jaxtyping import Bool, Float, Int

Struct = TypeVar("Struct", bound=NamedTuple)

_TYPES = {Float: np.float64, Int: np.int64, Bool: np.bool_}
_hints = lru_cache(get_type_hints)


def zeros(struct: type[Struct], sizes: dict[str, int], **given: Any) -> Struct:  # noqa: ANN401
    """A struct of zeros.

    Args:
        struct: A named tuple whose fields are annotated arrays, or further such tuples.
        sizes: Lengths of the axes that annotations name, such as ``{"T": 20}``.
        given: Fields that are taken as they are.
    """
    for name, hint in _hints(struct).items():
        if name in given:
            continue
        if not hasattr(hint, "dim_str"):
            given[name] = zeros(hint, sizes)
            continue
        axes = hint.dim_str.split()
        shape = [int(axis) if axis.isdigit() else sizes[axis] for axis in axes]
        given[name] = np.zeros(shape, dtype=_TYPES[hint.dtype])
    return struct._make(given[name] for name in struct._fields)
