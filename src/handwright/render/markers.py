"""Small things that come and go from frame to frame: balls and arrows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError
from handwright.hands.colors import Color
from handwright.physics.engine import mujoco


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """A ball, or an arrow if it has a tail."""

    point: Float[np.ndarray, "3"]
    """Middle of the ball or tip of the arrow, m."""
    radius: float
    """Of the ball or of the arrow's shaft, m."""
    color: Color
    tail: Float[np.ndarray, "3"] | None = None
    """Where the arrow starts, m."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        if not self.radius > 0.0:
            raise InvalidValueError(
                f"Marker: radius is {self.radius} m; expected a positive number."
            )


def place_marker(geom: mujoco.MjvGeom, marker: Marker) -> None:
    """Makes a thing in MuJoCo's scene look like the marker."""
    kind = mujoco.mjtGeom.mjGEOM_SPHERE if marker.tail is None else mujoco.mjtGeom.mjGEOM_ARROW
    rgba = np.array([*marker.color, 1.0], dtype=np.float32)
    size = np.full(3, marker.radius)
    mujoco.mjv_initGeom(geom, kind, size, marker.point, np.eye(3).reshape(-1), rgba)
    if marker.tail is not None:
        # An arrow is drawn half as long as its connector.
        end = marker.tail + 2.0 * (marker.point - marker.tail)
        mujoco.mjv_connector(geom, kind, marker.radius, marker.tail, end)
    # As a decoration, which it is by default, it would cast no shadow.
    geom.category = mujoco.mjtCatBit.mjCAT_DYNAMIC
    geom.specular, geom.shininess = 0.25, 0.35
