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
from scipy.linalg.lapack import dsygvd

from handwright.kernels.decorators import compiled
from handwright.methods.stepwise.objectives.integrator_value import integrator_values

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
    """Gradient of wanted velocities, with the sign of what is wanted."""


class Quadratic(NamedTuple):
    """A cost of velocities: ``v' H v / 2 + g' v``."""

    hessian: Float[np.ndarray, "N N"]
    gradient: Float[np.ndarray, " N"]


def value_table(step: float) -> Float[np.ndarray, "T 6"]:
    """Logarithms of the entries (xx, vv, aa, xv, xa, va) of the value by log10 of the ratio.

    All entries are positive: a state that is off in two ways in the same sense costs more.
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


class Modes(NamedTuple):
    """Motions in which costs of position and of effort are diagonal; N of N coordinates."""

    shape: Float[np.ndarray, "N N"]
    """Modes as columns."""
    reading: Float[np.ndarray, "N N"]
    """Matrix that turns coordinates into modal ones."""
    ratio: Float[np.ndarray, " N"]
    """Cost of a position over that of a change of acceleration."""
    value: Float[np.ndarray, "N 6"]
    """Entries of the value in the order of ``value_table``."""
    hessian: Float[np.ndarray, "N N"]
    """Second derivatives of the cost to go by velocities."""


@compiled
def _modal_values(ratio: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Entries of the value for modes with these ratios."""
    values = np.zeros((len(ratio), 6))
    for n in range(len(ratio)):
        place = (np.log10(max(ratio[n], 1e-300)) - _LOWEST) * _PER_DECADE
        place = min(max(place, 0.0), len(table) - 1.000001)
        row = int(place)
        share = place - row
        for i in range(6):
            values[n, i] = np.exp((1.0 - share) * table[row, i] + share * table[row + 1, i])
    return values


@compiled
def _read_modes(
    shape: np.ndarray, ratio: np.ndarray, effort: np.ndarray, table: np.ndarray, step: float
) -> tuple:
    """What ``Modes`` has beside shapes and ratios."""
    reading = shape.T @ effort
    value = _modal_values(ratio, table)
    bent = reading.copy()
    for n in range(len(ratio)):
        xx, vv, aa, xv, xa, va = value[n]
        bent[n] *= step**2 * xx + vv + aa / step**2 + 2.0 * (step * xv + xa + va / step)
    return reading, value, reading.T @ bent


@compiled
def _gradient(
    modes: Modes, position: np.ndarray, wanted: np.ndarray, velocity: np.ndarray, step: float
) -> np.ndarray:
    off, target_velocity = modes.shape.T @ position, modes.shape.T @ wanted
    before = modes.reading @ velocity
    modal_gradient = np.zeros(len(before))
    for n in range(len(before)):
        xx, vv, aa, xv, xa, va = modes.value[n]
        # With s the modal velocity and w the wanted one:
        # x = off + step (s - w), v = s - w, a = (s - before) / step.
        speed = target_velocity[n] / modes.ratio[n]
        offset = off[n] / modes.ratio[n] - step * speed
        modal_gradient[n] = (
            (step * xx + xv + xa / step) * offset
            - (step * xv + vv + va / step) * speed
            - (step * xa + va + aa / step) * before[n] / step
        )
    return modes.reading.T @ modal_gradient


def common_modes(
    stiffness: Float[np.ndarray, "N N"], effort: Float[np.ndarray, "N N"], step: float
) -> Modes:
    """Makes both costs diagonal.

    Args:
        stiffness: Cost of positions: ``x' Q x / 2``; positive definite.
        effort: Cost of changes of acceleration: ``j' R j / 2``; positive definite.
        step: Length of a frame, s.
    """
    # Symmetric matrices are their own transposes, which are laid out as the solver wants them.
    ratio, shape, info = dsygvd(stiffness.T, effort.T)
    if info != 0:
        raise np.linalg.LinAlgError(f"no modes; dsygvd says {info}")
    ratio = np.maximum(ratio, 1e-30)
    reading, value, hessian = _read_modes(shape, ratio, effort, value_table(step), step)
    return Modes(shape, reading, ratio, value, hessian)


def cost_to_go(
    modes: Modes, errors: Errors, velocity: Float[np.ndarray, " N"], step: float
) -> Quadratic:
    """The cost of the state after a frame, as a function of the velocities during it.

    The velocity is that before the frame, the step its length, s.
    """
    gradient = _gradient(modes, errors.position, errors.velocity, velocity, step)
    return Quadratic(modes.hessian, gradient)
