"""Fixed surroundings of a scene: tables, walls and floors as half-spaces and boxes.

Distances are signed, negative in the solid, and exact for each surface. Over several surfaces
the least is taken: exact outside, and within overlapping solids no deeper than the true depth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.surface import EnvironmentBox, HalfSpace, Surface
from handwright.kernels.decorators import kernel
from handwright.math import rotation
from handwright.math.pose import Pose


class EnvironmentArrays(NamedTuple):
    """Surfaces packed for numba functions; half-spaces come first in the common numbering.

    Attributes:
        normals: Of the half-spaces.
        offsets: Of the half-spaces, metres.
        positions: Centres of the boxes, metres.
        rotations: Turn box coordinates into world ones.
        half_extents: Of the boxes, metres.
        frictions: Coulomb coefficients of half-spaces, then of boxes.
    """

    normals: Float[np.ndarray, "P 3"]
    offsets: Float[np.ndarray, "P"]
    positions: Float[np.ndarray, "B 3"]
    rotations: Float[np.ndarray, "B 3 3"]
    half_extents: Float[np.ndarray, "B 3"]
    frictions: Float[np.ndarray, "S"]


def pack_environment(surfaces: Iterable[Surface]) -> EnvironmentArrays:
    """Packs surfaces; none at all is a world without surroundings.

    Args:
        surfaces: Half-spaces and boxes in any order; boxes are numbered after half-spaces.
    """
    surfaces = list(surfaces)
    planes = [s for s in surfaces if isinstance(s, HalfSpace)]
    boxes = [s for s in surfaces if isinstance(s, EnvironmentBox)]
    ordered: list[Surface] = [*planes, *boxes]
    return EnvironmentArrays(
        normals=np.array([s.normal for s in planes]).reshape(-1, 3),
        offsets=np.array([s.offset for s in planes], dtype=np.float64),
        positions=np.array([s.pose.position for s in boxes]).reshape(-1, 3),
        rotations=np.array([rotation.to_matrix(s.pose.wxyz) for s in boxes]).reshape(-1, 3, 3),
        half_extents=np.array([s.half_extents for s in boxes]).reshape(-1, 3),
        frictions=np.array([s.friction for s in ordered], dtype=np.float64),
    )


def resized(surfaces: EnvironmentArrays, factor: float) -> EnvironmentArrays:
    """Surroundings with all lengths, from the world's origin on, times a factor."""
    return surfaces._replace(
        offsets=factor * surfaces.offsets,
        positions=factor * surfaces.positions,
        half_extents=factor * surfaces.half_extents,
    )


def floor(height: float = 0.0, *, friction: float = 0.6) -> HalfSpace:
    """A level floor without end.

    Args:
        height: Metres above the world's origin.
        friction: Coulomb coefficient.
    """
    return HalfSpace(np.array([0.0, 0.0, 1.0]), height, friction)


def wall(
    point: Float[np.ndarray, "3"], normal: Float[np.ndarray, "3"], *, friction: float = 0.6
) -> HalfSpace:
    """A flat wall without end.

    Args:
        point: Any point on it, metres.
        normal: Out of the wall, of any length.
        friction: Coulomb coefficient.
    """
    unit = HalfSpace(normal, 0.0).normal
    return HalfSpace(unit, float(unit @ np.asarray(point, dtype=np.float64)), friction)


def table(
    height: float = 0.75,
    *,
    size: tuple[float, float] = (1.2, 0.8),
    center: tuple[float, float] = (0.0, 0.0),
    thickness: float = 0.04,
    friction: float = 0.6,
) -> EnvironmentBox:
    """A level table top with edges, so that hands can reach around and under it.

    Args:
        height: Of the upper side above the world's origin, metres.
        size: Along x and y, metres.
        center: Middle of the top along x and y, metres.
        thickness: Metres.
        friction: Coulomb coefficient.
    """
    position = np.array([center[0], center[1], height - 0.5 * thickness])
    half_extents = 0.5 * np.array([size[0], size[1], thickness])
    return EnvironmentBox(Pose(position, np.array([1.0, 0.0, 0.0, 0.0])), half_extents, friction)


def plane_patch(plane: HalfSpace, above: Float[np.ndarray, "3"]) -> Pose:
    """Where to draw a piece of an endless plane: below a point, with z out of the solid.

    Args:
        plane: The half-space.
        above: The point, m.
    """
    height = float(plane.normal @ above) - plane.offset
    return Pose(
        above - height * plane.normal, rotation.between(np.array([0.0, 0.0, 1.0]), plane.normal)
    )


@kernel
def _box_value_gradient(
    h: tuple[float, float, float], q: tuple[float, float, float]
) -> tuple[float, float, float, float]:
    """Signed distance and gradient in the frame of a box."""
    ex, ey, ez = abs(q[0]) - h[0], abs(q[1]) - h[1], abs(q[2]) - h[2]
    if ex <= 0.0 and ey <= 0.0 and ez <= 0.0:
        if ex >= ey and ex >= ez:
            return ex, math.copysign(1.0, q[0]), 0.0, 0.0
        if ey >= ez:
            return ey, 0.0, math.copysign(1.0, q[1]), 0.0
        return ez, 0.0, 0.0, math.copysign(1.0, q[2])
    ox, oy, oz = max(ex, 0.0), max(ey, 0.0), max(ez, 0.0)
    d = math.sqrt(ox * ox + oy * oy + oz * oz)
    return (
        d,
        math.copysign(ox / d, q[0]),
        math.copysign(oy / d, q[1]),
        math.copysign(oz / d, q[2]),
    )


@kernel
def surface_value_gradient(
    env: EnvironmentArrays, index: int, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Signed distance to one surface, and its gradient.

    Args:
        env: From ``pack_environment``.
        index: Half-spaces first, then boxes.
        x: First coordinate in the world, metres, with ``y`` and ``z``.
        y: Second coordinate.
        z: Third coordinate.

    Returns:
        Distance in metres, negative in the solid, and the three parts of its unit gradient.
    """
    num_planes = len(env.offsets)
    if index < num_planes:
        nx, ny, nz = env.normals[index, 0], env.normals[index, 1], env.normals[index, 2]
        return nx * x + ny * y + nz * z - env.offsets[index], nx, ny, nz
    b = index - num_planes
    R, h = env.rotations, env.half_extents
    px, py, pz = x - env.positions[b, 0], y - env.positions[b, 1], z - env.positions[b, 2]
    q = (
        R[b, 0, 0] * px + R[b, 1, 0] * py + R[b, 2, 0] * pz,
        R[b, 0, 1] * px + R[b, 1, 1] * py + R[b, 2, 1] * pz,
        R[b, 0, 2] * px + R[b, 1, 2] * py + R[b, 2, 2] * pz,
    )
    d, gx, gy, gz = _box_value_gradient((h[b, 0], h[b, 1], h[b, 2]), q)
    return (
        d,
        R[b, 0, 0] * gx + R[b, 0, 1] * gy + R[b, 0, 2] * gz,
        R[b, 1, 0] * gx + R[b, 1, 1] * gy + R[b, 1, 2] * gz,
        R[b, 2, 0] * gx + R[b, 2, 1] * gy + R[b, 2, 2] * gz,
    )


@kernel
def environment_value_gradient(
    env: EnvironmentArrays, x: float, y: float, z: float
) -> tuple[float, float, float, float, int]:
    """Signed distance to the nearest surface, its gradient, and which surface it is.

    Args:
        env: From ``pack_environment``.
        x: First coordinate in the world, metres, with ``y`` and ``z``.
        y: Second coordinate.
        z: Third coordinate.

    Returns:
        Distance in metres, the three parts of its unit gradient, and the number of the surface;
        infinity, zeros and -1 where there is none.
    """
    best, bx, by, bz, nearest = np.inf, 0.0, 0.0, 0.0, -1
    for index in range(len(env.frictions)):
        d, gx, gy, gz = surface_value_gradient(env, index, x, y, z)
        # Not "less", so that a NaN coordinate shows in the result.
        if not d >= best:
            best, bx, by, bz, nearest = d, gx, gy, gz, index
    return best, bx, by, bz, nearest
