"""Winding numbers: how often a surface goes round a point."""

from __future__ import annotations

import igl
import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.geometry.mesh.edges import is_closed
from handwright.kernels.decorators import compiled

# How far the number that a tree gives for a closed mesh may be from a whole one.
_WHOLE = 0.05


class WindingNumber:
    """Winding numbers of a mesh; the tree is built once and held.

    The tree works in single precision. Where it gives no whole number for a closed mesh, as close
    to thin parts, the solid angles of all faces are added up in double precision.
    """

    def __init__(self, vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> None:
        """Builds the tree.

        Args:
            vertices: Metres.
            faces: Vertex indices, anticlockwise seen from outside.
        """
        self._tree = igl.FastWindingNumberBVH()
        self._tree.init(vertices, faces)
        self._corners = vertices[faces] if is_closed(faces) else None

    def at(self, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N"]:
        """The numbers at points, metres."""
        if len(points) == 0:
            return np.zeros(0)
        points = np.ascontiguousarray(points)
        number = np.atleast_1d(self._tree.winding_number(points))
        if self._corners is not None:
            vague = np.flatnonzero(np.abs(number - np.round(number)) > _WHOLE)
            number[vague] = _solid_angles(self._corners, points[vague]) / (4.0 * np.pi)
        return number

    def is_inside(self, points: Float[np.ndarray, "N 3"]) -> Bool[np.ndarray, "N"]:
        """Whether each point lies in the solid: the number is above 0.5."""
        return self.at(points) > 0.5


@compiled
def _solid_angles(
    corners: Float[np.ndarray, "F 3 3"], points: Float[np.ndarray, "N 3"]
) -> Float[np.ndarray, "N"]:
    """Solid angles of a surface, sr, after Van Oosterom and Strackee (1983)."""
    total = np.zeros(len(points))
    for n in range(len(points)):
        for f in range(len(corners)):
            ax, ay, az = corners[f, 0] - points[n]
            bx, by, bz = corners[f, 1] - points[n]
            cx, cy, cz = corners[f, 2] - points[n]
            a = np.sqrt(ax * ax + ay * ay + az * az)
            b = np.sqrt(bx * bx + by * by + bz * bz)
            c = np.sqrt(cx * cx + cy * cy + cz * cz)
            volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
            ab, bc, ca = (
                ax * bx + ay * by + az * bz,
                bx * cx + by * cy + bz * cz,
                cx * ax + cy * ay + cz * az,
            )
            total[n] += 2.0 * np.arctan2(volume, a * b * c + ab * c + bc * a + ca * b)
    return total
