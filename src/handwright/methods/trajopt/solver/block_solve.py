"""Symmetric block-tridiagonal systems, open or closed to a ring."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.linalg import lapack
from scipy.linalg.blas import dtrsm


class NotPositiveError(ArithmeticError):
    """The matrix is not positive definite; more damping is needed."""


def solve_blocks(
    diagonal: Sequence[Float[np.ndarray, "n n"]],
    below: Sequence[Float[np.ndarray, "m n"]],
    right: Sequence[Float[np.ndarray, " n"]],
    *,
    is_ring: bool = False,
) -> list[Float[np.ndarray, " n"]]:
    """Solves a symmetric positive definite system.

    Args:
        diagonal: Diagonal blocks, of which the lower half is read; keys may differ in size.
        below: ``below[k]`` couples rows of key k + 1 to columns of key k; the last one, read only
            for a ring, couples key 0 (rows) to the last key (columns).
        right: Right-hand side of the equations, key by key.
        is_ring: Whether the last key is a neighbour of the first; of three keys or more.

    Raises:
        NotPositiveError: The matrix is not positive definite.
    """
    if not is_ring:
        return [
            column[:, 0] for column in _solve_open(diagonal, below, [r[:, None] for r in right])
        ]
    # The last key is coupled to both ends of the open chain of the others.
    last, size = len(diagonal) - 1, len(right[-1])
    border = [np.zeros((len(right[k]), size)) for k in range(last)]
    border[0] += below[last]
    border[last - 1] += below[last - 1].T
    columns = [np.column_stack([border[k], right[k]]) for k in range(last)]
    solved = _solve_open(diagonal[:last], below, columns)
    core = np.tril(diagonal[last]) + np.tril(diagonal[last], -1).T
    rest = np.array(right[last])
    for k in range(last):
        core -= border[k].T @ solved[k][:, :size]
        rest -= border[k].T @ solved[k][:, size]
    end = _solve_open([core], (), [rest[:, None]])[0][:, 0]
    return [*(solved[k][:, size] - solved[k][:, :size] @ end for k in range(last)), end]


def _solve_open(
    diagonal: Sequence[np.ndarray], below: Sequence[np.ndarray], right: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Cholesky along the chain; each part of ``right`` has any number of columns."""
    count = len(diagonal)
    factors: list[np.ndarray] = []
    links: list[np.ndarray] = []
    partial: list[np.ndarray] = []
    for k in range(count):
        block, column = np.array(diagonal[k], order="F"), np.array(right[k], order="F")
        if k > 0:
            block -= links[-1].T @ links[-1]
            column -= links[-1].T @ partial[-1]
        factor, info = lapack.dpotrf(block, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            raise NotPositiveError
        factors.append(factor)
        partial.append(dtrsm(1.0, factor, column, lower=1))
        if k + 1 < count:
            # inverse(L) B' for the coupling B to the next key.
            links.append(dtrsm(1.0, factor, below[k].T, lower=1))
    out = partial
    for k in range(count - 1, -1, -1):
        if k + 1 < count:
            out[k] = out[k] - links[k] @ out[k + 1]
        out[k] = dtrsm(1.0, factors[k], out[k], lower=1, trans_a=1)
    return out
