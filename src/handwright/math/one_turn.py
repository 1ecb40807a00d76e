"""Single rotations as unit quaternions ``wxyz``, for what is asked many times a second.

The same as in ``rotation``, without batches and checks: for one rotation numpy spends nearly all
its time on sorting out shapes, twenty times as long as the arithmetic takes.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float


def matrix_of(wxyz: Float[np.ndarray, "4"]) -> Float[np.ndarray, "3 3"]:
    """Rotation matrix, acting on column vectors."""
    w, x, y, z = wxyz.tolist()
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def of_matrix(matrix: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "4"]:
    """Quaternion of a rotation matrix, with w >= 0."""
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    # Rows of 4 q q^T: that of the largest component loses the fewest digits.
    rows = (
        (1.0 + a + e + i, h - f, c - g, d - b),
        (h - f, 1.0 + a - e - i, d + b, c + g),
        (c - g, d + b, 1.0 - a + e - i, h + f),
        (d - b, c + g, h + f, 1.0 - a - e + i),
    )
    best = max(range(4), key=lambda n: rows[n][n])
    size = math.copysign(math.sqrt(sum(part * part for part in rows[best])), rows[best][0])
    return np.array([part / size for part in rows[best]])


def multiplied(a: Float[np.ndarray, "4"], b: Float[np.ndarray, "4"]) -> Float[np.ndarray, "4"]:
    """The second rotation, then the first."""
    return np.array(_product(a.tolist(), b.tolist()))


def turned_by(
    wxyz: Float[np.ndarray, "4"], rotvec: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "4"]:
    """A rotation after a turn about its own axes, given as axis times angle, rad."""
    x, y, z = rotvec.tolist()
    angle = math.sqrt(x * x + y * y + z * z)
    scale = math.sin(0.5 * angle) / angle if angle > 0.0 else 0.5
    product = _product(wxyz.tolist(), (math.cos(0.5 * angle), scale * x, scale * y, scale * z))
    size = math.sqrt(sum(part * part for part in product))
    return np.array([part / size for part in product])


def turn_to(start: Float[np.ndarray, "4"], end: Float[np.ndarray, "4"]) -> Float[np.ndarray, "3"]:
    """Shortest turn from one rotation to another, axis times angle, rad, in the parent's axes."""
    w, x, y, z = start.tolist()
    return _shortest(_product(end.tolist(), (w, -x, -y, -z)))


def own_turn_to(
    start: Float[np.ndarray, "4"], end: Float[np.ndarray, "4"]
) -> Float[np.ndarray, "3"]:
    """As ``turn_to``, in the axes of the first rotation."""
    w, x, y, z = start.tolist()
    return _shortest(_product((w, -x, -y, -z), end.tolist()))


def _product(
    a: list[float] | tuple[float, ...], b: list[float] | tuple[float, ...]
) -> tuple[float, float, float, float]:
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def _shortest(wxyz: tuple[float, float, float, float]) -> Float[np.ndarray, "3"]:
    """Axis times angle; of q and -q the one whose first nonzero component is positive."""
    lead = next((part for part in wxyz if part != 0.0), 1.0)
    w, x, y, z = wxyz if lead > 0.0 else tuple(-part for part in wxyz)
    sine = math.sqrt(x * x + y * y + z * z)
    # atan2 keeps its digits at the identity and at half a turn.
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 0.0 else 2.0
    return np.array([x * scale, y * scale, z * scale])
