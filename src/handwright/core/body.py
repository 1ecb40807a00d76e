"""A rigid object that hands can hold: its surface, its mass and its friction."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from handwright.errors import InvalidValueError

_RELATIVE_SLACK = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class RigidBody:
    """A closed triangle mesh with mass properties, in its own frame.

    The mesh is closed and its faces turn anticlockwise seen from outside; makers in
    ``handwright.geometry`` guarantee that, this class checks only what is cheap.

    Attributes:
        name: What the body is called in problems, files and messages.
        vertices: Corners of the surface in the body frame, metres.
        faces: Indices into ``vertices``, three a triangle.
        mass: Kilograms.
        center: Centre of mass in the body frame, metres.
        inertia: Moments about ``center`` in body axes, kg m^2.
        friction: Coulomb coefficient against skin.
        sharp_edges: Vertex pairs of the edges where the surface turns abruptly.
        color: Red, green, blue, each from 0 to 1.
    """

    name: str
    vertices: Float[np.ndarray, "V 3"]
    faces: Int[np.ndarray, "F 3"]
    mass: float
    center: Float[np.ndarray, "3"]
    inertia: Float[np.ndarray, "3 3"]
    friction: float
    sharp_edges: Int[np.ndarray, "E 2"]
    color: tuple[float, float, float] = (0.62, 0.64, 0.67)

    def __post_init__(self) -> None:
        for field, dtype in _ARRAYS.items():
            array = np.asarray(getattr(self, field)).astype(dtype, order="C")
            array.setflags(write=False)
            object.__setattr__(self, field, array)
        object.__setattr__(self, "color", tuple(float(c) for c in self.color))
        object.__setattr__(self, "mass", float(self.mass))
        object.__setattr__(self, "friction", float(self.friction))
        problems = [*_surface_problems(self), *_mass_problems(self)]
        if problems:
            listed = "\n".join(f"  - {problem}" for problem in problems)
            raise InvalidValueError(f"Body '{self.name}' cannot be used:\n{listed}")

    def __repr__(self) -> str:
        size = " x ".join(f"{1e3 * side:.0f}" for side in np.ptp(self.bounds, axis=0))
        return (
            f"RigidBody({self.name!r}, {size} mm, {self.mass:.3g} kg, friction {self.friction:g}, "
            f"{len(self.faces)} faces)"
        )

    @property
    def content_hash(self) -> str:
        """SHA-256 of the surface in hex: the key under which distance fields are kept."""
        digest = hashlib.sha256()
        for array in (self.vertices.astype("<f8"), self.faces.astype("<i8")):
            digest.update(repr(array.shape).encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    @property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        """Lowest and highest corner of the box around the surface, metres."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @property
    def radius_of_gyration(self) -> float:
        """Root mean square distance of the mass from its centre, metres."""
        # The trace of the inertia counts every squared distance twice.
        return math.sqrt(float(np.trace(self.inertia)) / (2.0 * self.mass))

    def with_mass(self, mass: float) -> RigidBody:
        """The same body, heavier or lighter (kg) in every part by the same factor."""
        # An invalid mass must reach the check below rather than divide or flip the inertia.
        factor = mass / self.mass if mass > 0.0 else 1.0
        return dataclasses.replace(self, mass=mass, inertia=self.inertia * factor)

    def with_friction(self, friction: float) -> RigidBody:
        """The same body with another Coulomb coefficient."""
        return dataclasses.replace(self, friction=friction)

    def scaled(self, scale: float) -> RigidBody:
        """The body grown by ``scale`` about the origin of its frame, its density kept."""
        if not (math.isfinite(scale) and scale > 0.0):
            raise InvalidValueError(
                f"Body '{self.name}': scale is {scale!r}; expected a positive finite number."
            )
        return dataclasses.replace(
            self,
            vertices=self.vertices * scale,
            center=self.center * scale,
            mass=self.mass * scale**3,
            inertia=self.inertia * scale**5,
        )


_ARRAYS = {
    "vertices": np.float64,
    "faces": np.int64,
    "center": np.float64,
    "inertia": np.float64,
    "sharp_edges": np.int64,
}


def _surface_problems(body: RigidBody) -> list[str]:
    problems = []
    if not body.name:
        problems.append("name is empty; give a short one such as 'mug'.")
    for field, width in (("vertices", 3), ("faces", 3), ("sharp_edges", 2)):
        array = getattr(body, field)
        if array.ndim != 2 or array.shape[1] != width:
            problems.append(f"{field} has shape {array.shape}; expected (any, {width}).")
        elif len(array) == 0 and field != "sharp_edges":
            problems.append(f"{field} is empty; a body needs a surface.")
    if body.vertices.ndim == 2:
        bad = np.flatnonzero(~np.isfinite(body.vertices).all(axis=1))
        if bad.size:
            problems.append(f"{bad.size} vertices are not finite, the first is number {bad[0]}.")
    for field in ("faces", "sharp_edges"):
        indices = getattr(body, field)
        if indices.size and (indices.min() < 0 or indices.max() >= len(body.vertices)):
            problems.append(
                f"{field} points to vertices {indices.min()} to {indices.max()}; "
                f"expected 0 to {len(body.vertices) - 1}."
            )
    if len(body.color) != 3 or not all(0.0 <= c <= 1.0 for c in body.color):
        problems.append(f"color is {body.color}; expected three numbers from 0 to 1.")
    return problems


def _mass_problems(body: RigidBody) -> list[str]:
    problems = []
    if not (math.isfinite(body.mass) and body.mass > 0.0):
        problems.append(f"mass is {body.mass} kg; expected a positive finite number.")
    if not (math.isfinite(body.friction) and body.friction >= 0.0):
        problems.append(f"friction is {body.friction}; expected a finite number, 0 or more.")
    if body.center.shape != (3,) or not np.isfinite(body.center).all():
        problems.append(f"center is {body.center.tolist()}; expected three finite numbers.")
    inertia = body.inertia
    if inertia.shape != (3, 3) or not np.isfinite(inertia).all():
        problems.append(f"inertia is {inertia.tolist()}; expected 3 x 3 finite numbers.")
        return problems
    slack = _RELATIVE_SLACK * float(np.abs(inertia).max())
    if float(np.abs(inertia - inertia.T).max()) > slack:
        problems.append("inertia is not symmetric; pass (I + I.T) / 2 if that is rounding.")
        return problems
    low, middle, high = np.linalg.eigvalsh(inertia)
    if low <= 0.0:
        problems.append(
            f"inertia has principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg m^2; "
            "expected all positive."
        )
    elif high > low + middle + slack:
        problems.append(
            f"inertia has principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg m^2; "
            "no mass distribution has one moment above the sum of the other two."
        )
    return problems
