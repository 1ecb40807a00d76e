"""What a state will cost from now on: an infinite horizon inside a one-frame problem.

A change of torque is the third derivative of a position. A cost that looks one frame ahead does
not see that what is begun now must be braked later, and oscillates. Here the costs of position
and of torque change are diagonalised together; what is left are triple integrators, one for each
mode, and the best cost of such a one from any state is a quadratic form that depends on a single
number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh

from handwright.methods.stepwise.integrator_value import integrator_values

# Shares of the cost of a position that its first and second derivative cost, s^2 and s^4.
_SPEED_SHARE, _ACCELERATION_SHARE = 1e-4, 1e-6
# Of log10 of the ratio of the two costs; the ratio itself is 1/s^4 and the like.
_LOWEST, _HIGHEST, _PER_DECADE = -8.0, 16.0, 10
# Of lengths of frames, s, that tell tables apart.
_DIGITS = 13


class Errors(NamedTuple):
    """Weighted errors, as gradients of half the squared costs by the coordinates."""

    position: Float[np.ndarray, " N"]
    velocity: Float[np.ndarray, " N"]
    """Of the velocities that are wished for, with the sign of a wish."""


class Quadratic(NamedTuple):
    """A cost of velocities: ``v' H v / 2 + g' v``."""

    hessian: Float[np.ndarray, "N N"]
    gradient: Float[np.ndarray, " N"]


def value_table(step: float) -> Float[np.ndarray, "T 6"]:
    """Logarithms of the entries (xx, vv, aa, xv, xa, va) of the value by log10 of the ratio.

    All entries are positive: a state that is off in two ways in the same sense costs more.

    Args:
        step: Length of a frame, s.
    """
    # Times of frames differ by rounding; a table of their own for each would be made again and
    # again.
    return _value_table(round(step, _DIGITS))


@lru_cache(maxsize=64)
def _value_table(step: float) -> Float[np.ndarray, "T 6"]:
    shares = np.array([1.0, _SPEED_SHARE / step**2, _ACCELERATION_SHARE / step**4])
    values = integrator_values(10.0 ** _exponents() * step**4, shares)
    scale = np.array([1.0, step, step**2])
    values *= np.outer(scale, scale) / step**4
    return np.log(values[:, _ROWS, _COLUMNS])


_ROWS, _COLUMNS = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])


def _exponents() -> Float[np.ndarray, " T"]:
    return np.linspace(_LOWEST, _HIGHEST, round((_HIGHEST - _LOWEST) * _PER_DECADE) + 1)


def modal_values(ratio: Float[np.ndarray, " N"], step: float) -> Float[np.ndarray, "6 N"]:
    """Entries of the value for modes with these ratios, in the order of ``value_table``."""
    table = value_table(step)
    place = (np.log10(np.maximum(ratio, 1e-300)) - _LOWEST) * _PER_DECADE
    place = np.clip(place, 0.0, len(table) - 1.000001)
    row = place.astype(np.int64)
    share = (place - row)[:, None]
    return np.asarray(np.exp((1.0 - share) * table[row] + share * table[row + 1]).T)


def cost_to_go(
    stiffness: Float[np.ndarray, "N N"],
    effort: Float[np.ndarray, "N N"],
    errors: Errors,
    velocity: Float[np.ndarray, " N"],
    step: float,
) -> Quadratic:
    """The cost of the state after a frame, as a function of the velocities during it.

    Args:
        stiffness: Cost of positions: ``x' Q x / 2``; positive definite.
        effort: Cost of changes of acceleration: ``j' R j / 2``; positive definite.
        errors: By how much positions are off now, and the velocities that are wished for.
        velocity: Before the frame.
        step: Length of a frame, s.
    """
    ratio, modes = eigh(stiffness, effort, check_finite=False)
    ratio = np.maximum(ratio, 1e-30)
    to_modes = modes.T @ effort
    off = modes.T @ errors.position / ratio
    wish = modes.T @ errors.velocity / ratio
    before = to_modes @ velocity
    xx, vv, aa, xv, xa, va = modal_values(ratio, step)
    # With s the modal velocity: x = off + step (s - wish), v = s - wish, a = (s - before) / step.
    offset = off - step * wish
    curvature = step**2 * xx + vv + aa / step**2 + 2.0 * (step * xv + xa + va / step)
    slope = (
        (step * xx + xv + xa / step) * offset
        - (step * xv + vv + va / step) * wish
        - (step * xa + va + aa / step) * before / step
    )
    return Quadratic(to_modes.T @ (curvature[:, None] * to_modes), to_modes.T @ slope)
