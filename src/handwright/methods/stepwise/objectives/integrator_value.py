"""The best cost of a triple integrator from any state, for all time: a Riccati equation, compiled.

Let ``x+ = A x + b j`` cost ``x' Q x + j²`` in a frame, and let the best cost of twice as many
frames be asked for. Of ``2^k`` frames it is a quadratic form H of the first state; with C for what
changes can do to the last state (G = C C'), and A for what it is without any,

    A+ = A W A,   G+ = G + A W G A',   H+ = H + A' H W A,   W = (1 + G H)⁻¹,

which is known as structure-preserving doubling. With the Cholesky factor L of ``1 + C' H C``,

    U = L⁻¹ C' H A,   V = L⁻¹ C' A':   A+ = A A - V' U,   G+ = G + V' V,   H+ = H + A' H A - U' U,

which inverts nothing that is near singular, however large Q is. About ten rounds are a thousand
frames and more.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled

_NUM_ROUNDS = 40
# Rounds end when one adds no more than this share.
_SETTLED = 1e-17


@compiled
def _factor(matrix: np.ndarray) -> np.ndarray:
    """Lower triangle whose square is a matrix that may be singular."""
    size = len(matrix)
    lower = np.zeros((size, size))
    for j in range(size):
        left = matrix[j, j]
        for k in range(j):
            left -= lower[j, k] ** 2
        # What rounding leaves of zero.
        if left <= 1e-30 * matrix[j, j]:
            continue
        lower[j, j] = np.sqrt(left)
        for i in range(j + 1, size):
            value = matrix[i, j]
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            lower[i, j] = value / lower[j, j]
    return lower


@compiled
def _solved(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``lower⁻¹ right``."""
    found = right.copy()
    for i in range(len(lower)):
        for n in range(found.shape[1]):
            value = found[i, n]
            for k in range(i):
                value -= lower[i, k] * found[k, n]
            found[i, n] = value / lower[i, i]
    return found


@compiled
def integrator_values(
    scales: Float[np.ndarray, " T"], stage: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "T 3 3"]:
    """Values of states (position, velocity, acceleration) in frames as the unit of time.

    Args:
        scales: Factors of the cost of a state; each gives one value.
        stage: What squares of the three cost in a frame; a squared change of acceleration costs 1.
    """
    values = np.zeros((len(scales), 3, 3))
    one = np.eye(3)
    for n in range(len(scales)):
        moved = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
        control = np.zeros((3, 3))
        control[:, 0] = 1.0
        value = np.diag(scales[n] * stage)
        for _ in range(_NUM_ROUNDS):
            lower = _factor(one + control.T @ value @ control)
            by_value = _solved(lower, control.T @ value @ moved)
            by_change = _solved(lower, control.T @ moved.T)
            added = moved.T @ value @ moved - by_value.T @ by_value
            control = _factor(control @ control.T + by_change.T @ by_change)
            moved = moved @ moved - by_change.T @ by_value
            value = value + added
            if np.abs(added).max() <= _SETTLED * np.abs(value).max():
                break
        values[n] = value
    return values
