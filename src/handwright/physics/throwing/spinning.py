"""Long things that spin: their axis, how it turns in flight, and palms that lie across it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.math import rotation

# Moments of inertia across the axis over that about it, from which on a thing is long.
_LONG = 1.5


def long_axis(body: RigidBody) -> Float[np.ndarray, "3"] | None:
    """Direction of a can, rod or club in its own frame; None for what is as wide as it is long."""
    moments, axes = np.linalg.eigh(body.inertia)
    return axes[:, 0] if moments[1] > _LONG * moments[0] else None


class Tumble(NamedTuple):
    """Free turning of a thing that is much alike all around its axis."""

    start: float
    """When the figures below hold, s."""
    axis: Float[np.ndarray, "3"]
    """Direction of its long axis in the world."""
    precession: Float[np.ndarray, "3"]
    """Angular velocity with which that direction turns, rad/s: it does not change in flight."""

    @staticmethod
    def of(
        body: RigidBody,
        own_axis: Float[np.ndarray, "3"],
        wxyz: Float[np.ndarray, "4"],
        rate: Float[np.ndarray, "3"],
        time: float,
    ) -> Tumble:
        """How a thing turns from a moment on.

        Args:
            body: The thing.
            own_axis: Its long axis, in its own frame.
            wxyz: Its orientation.
            rate: Its angular velocity in the world, rad/s.
            time: s.
        """
        axis = rotation.rotate(wxyz, own_axis)
        along = float(own_axis @ body.inertia @ own_axis)
        across = 0.5 * (float(np.trace(body.inertia)) - along)
        # Angular momentum over the moment across: a symmetric top turns about it evenly.
        return Tumble(time, axis, rate + (along / across - 1.0) * float(rate @ axis) * axis)

    def at(self, times: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 3"]:
        """Direction of the axis at times."""
        turn = rotation.exp((times - self.start)[:, None] * self.precession)
        return rotation.rotate(turn, self.axis)


def laid_across(
    wxyz: Float[np.ndarray, "4"], axis: Float[np.ndarray, "3"], most: float
) -> Float[np.ndarray, "4"]:
    """Orientation of a wrist whose palm lies across an axis, turned as little as that takes.

    Args:
        wxyz: Orientation to start from.
        axis: Of the thing; its sense does not matter.
        most: Largest turn, rad.
    """
    across = rotation.rotate(wxyz, np.array([0.0, 1.0, 0.0]))
    wanted = axis if float(axis @ across) >= 0.0 else -axis
    turn = rotation.log(rotation.between(across, wanted))
    angle = float(np.linalg.norm(turn))
    return rotation.multiply(rotation.exp(turn * min(1.0, most / max(angle, 1e-9))), wxyz)
