"""Tables, walls and floors as the wrist sees them, which fingers stay out of.

Networks see nothing but the object. So a hand that takes a thing from a table would have its
fingers in the table, were they not kept out of it like they are kept out of the thing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.geometry.distance.environment import (
    EnvironmentArrays,
    environment_value_gradient,
    pack_environment,
)
from handwright.kernels.decorators import inlined
from handwright.math.vec3 import Vec3


class Surroundings(NamedTuple):
    """What stands still around a hand, in one frame or in each of a batch."""

    surfaces: EnvironmentArrays
    """In the world."""
    rotation: Float[np.ndarray, "N 3 3"]
    """Of the wrist in the world."""
    position: Float[np.ndarray, "N 3"]
    """Of the wrist in the world, m."""


def no_surroundings(count: int) -> Surroundings:
    """Of so many frames."""
    return Surroundings(
        pack_environment(()), np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
    )


@inlined
def clearance(around: Surroundings, row: int, point: Vec3) -> tuple[float, Vec3]:
    """Distance of a point of the wrist's frame from all surroundings, m, and the way out there.

    Infinite where there are none.
    """
    r, p = around.rotation, around.position
    x, y, z = point
    gap, gx, gy, gz, _ = environment_value_gradient(
        around.surfaces,
        p[row, 0] + r[row, 0, 0] * x + r[row, 0, 1] * y + r[row, 0, 2] * z,
        p[row, 1] + r[row, 1, 0] * x + r[row, 1, 1] * y + r[row, 1, 2] * z,
        p[row, 2] + r[row, 2, 0] * x + r[row, 2, 1] * y + r[row, 2, 2] * z,
    )
    return gap, (
        r[row, 0, 0] * gx + r[row, 1, 0] * gy + r[row, 2, 0] * gz,
        r[row, 0, 1] * gx + r[row, 1, 1] * gy + r[row, 2, 1] * gz,
        r[row, 0, 2] * gx + r[row, 1, 2] * gy + r[row, 2, 2] * gz,
    )
