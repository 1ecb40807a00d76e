"""Where a picture is taken from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class Camera:
    """Looks at a point from a direction; Z is up in the picture.

    Attributes:
        azimuth: Direction from which it looks, turning anticlockwise about Z, rad; 0 looks from +X.
        elevation: Height of that direction above the horizon, rad; below a quarter turn.
        target: The point in the middle of the picture, m; the middle of the items if None.
        distance: From the camera to the target, m; far enough to see everything if None.
        field_of_view: Vertical opening angle, rad.
        margin: Free border when the distance is chosen, as a share of the picture.
    """

    azimuth: float = math.radians(-60.0)
    elevation: float = math.radians(25.0)
    target: tuple[float, float, float] | None = None
    distance: float | None = None
    field_of_view: float = math.radians(25.0)
    margin: float = 0.08

    def __post_init__(self) -> None:
        if not math.isfinite(self.azimuth):
            raise InvalidValueError(f"Camera: azimuth is {self.azimuth}; expected radians.")
        if not abs(self.elevation) <= math.pi / 2.0:
            raise InvalidValueError(
                f"Camera: elevation is {self.elevation}; expected radians from -pi/2 to pi/2. "
                "Use math.radians for degrees."
            )
        if not 0.0 < self.field_of_view < math.pi:
            raise InvalidValueError(
                f"Camera: field_of_view is {self.field_of_view}; expected radians between 0 and pi."
            )
        if not 0.0 <= self.margin < 0.5:
            raise InvalidValueError(
                f"Camera: margin is {self.margin}; expected a share from 0 to below 0.5."
            )
        if self.distance is not None and not self.distance > 0.0:
            raise InvalidValueError(
                f"Camera: distance is {self.distance} m; expected a positive number or None."
            )

    def axes(self) -> Float[np.ndarray, "3 3"]:
        """Unit directions in the world as rows: right, up and towards the camera."""
        sin_a, cos_a = math.sin(self.azimuth), math.cos(self.azimuth)
        sin_e, cos_e = math.sin(self.elevation), math.cos(self.elevation)
        back = np.array([cos_a * cos_e, sin_a * cos_e, sin_e])
        right = np.array([-sin_a, cos_a, 0.0])
        return np.stack([right, np.cross(back, right), back])

    def placed(
        self, points: Float[np.ndarray, "N 3"], *, aspect: float
    ) -> tuple[Float[np.ndarray, "3"], float]:
        """Target (m) and distance (m), chosen so that all points are seen where they are None.

        Args:
            points: What must be in the picture, m.
            aspect: Width of the picture over its height.
        """
        axes = self.axes()
        if self.target is None:
            # The middle as the camera sees it, which centres lopsided things too.
            seen = points @ axes.T
            target = axes.T @ ((seen.min(axis=0) + seen.max(axis=0)) / 2.0)
        else:
            target = np.asarray(self.target, dtype=np.float64)
        if self.distance is not None:
            return target, self.distance
        right, up, back = axes @ (points - target).T
        tangent = math.tan(self.field_of_view / 2.0) * (1.0 - 2.0 * self.margin)
        needed = back + np.maximum(np.abs(up) / tangent, np.abs(right) / (tangent * aspect))
        return target, max(float(needed.max()), 1e-6)

    def framing(self, points: Float[np.ndarray, "N 3"], *, aspect: float) -> Camera:
        """The camera standing still where it sees all points (m); see ``placed``."""
        target, distance = self.placed(points, aspect=aspect)
        x, y, z = target.tolist()
        return replace(self, target=(x, y, z), distance=distance)
