"""How a body turns: angular momentum between frames, orientation at them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled

_NUM_ROUNDS = 30
_SETTLED = 1e-13


@compiled
def _exp(turn: np.ndarray) -> np.ndarray:
    angle = np.sqrt((turn**2).sum())
    half = 0.5 * angle
    scale = 0.5 - half * half / 12.0 if angle < 1e-4 else np.sin(half) / angle
    return np.array([np.cos(half), scale * turn[0], scale * turn[1], scale * turn[2]])


@compiled
def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array(
        [
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        ]
    )


@compiled
def _matrix(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q[0], q[1], q[2], q[3]
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


@compiled
def midpoint_rotation(wxyz: np.ndarray, rate: np.ndarray, step: float) -> np.ndarray:
    """Rotation matrix half a frame on, at an angular velocity."""
    return _matrix(_times(_exp(0.5 * step * rate), wxyz))


@compiled
def advance_rotation(
    inverse: Float[np.ndarray, "3 3"],
    wxyz: Float[np.ndarray, "4"],
    rate: Float[np.ndarray, "3"],
    spin: Float[np.ndarray, "3"],
    step: float,
) -> tuple:
    """Angular velocity whose momentum, in the pose half a frame on, is given; and the next pose.

    Args:
        inverse: Inverse of the inertia in the body's axes, 1/(kg m^2).
        wxyz: Orientation now.
        rate: Angular velocity of the last frame, rad/s, where the search begins.
        spin: Angular momentum, kg m^2/s.
        step: Length of the frame, s.
    """
    for _ in range(_NUM_ROUNDS):
        middle = midpoint_rotation(wxyz, rate, step)
        found = middle @ (inverse @ (middle.T @ spin))
        change = np.abs(found - rate).max()
        rate = found
        if change <= _SETTLED * (1.0 + np.abs(rate).max()):
            break
    turned = _times(_exp(step * rate), wxyz)
    return rate, turned / np.sqrt((turned**2).sum())
