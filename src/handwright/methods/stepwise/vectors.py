"""Vectors as tuples of three numbers, for compiled code: nothing is allocated for them."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined


@inlined
def vector(row: np.ndarray) -> tuple[float, float, float]:
    """The first three numbers of a row."""
    return row[0], row[1], row[2]


@inlined
def plus(a: tuple, b: tuple) -> tuple[float, float, float]:
    """``a + b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@inlined
def minus(a: tuple, b: tuple) -> tuple[float, float, float]:
    """``a - b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def times(factor: float, a: tuple) -> tuple[float, float, float]:
    """``factor * a``."""
    return factor * a[0], factor * a[1], factor * a[2]


@inlined
def dot(a: tuple, b: tuple) -> float:
    """``a . b``; rows of arrays will do, too."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def crossed(a: tuple, b: tuple) -> tuple[float, float, float]:
    """``a x b``."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inlined
def turned(rotation: np.ndarray, a: tuple) -> tuple[float, float, float]:
    """A vector turned by a rotation matrix."""
    return (
        rotation[0, 0] * a[0] + rotation[0, 1] * a[1] + rotation[0, 2] * a[2],
        rotation[1, 0] * a[0] + rotation[1, 1] * a[1] + rotation[1, 2] * a[2],
        rotation[2, 0] * a[0] + rotation[2, 1] * a[1] + rotation[2, 2] * a[2],
    )


@inlined
def turned_back(rotation: np.ndarray, a: tuple) -> tuple[float, float, float]:
    """A vector turned by the inverse of a rotation matrix."""
    return (
        rotation[0, 0] * a[0] + rotation[1, 0] * a[1] + rotation[2, 0] * a[2],
        rotation[0, 1] * a[0] + rotation[1, 1] * a[1] + rotation[2, 1] * a[2],
        rotation[0, 2] * a[0] + rotation[1, 2] * a[1] + rotation[2, 2] * a[2],
    )
