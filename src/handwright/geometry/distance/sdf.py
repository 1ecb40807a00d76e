"""Signed distance grids, and the kernels that read them.

A grid holds the signed distance to a surface, negative inside, at the nodes of a regular lattice.
Between nodes the value is the trilinear interpolant and the gradient is its exact derivative:
continuous inside a cell, with jumps of the order of the spacing times the curvature between
cells. All kernels take and return scalars so that they allocate nothing when called from numba.

Outside the lattice, let ``c`` be the nearest point of its box, ``v`` the value at ``c``,
``o = x - c`` and ``m`` the ``margin`` by which the box was grown around the surface. Then

    d(x) = sqrt(v^2 + 2 m (|o_x| + |o_y| + |o_z|) + |o|^2).

It equals ``v`` on the box, is a lower bound of the true distance (every surface point lies at
least ``m`` behind each face of the box that ``x`` is in front of), is exact straight above a flat
face of the surface's own bounding box, and grows like ``|o|`` far away. So a far point is never
called further than it is, and its gradient, which is exact for this formula, leads back to the
box. A grid with ``v < 0`` on its border has no such bound; there ``d = v + |o|`` is used, which
joins the formula above continuously when ``m = 0``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32

from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled, inlined, kernel


class Field(NamedTuple):
    """A signed distance grid; usable as an argument of numba functions.

    Attributes:
        values: Signed distances at the nodes, metres, float32, C order, x first.
        origin: Position of node (0, 0, 0), metres, float64.
        spacing: Distance between neighbouring nodes, metres.
        margin: Least distance from the surface's bounding box to each face of the grid, metres.
    """

    values: Float32[np.ndarray, "nx ny nz"]
    origin: Float[np.ndarray, "3"]
    spacing: float
    margin: float = 0.0

    @property
    def upper(self) -> Float[np.ndarray, "3"]:
        """Position of the last node, metres."""
        return self.origin + self.spacing * (np.array(self.values.shape) - 1)


def make_field(
    values: Float[np.ndarray, "nx ny nz"],
    origin: Float[np.ndarray, "3"],
    spacing: float,
    margin: float = 0.0,
) -> Field:
    """Makes a field of the one dtype, layout and mutability that the kernels are compiled for.

    Args:
        values: Signed distances at the nodes, metres; at least two nodes an axis.
        origin: Position of node (0, 0, 0), metres.
        spacing: Distance between neighbouring nodes, metres.
        margin: Least distance from the surface's bounding box to each face of the grid, metres.
    """
    values = np.array(values, dtype=np.float32, order="C")
    origin = np.array(origin, dtype=np.float64)
    if values.ndim != 3 or min(values.shape) < 2:
        raise InvalidValueError(
            f"Field values have shape {values.shape}; expected three axes of two nodes or more."
        )
    if not np.isfinite(values).all():
        bad = [int(i) for i in np.argwhere(~np.isfinite(values))[0]]
        raise InvalidValueError(f"Field value at node {bad} is NaN or infinite; expected metres.")
    if origin.shape != (3,) or not np.isfinite(origin).all():
        raise InvalidValueError(f"Field origin is {origin.tolist()}; expected three numbers.")
    if not (0.0 < spacing < math.inf and 0.0 <= margin < math.inf):
        raise InvalidValueError(
            f"Field spacing is {spacing!r} and margin {margin!r}; expected a positive spacing and "
            "a margin of 0 or more, both in metres."
        )
    values.setflags(write=False)
    origin.setflags(write=False)
    return Field(values, origin, float(spacing), float(margin))


@inlined
def _locate(coordinate: float, low: float, spacing: float, count: int) -> tuple:
    """Cell index, fraction within the cell, and how far the coordinate sticks out of the grid."""
    u = (coordinate - low) / spacing
    # Written so that NaN takes the first branch: it must not become an index.
    if not u > 0.0:
        return 0, 0.0, coordinate - low
    last = count - 1
    if u >= last:
        # Rounding must not put a point on the last node in front of it.
        return count - 2, 1.0, max(coordinate - (low + last * spacing), 0.0)
    index = int(u)
    return index, u - index, 0.0


@kernel
def field_value(field: Field, x: float, y: float, z: float) -> float:
    """Signed distance at one point.

    Args:
        field: The grid.
        x: First coordinate in the frame of the grid, metres; likewise ``y`` and ``z``.
        y: Second coordinate.
        z: Third coordinate.

    Returns:
        Metres; NaN if a coordinate is NaN.
    """
    values = field.values
    i, fx, ox = _locate(x, field.origin[0], field.spacing, values.shape[0])
    j, fy, oy = _locate(y, field.origin[1], field.spacing, values.shape[1])
    k, fz, oz = _locate(z, field.origin[2], field.spacing, values.shape[2])
    low = float(values[i, j, k])
    c00 = low + fz * (values[i, j, k + 1] - low)
    low = float(values[i, j + 1, k])
    c01 = low + fz * (values[i, j + 1, k + 1] - low)
    low = float(values[i + 1, j, k])
    c10 = low + fz * (values[i + 1, j, k + 1] - low)
    low = float(values[i + 1, j + 1, k])
    c11 = low + fz * (values[i + 1, j + 1, k + 1] - low)
    c0 = c00 + fy * (c01 - c00)
    c1 = c10 + fy * (c11 - c10)
    d = c0 + fx * (c1 - c0)
    if ox == 0.0 and oy == 0.0 and oz == 0.0:
        return d
    squared = ox * ox + oy * oy + oz * oz
    if d < 0.0:
        return d + math.sqrt(squared)
    reach = abs(ox) + abs(oy) + abs(oz)
    return math.sqrt(d * d + 2.0 * field.margin * reach + squared)


@kernel
def _outside(field: Field, d: float, g: tuple, o: tuple) -> tuple:
    """Continues value and gradient at the border to a point that sticks out of the grid by o."""
    # Moving along an axis that sticks out does not move the nearest point of the box.
    gx = g[0] if o[0] == 0.0 else 0.0
    gy = g[1] if o[1] == 0.0 else 0.0
    gz = g[2] if o[2] == 0.0 else 0.0
    squared = o[0] * o[0] + o[1] * o[1] + o[2] * o[2]
    if d < 0.0:
        far = math.sqrt(squared)
        return d + far, gx + o[0] / far, gy + o[1] / far, gz + o[2] / far
    m = field.margin
    total = math.sqrt(d * d + 2.0 * m * (abs(o[0]) + abs(o[1]) + abs(o[2])) + squared)
    px = d * gx if o[0] == 0.0 else o[0] + math.copysign(m, o[0])
    py = d * gy if o[1] == 0.0 else o[1] + math.copysign(m, o[1])
    pz = d * gz if o[2] == 0.0 else o[2] + math.copysign(m, o[2])
    return total, px / total, py / total, pz / total


@kernel
def field_value_gradient(
    field: Field, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Signed distance at one point, and its gradient.

    Args:
        field: The grid.
        x: First coordinate in the frame of the grid, metres; likewise ``y`` and ``z``.
        y: Second coordinate.
        z: Third coordinate.

    Returns:
        Distance in metres and the three parts of its gradient, which points away from the body
        and has a length near 1 except at ridges.
    """
    values = field.values
    i, fx, ox = _locate(x, field.origin[0], field.spacing, values.shape[0])
    j, fy, oy = _locate(y, field.origin[1], field.spacing, values.shape[1])
    k, fz, oz = _locate(z, field.origin[2], field.spacing, values.shape[2])
    low = float(values[i, j, k])
    d00 = values[i, j, k + 1] - low
    c00 = low + fz * d00
    low = float(values[i, j + 1, k])
    d01 = values[i, j + 1, k + 1] - low
    c01 = low + fz * d01
    low = float(values[i + 1, j, k])
    d10 = values[i + 1, j, k + 1] - low
    c10 = low + fz * d10
    low = float(values[i + 1, j + 1, k])
    d11 = values[i + 1, j + 1, k + 1] - low
    c11 = low + fz * d11
    c0 = c00 + fy * (c01 - c00)
    c1 = c10 + fy * (c11 - c10)
    d0 = d00 + fy * (d01 - d00)
    d1 = d10 + fy * (d11 - d10)
    scale = 1.0 / field.spacing
    d = c0 + fx * (c1 - c0)
    gx = (c1 - c0) * scale
    gy = ((c01 - c00) + fx * ((c11 - c10) - (c01 - c00))) * scale
    gz = (d0 + fx * (d1 - d0)) * scale
    if ox == 0.0 and oy == 0.0 and oz == 0.0:
        return d, gx, gy, gz
    return _outside(field, d, (gx, gy, gz), (ox, oy, oz))


@compiled
def sample_field(
    field: Field, points: Float[np.ndarray, "N 3"]
) -> tuple[Float[np.ndarray, "N"], Float[np.ndarray, "N 3"]]:
    """Signed distances and gradients at many points.

    Args:
        field: The grid.
        points: In the frame of the grid, metres.

    Returns:
        Distances in metres, and gradients.
    """
    # Compiled code does not look whether an index is within an array.
    if points.shape[1] != 3:
        raise InvalidValueError("Points of a field must have three coordinates: shape (N, 3).")
    values = np.zeros(len(points))
    gradients = np.zeros((len(points), 3))
    for n in range(len(points)):
        d, gx, gy, gz = field_value_gradient(field, points[n, 0], points[n, 1], points[n, 2])
        values[n] = d
        gradients[n, 0] = gx
        gradients[n, 1] = gy
        gradients[n, 2] = gz
    return values, gradients
