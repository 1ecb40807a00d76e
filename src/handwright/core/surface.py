"""Fixed surroundings of a scene: planes with everything below them solid, and boxes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.math.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class HalfSpace:
    """Everything below a plane is solid.

    Attributes:
        normal: Direction out of the solid, in the world; made a unit vector.
        offset: ``normal . x`` of the points on the plane, metres.
        friction: Coulomb coefficient against bodies and skin.
    """

    normal: Float[np.ndarray, "3"]
    offset: float
    friction: float = 0.6

    def __post_init__(self) -> None:
        normal = np.array(self.normal, dtype=np.float64)
        if normal.shape != (3,) or not np.isfinite(normal).all() or not normal.any():
            raise InvalidValueError(
                f"HalfSpace normal is {normal.tolist()}; expected three numbers, not all zero."
            )
        if not math.isfinite(self.offset):
            raise InvalidValueError(f"HalfSpace offset is {self.offset!r}; expected metres.")
        _check_friction("HalfSpace", self.friction)
        length = math.hypot(*normal)
        # A direction already unit to rounding is kept bit for bit: files round-trip exactly.
        if abs(length - 1.0) > 4 * np.finfo(np.float64).eps:
            # By its largest number first: squares of tiny or huge ones are zero or infinite.
            normal /= np.abs(normal).max()
            normal /= np.linalg.norm(normal)
        normal.setflags(write=False)
        object.__setattr__(self, "normal", normal)


@dataclass(frozen=True, slots=True, eq=False)
class EnvironmentBox:
    """A solid box that does not move.

    Attributes:
        pose: Of the box's centre and axes in the world.
        half_extents: Half the size along each axis of the box, metres.
        friction: Coulomb coefficient against bodies and skin.
    """

    pose: Pose
    half_extents: Float[np.ndarray, "3"]
    friction: float = 0.6

    def __post_init__(self) -> None:
        half = np.array(self.half_extents, dtype=np.float64)
        if half.shape != (3,) or not np.isfinite(half).all() or not (half > 0.0).all():
            raise InvalidValueError(
                f"EnvironmentBox half_extents is {half.tolist()}; expected three positive numbers."
            )
        if self.pose.position.shape != (3,):
            raise InvalidValueError(
                f"EnvironmentBox pose holds {self.pose.position.shape[:-1]} poses; expected one."
            )
        _check_friction("EnvironmentBox", self.friction)
        half.setflags(write=False)
        object.__setattr__(self, "half_extents", half)


Surface = HalfSpace | EnvironmentBox


def _check_friction(kind: str, friction: float) -> None:
    if not (math.isfinite(friction) and friction >= 0.0):
        raise InvalidValueError(f"{kind} friction is {friction!r}; expected 0 or more.")
