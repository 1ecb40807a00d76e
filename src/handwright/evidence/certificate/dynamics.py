"""What a body's motion asks of the forces on it, by central differences.

The scheme: velocities in the middle between two frames are the difference of the poses over the
time between them (turns by the rotation vector from one frame to the next); momenta are formed
there, the angular one with the inertia turned to the middle pose; their rates at a frame are the
difference of the momenta on its two sides. A parabola is exact, errors fall with the square of the
frame time. At the first and the last frame the rates go on in line with those of the two frames
beside them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.evidence.low_pass import LowPass
from handwright.math import rotation
from handwright.math.pose import Pose


class Wrench(NamedTuple):
    """What contacts must give to a body, in the world."""

    force: Float[np.ndarray, "T 3"]
    """N: rate of linear momentum less gravity's pull."""
    moment: Float[np.ndarray, "T 3"]
    """N m about the centre of mass: rate of angular momentum."""
    center: Float[np.ndarray, "T 3"]
    """Centre of mass, m."""


def required_wrench(
    body: RigidBody,
    pose: Pose,
    times: Float[np.ndarray, " T"],
    gravity: Float[np.ndarray, "3"],
    *,
    smoothing_hz: float | None = None,
) -> Wrench:
    """Force and moment that contacts must give so that the body moves as shown.

    Args:
        body: Mass and inertia.
        pose: (T,) poses of the body.
        times: s.
        gravity: m/s^2.
        smoothing_hz: Cut-off (half power) of a Gaussian low-pass laid over noisy tracks before
            they are differentiated; None to take the motion as it is.
    """
    center = pose.apply(body.center)
    # The centre of mass is smoothed, not the origin: a thrown body then keeps its parabola.
    smooth = LowPass.at(times, smoothing_hz).poses(Pose(center, pose.wxyz))
    momentum, spin = _momenta(body, smooth, times)
    force = _rates(momentum, times) - body.mass * gravity
    return Wrench(force, _rates(spin, times), center)


def _momenta(
    body: RigidBody, pose: Pose, times: Float[np.ndarray, " T"]
) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum between each two frames, (T - 1, 3); poses of the centre."""
    step = np.diff(times)[:, None]
    turn = rotation.log(rotation.multiply(pose.wxyz[1:], rotation.conjugate(pose.wxyz[:-1])))
    middle = rotation.multiply(rotation.exp(0.5 * turn), pose.wxyz[:-1])
    local = rotation.rotate(rotation.conjugate(middle), turn / step)
    spin = rotation.rotate(middle, local @ body.inertia.T)
    return body.mass * np.diff(pose.position, axis=0) / step, spin


def _rates(momentum: np.ndarray, times: Float[np.ndarray, " T"]) -> np.ndarray:
    """Rates at the frames, from values between them."""
    if len(times) < 3:
        return np.zeros((len(times), 3))
    inner = np.diff(momentum, axis=0) / (0.5 * (times[2:] - times[:-2]))[:, None]
    if len(inner) == 1:
        return np.repeat(inner, 3, axis=0)
    ends = []
    for end, near, far in ((0, 1, 2), (-1, -2, -3)):
        reach = (times[end] - times[near]) / (times[near] - times[far])
        # The rates between start one frame later than the frames.
        first, second = (inner[0], inner[1]) if end == 0 else (inner[-1], inner[-2])
        ends.append(first + reach * (first - second))
    return np.concatenate([ends[:1], inner, ends[1:]])
