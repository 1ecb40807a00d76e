"""What all shapes share: checked dimensions, and a body with its origin at the centre of mass."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.edges import sharp_edges
from handwright.geometry.mesh.inertia import MassProperties, solid_properties

Color = tuple[float, float, float]
"""Red, green, blue, each from 0 to 1."""

WOOD = 700.0
PLASTIC = 1050.0
WATER = 1000.0
CARDBOARD = 800.0
CERAMIC = 2300.0
GLASS = 2500.0
ALUMINIUM = 2700.0
STEEL = 7850.0
"""Densities, kg / m^3."""

# Cubes of larger numbers would lose themselves.
_LARGEST = 1e6


def check_dimensions(shape: str, **dimensions: float) -> None:
    """Raises unless every dimension is positive and not beyond reason, listing all that are not."""
    bad = {name: value for name, value in dimensions.items() if not 0.0 < value <= _LARGEST}
    if bad:
        given = ", ".join(f"{name}={value!r}" for name, value in bad.items())
        raise InvalidValueError(
            f"Shape '{shape}': {given}; expected positive finite numbers (metres, kilograms), at "
            f"most {_LARGEST:g}."
        )


def make_body(
    name: str,
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    friction: float,
    color: Color,
    density: float | None = None,
    mass: float | None = None,
    properties: MassProperties | None = None,
) -> RigidBody:
    """A body whose frame is moved to its centre of mass.

    Args:
        name: Name of the shape.
        vertices: Metres, Z up.
        faces: Outward-oriented triangles of a closed surface.
        friction: Coulomb coefficient against skin.
        color: Red, green, blue.
        density: kg / m^3 of a solid of one material; or give ``properties``.
        mass: Kilograms; overrides the total, keeping the distribution.
        properties: Mass properties of a hollow or composite body.
    """
    if properties is None:
        properties = solid_properties(vertices, faces, density=density or WATER)
    if mass is not None:
        check_dimensions(name, mass=mass)
        properties = properties.with_mass(mass)
    return RigidBody(
        name=name,
        vertices=vertices - properties.center,
        faces=faces,
        mass=properties.mass,
        center=np.zeros(3),
        inertia=properties.inertia,
        friction=friction,
        sharp_edges=sharp_edges(vertices, faces),
        color=color,
    )
