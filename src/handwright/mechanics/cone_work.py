"""Blocks of the interior-point method: their memory, scaling, products, steps to the boundary.

A block is a row of a table; its first ``size`` numbers lie in the cone x0 >= |x1..|, a cone of
size 1 being the numbers from 0 up. W is the Nesterov-Todd scaling of a block, W z = W^-1 x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import inlined


class ConeBlocks(NamedTuple):
    """Blocks of one kind, a row each: their values, steps and scalings."""

    x: np.ndarray
    """Values."""
    z: np.ndarray
    """Duals."""
    dx: np.ndarray
    dz: np.ndarray
    w: np.ndarray
    """Scaling, with ``eta``."""
    eta: np.ndarray
    middle: np.ndarray
    """Scaled point."""
    a: np.ndarray
    """Scaled step of the values."""
    b: np.ndarray
    """Scaled step of the duals."""
    right: np.ndarray
    """Right sides."""


class ConeWork(NamedTuple):
    """Memory of ``solve_cones`` for up to so many contacts N."""

    force: Float[np.ndarray, "N 3"]
    """Result: forces on the body, N, world axes."""
    residual: Float[np.ndarray, "6"]
    """Result: wrench wanted minus wrench of the forces, N and N m."""
    columns: np.ndarray
    rooted: np.ndarray
    root: np.ndarray
    share: np.ndarray
    price: np.ndarray
    cap: np.ndarray
    cones: ConeBlocks
    """N cones."""
    slack: ConeBlocks
    """The residual."""
    room: ConeBlocks
    """Up to N numbers: what is left to the caps."""
    slack_turn: np.ndarray
    normal_matrix: np.ndarray
    wanted: np.ndarray
    missing: np.ndarray
    dy: np.ndarray


def _blocks(count: int, size: int) -> ConeBlocks:
    tables = {name: np.zeros((count, size)) for name in ConeBlocks._fields}
    return ConeBlocks(**tables | {"eta": np.zeros(count)})


def make_cone_work(capacity: int) -> ConeWork:
    """Memory for problems of up to ``capacity`` contacts."""
    return ConeWork(
        force=np.zeros((capacity, 3)),
        residual=np.zeros(6),
        columns=np.zeros((capacity, 3, 6)),
        rooted=np.zeros((capacity, 3, 6)),
        root=np.zeros((capacity, 3, 3)),
        share=np.zeros((capacity, 4)),
        price=np.zeros(capacity),
        cap=np.zeros(capacity),
        cones=_blocks(capacity, 3),
        slack=_blocks(1, 7),
        room=_blocks(capacity, 1),
        slack_turn=np.zeros((1, 7)),
        normal_matrix=np.zeros((6, 6)),
        wanted=np.zeros(6),
        missing=np.zeros(6),
        dy=np.zeros(6),
    )


@inlined
def _height(x: np.ndarray, row: int, size: int) -> float:
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
def _scale(block: ConeBlocks, row: int, size: int) -> bool:
    """Scaling of a block from its primal and dual values; False if one is not inside."""
    x, z, w, eta = block.x, block.z, block.w, block.eta
    hx, hz = _height(x, row, size), _height(z, row, size)
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
def scaled(block: ConeBlocks, row: int, size: int, v: np.ndarray, out: np.ndarray) -> None:
    """``out`` = W v; the two may be the same table."""
    w, eta = block.w, block.eta
    dot = 0.0
    for j in range(1, size):
        dot += w[row, j] * v[row, j]
    head = v[row, 0]
    factor = head + dot / (1.0 + w[row, 0])
    out[row, 0] = eta[row] * (w[row, 0] * head + dot)
    for j in range(1, size):
        out[row, j] = eta[row] * (v[row, j] + w[row, j] * factor)


@inlined
def _unscaled(block: ConeBlocks, row: int, size: int, v: np.ndarray, out: np.ndarray) -> None:
    """``out`` = W^-1 v; the two may be the same table."""
    w, eta = block.w, block.eta
    dot = 0.0
    for j in range(1, size):
        dot += w[row, j] * v[row, j]
    head = v[row, 0]
    factor = dot / (1.0 + w[row, 0]) - head
    out[row, 0] = (w[row, 0] * head - dot) / eta[row]
    for j in range(1, size):
        out[row, j] = (v[row, j] + w[row, j] * factor) / eta[row]


@inlined
def _step_bound(middle: np.ndarray, d: np.ndarray, row: int, size: int) -> float:
    """The reciprocal of the step along ``d`` from ``middle`` to the boundary; 0 for no bound."""
    height = _height(middle, row, size)
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
def corrector(block: ConeBlocks, row: int, size: int, target: float) -> None:
    """``right`` = W r with middle o r = target e - middle o middle - a o b (Jordan products)."""
    middle, a, b, out = block.middle, block.a, block.b, block.right
    head, square = middle[row, 0], 0.0
    for j in range(size):
        square += middle[row, j] * middle[row, j] + a[row, j] * b[row, j]
    first = target - square
    height = _height(middle, row, size)
    dot = 0.0
    for j in range(1, size):
        part = -2.0 * head * middle[row, j] - a[row, 0] * b[row, j] - b[row, 0] * a[row, j]
        out[row, j] = part
        dot += middle[row, j] * part
    top = (head * first - dot) / (height * height)
    out[row, 0] = top
    for j in range(1, size):
        out[row, j] = (out[row, j] - top * middle[row, j]) / head
    scaled(block, row, size, out, out)


@inlined
def measured(block: ConeBlocks, row: int, size: int, gap: float) -> float:
    """Scales a block and adds to the gap what it has; NaN if the block left its cone."""
    if not _scale(block, row, size):
        return np.nan
    scaled(block, row, size, block.z, block.middle)
    for j in range(size):
        gap += block.middle[row, j] ** 2
    return gap


@inlined
def step_bounds(block: ConeBlocks, row: int, size: int) -> tuple[float, float]:
    """Scaled steps of a block, and their reciprocal lengths to the boundary."""
    _unscaled(block, row, size, block.dx, block.a)
    scaled(block, row, size, block.dz, block.b)
    primal = _step_bound(block.middle, block.a, row, size)
    return primal, _step_bound(block.middle, block.b, row, size)


@inlined
def move_block(block: ConeBlocks, row: int, size: int, primal: float, dual: float) -> None:
    """Takes a share of the steps of a block."""
    for j in range(size):
        block.x[row, j] += primal * block.dx[row, j]
        block.z[row, j] += dual * block.dz[row, j]
