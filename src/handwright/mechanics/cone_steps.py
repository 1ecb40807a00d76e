"""Second-order cones in compiled code: scaling point, products, steps to the boundary.

A block is a row of a table; its first ``size`` numbers lie in the cone x0 >= |x1..|, a cone of
size 1 being the numbers from 0 up. W is the Nesterov-Todd scaling of a block, W z = W^-1 x.
"""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined


@inlined
def cone_height(x: np.ndarray, row: int, size: int) -> float:
    """The square root of x0^2 - |x1..|^2, or -1 outside the inside of the cone."""
    tail = 0.0
    for j in range(1, size):
        tail += x[row, j] * x[row, j]
    tail = np.sqrt(tail)
    # The product of sum and difference keeps its precision near the boundary.
    if x[row, 0] - tail > 0.0:
        return np.sqrt((x[row, 0] - tail) * (x[row, 0] + tail))
    return -1.0


@inlined
def scale_block(
    x: np.ndarray, z: np.ndarray, row: int, size: int, w: np.ndarray, eta: np.ndarray
) -> bool:
    """Scaling of a block from its primal and dual values; False if one is not inside."""
    hx, hz = cone_height(x, row, size), cone_height(z, row, size)
    # Written so that NaN is refused.
    if not (hx > 0.0 and hz > 0.0):
        return False
    dot = 0.0
    for j in range(size):
        dot += x[row, j] * z[row, j]
    twice = 2.0 * np.sqrt(0.5 * (1.0 + dot / (hx * hz)))
    w[row, 0] = (x[row, 0] / hx + z[row, 0] / hz) / twice
    for j in range(1, size):
        w[row, j] = (x[row, j] / hx - z[row, j] / hz) / twice
    eta[row] = np.sqrt(hx / hz)
    return True


@inlined
def scaled(
    w: np.ndarray, eta: np.ndarray, row: int, size: int, v: np.ndarray, out: np.ndarray
) -> None:
    """``out`` = W v; the two may be the same table."""
    dot = 0.0
    for j in range(1, size):
        dot += w[row, j] * v[row, j]
    head = v[row, 0]
    factor = head + dot / (1.0 + w[row, 0])
    out[row, 0] = eta[row] * (w[row, 0] * head + dot)
    for j in range(1, size):
        out[row, j] = eta[row] * (v[row, j] + w[row, j] * factor)


@inlined
def unscaled(
    w: np.ndarray, eta: np.ndarray, row: int, size: int, v: np.ndarray, out: np.ndarray
) -> None:
    """``out`` = W^-1 v; the two may be the same table."""
    dot = 0.0
    for j in range(1, size):
        dot += w[row, j] * v[row, j]
    head = v[row, 0]
    factor = dot / (1.0 + w[row, 0]) - head
    out[row, 0] = (w[row, 0] * head - dot) / eta[row]
    for j in range(1, size):
        out[row, j] = (v[row, j] + w[row, j] * factor) / eta[row]


@inlined
def step_bound(middle: np.ndarray, d: np.ndarray, row: int, size: int) -> float:
    """The reciprocal of the step along ``d`` from ``middle`` to the boundary; 0 for no bound."""
    height = cone_height(middle, row, size)
    if not height > 0.0:
        return np.inf
    head = middle[row, 0] / height
    dot = head * d[row, 0]
    for j in range(1, size):
        dot -= middle[row, j] / height * d[row, j]
    factor = (dot + d[row, 0]) / (head + 1.0) / height
    tail = 0.0
    for j in range(1, size):
        part = d[row, j] - factor * middle[row, j]
        tail += part * part
    return max(0.0, (np.sqrt(tail) - dot) / height)


@inlined
def corrector(
    middle: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    row: int,
    size: int,
    target: float,
    out: np.ndarray,
) -> None:
    """``out`` solves middle o out = target e - middle o middle - a o b (Jordan products)."""
    head, square = middle[row, 0], 0.0
    for j in range(size):
        square += middle[row, j] * middle[row, j] + a[row, j] * b[row, j]
    first = target - square
    height = cone_height(middle, row, size)
    dot = 0.0
    for j in range(1, size):
        part = -2.0 * head * middle[row, j] - a[row, 0] * b[row, j] - b[row, 0] * a[row, j]
        out[row, j] = part
        dot += middle[row, j] * part
    top = (head * first - dot) / (height * height)
    out[row, 0] = top
    for j in range(1, size):
        out[row, j] = (out[row, j] - top * middle[row, j]) / head
