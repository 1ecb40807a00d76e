"""Mass, centre and inertia of a solid capsule."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.geometry.mesh.inertia import MassProperties


def capsule_volume(length: float, radius: float) -> float:
    """Volume, m^3, of a capsule whose axis has the given length, m."""
    return float(np.pi * radius**2 * (length + 4.0 / 3.0 * radius))


def capsule_properties(
    start: Float[np.ndarray, " 3"], end: Float[np.ndarray, " 3"], radius: float, mass: float
) -> MassProperties:
    """Properties of a uniform solid capsule; a sphere when its ends coincide.

    Args:
        start: One end of the axis, m.
        end: Other end of the axis, m.
        radius: m.
        mass: kg.
    """
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(end - start))
    axis = (end - start) / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
    tube = np.pi * radius**2 * length
    density = mass / capsule_volume(length, radius)
    tube_mass = density * tube
    cap_mass = 0.5 * (mass - tube_mass)
    # A half ball has its centre of mass 3/8 r from its flat face.
    along = 0.5 * tube_mass * radius**2 + 2.0 * cap_mass * 0.4 * radius**2
    across = tube_mass * (0.25 * radius**2 + length**2 / 12.0) + 2.0 * cap_mass * (
        0.4 * radius**2 + 0.25 * length**2 + 0.375 * length * radius
    )
    outer = np.outer(axis, axis)
    inertia = along * outer + across * (np.eye(3) - outer)
    return MassProperties(mass, 0.5 * (start + end), inertia)
