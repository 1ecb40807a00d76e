"""Single vectors as tuples of three numbers, for compiled functions."""

from __future__ import annotations

import math

import numpy as np

from handwright.kernels.decorators import inlined

Vec3 = tuple[float, float, float]


@inlined
def row3(table: np.ndarray, row: int) -> Vec3:
    """One row of an (N, 3) table."""
    return table[row, 0], table[row, 1], table[row, 2]


@inlined
def minus(a: Vec3, b: Vec3) -> Vec3:
    """Difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined
def unit(a: Vec3) -> Vec3:
    """The direction of a vector; nothing for one without length."""
    length = max(math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), 1e-12)
    return a[0] / length, a[1] / length, a[2] / length


@inlined
def along(a: Vec3, b: Vec3, s: float) -> Vec3:
    """The point at the share ``s`` of the way from ``a`` to ``b``."""
    return a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])
