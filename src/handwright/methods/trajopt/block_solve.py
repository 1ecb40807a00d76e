"""Symmetric block-tridiagonal systems, open or closed to a ring."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.linalg import lapack
from scipy.linalg.blas import dtrsm


class NotPositiveError(ArithmeticError):
    """The matrix has a direction without curvature; more damping is needed."""


def solve_blocks(
    diagonal: Float[np.ndarray, "K n n"],
    below: Float[np.ndarray, "K n n"],
    right: Float[np.ndarray, "K n"],
    *,
    is_ring: bool = False,
) -> Float[np.ndarray, "K n"]:
    """Solves a symmetric positive definite system.

    Args:
        diagonal: Blocks of which the lower half is read.
        below: ``below[k]`` couples rows of key k + 1 to columns of key k; the last one, read only
            for a ring, couples key 0 (rows) to the last key (columns).
        right: Right hand side.
        is_ring: Whether the last key is a neighbour of the first.

    Raises:
        NotPositiveError: The matrix is not positive definite.
    """
    if not is_ring or len(diagonal) < 3:
        return _solve_open(diagonal, below, right[..., None])[..., 0]
    # The last key borders on the open chain of the others at both ends.
    last, size = len(diagonal) - 1, diagonal.shape[1]
    border = np.zeros((last, size, size))
    border[0] += below[last]
    border[last - 1] += below[last - 1].T
    columns = np.concatenate([border, right[:last, :, None]], axis=2)
    solved = _solve_open(diagonal[:last], below[: last - 1], columns)
    into, alone = solved[..., :size], solved[..., size]
    full = np.tril(diagonal[last]) + np.tril(diagonal[last], -1).T
    core = full - np.einsum("kai,kaj->ij", border, into)
    rest = right[last] - np.einsum("kai,ka->i", border, alone)
    end = _solve_open(core[None], below[:0], rest[None, :, None])[0, :, 0]
    return np.concatenate([alone - into @ end, end[None]])


def _solve_open(diagonal: np.ndarray, below: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Cholesky along the chain; ``right`` is (K, n, columns)."""
    count = len(diagonal)
    factors: list[np.ndarray] = []
    links: list[np.ndarray] = []
    partial: list[np.ndarray] = []
    carried: np.ndarray | None = None
    for k in range(count):
        block, column = diagonal[k].copy(order="F"), np.array(right[k], order="F")
        if carried is not None:
            block -= carried.T @ carried
            column -= carried.T @ partial[-1]
        factor, info = lapack.dpotrf(block, lower=1, overwrite_a=1, clean=0)
        if info != 0:
            raise NotPositiveError
        factors.append(factor)
        partial.append(dtrsm(1.0, factor, column, lower=1))
        if k + 1 < count:
            # inverse(L) B' for the coupling B to the next key.
            carried = dtrsm(1.0, factor, below[k].T, lower=1)
            links.append(carried)
    out = np.zeros_like(right)
    for k in range(count - 1, -1, -1):
        column = partial[k]
        if k + 1 < count:
            column = column - links[k] @ out[k + 1]
        out[k] = dtrsm(1.0, factors[k], column, lower=1, trans_a=1)
    return out
