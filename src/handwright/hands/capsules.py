"""Hands that are made of capsules: their masses, and sensor sites on their grasping sides."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import LARGEST_LENGTH, Capsules, JointTree, Sites
from handwright.errors import InvalidValueError
from handwright.geometry.farthest_first import farthest_first
from handwright.geometry.mesh.inertia import MassProperties

_FACING = 0.5
"""Least cosine between a site's normal and the grasping direction: within 60 degrees."""
_SPACING = 0.25
"""Distance between candidate points, in radii of the capsule."""
_MOST_RINGS = 2_000
"""Of candidate points along a capsule: on a thread they lie farther apart."""


def capsule_volume(
    length: Float[np.ndarray, "*C"], radius: Float[np.ndarray, "*C"]
) -> Float[np.ndarray, "*C"]:
    """Volumes, m^3, of capsules whose axes have the given lengths, m."""
    return np.asarray(np.pi * radius**2 * (length + 4.0 / 3.0 * radius))


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
    density = mass / float(capsule_volume(np.array(length), np.array(radius)))
    tube_mass = density * (np.pi * radius**2 * length)
    cap_mass = 0.5 * (mass - tube_mass)
    # A half ball has its centre of mass 3/8 r from its flat face.
    along = 0.5 * tube_mass * radius**2 + 2.0 * cap_mass * 0.4 * radius**2
    across = tube_mass * (0.25 * radius**2 + length**2 / 12.0) + 2.0 * cap_mass * (
        0.4 * radius**2 + 0.25 * length**2 + 0.375 * length * radius
    )
    outer = np.outer(axis, axis)
    inertia = along * outer + across * (np.eye(3) - outer)
    return MassProperties(mass, 0.5 * (start + end), inertia)


def zero_pose_origins(joints: JointTree) -> Float[np.ndarray, "L 3"]:
    """Origins of all links in the root frame with every joint at zero, m."""
    origins = np.zeros((len(joints) + 1, 3))
    for joint, parent in enumerate(joints.parent):
        origins[joint + 1] = origins[parent] + joints.offset[joint]
    return origins


def distances_to_axes(
    points: Float[np.ndarray, "N 3"], start: Float[np.ndarray, "C 3"], end: Float[np.ndarray, "C 3"]
) -> Float[np.ndarray, "N C"]:
    """Distance, m, from each point to each segment."""
    along = end - start
    squared = np.maximum(np.einsum("cj,cj->c", along, along), 1e-30)
    t = np.einsum("ncj,cj->nc", points[:, None] - start, along) / squared
    nearest = start + np.clip(t, 0.0, 1.0)[..., None] * along
    return np.asarray(np.linalg.norm(points[:, None] - nearest, axis=-1))


def spread_sites(
    joints: JointTree, capsules: Capsules, facing: Float[np.ndarray, "C 3"], num_sites: int
) -> Sites:
    """Picks evenly spread points on the side of the capsules that faces the object.

    Points that lie inside another capsule at the zero pose are left out. The points are chosen one
    by one, each as far as possible from those before it, with the radius of its capsule as the
    measure, so that they lie denser on thin finger tips than on a broad palm.

    Args:
        joints: Joint tree that the capsules ride on.
        capsules: Shapes of the hand.
        facing: Unit direction in which each capsule meets an object at the zero pose; zero for
            capsules that carry no sites.
        num_sites: How many sites to pick.
    """
    origins = zero_pose_origins(joints)[capsules.link]
    start, end = origins + capsules.start, origins + capsules.end
    # Not "above", so that NaN is refused too.
    if not all((np.abs(row) <= LARGEST_LENGTH).all() for row in (start, end, capsules.radius)):
        raise InvalidValueError(
            f"A shape of the hand is not within {LARGEST_LENGTH:g} m; check sizes and units."
        )
    owner, points, normals = _candidates(start, end, capsules.radius, facing)
    clearance = distances_to_axes(points, start, end) - capsules.radius
    clearance[np.arange(len(points)), owner] = np.inf
    is_free = clearance.min(axis=1, initial=np.inf) > 1e-9
    owner, points, normals = owner[is_free], points[is_free], normals[is_free]
    if len(points) < num_sites:
        raise InvalidValueError(
            f"{num_sites} sites asked for, but the grasping side has room for {len(points)}; "
            "ask for fewer or give more capsules a facing direction."
        )
    chosen = _spread(points, capsules.radius[owner], num_sites)
    chosen = chosen[np.lexsort((chosen, owner[chosen]))]
    link = capsules.link[owner[chosen]]
    return Sites(link, points[chosen] - zero_pose_origins(joints)[link], normals[chosen])


def _candidates(
    start: np.ndarray, end: np.ndarray, radius: np.ndarray, facing: np.ndarray
) -> tuple[Int[np.ndarray, " N"], Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Dense points on the grasping side: owner, position, normal."""
    owners: list[np.ndarray] = []
    points: list[np.ndarray] = []
    normals: list[np.ndarray] = []
    for index in np.flatnonzero(np.linalg.norm(facing, axis=1) > 0.5):
        along = end[index] - start[index]
        length = float(np.linalg.norm(along))
        axis = along / length if length > 0.0 else any_across(facing[index])
        side = facing[index] - (facing[index] @ axis) * axis
        if np.linalg.norm(side) < 1e-6:
            side = any_across(axis)
        side /= np.linalg.norm(side)
        other = np.cross(axis, side)
        angles = np.deg2rad(np.arange(-60, 61, 15))
        ring = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * other
        rings = min(length / (_SPACING * radius[index]), _MOST_RINGS)
        for step in np.linspace(0.0, 1.0, 2 + int(rings + 1e-6)):
            normals.append(ring)
            points.append(start[index] + step * along + radius[index] * ring)
        for polar in np.deg2rad([15.0, 30.0, 45.0, 60.0, 75.0, 90.0]):
            for sign, pole in ((-1.0, start[index]), (1.0, end[index])):
                cap = np.cos(polar) * ring + sign * np.sin(polar) * axis
                cap = cap[:1] if polar > 1.5 else cap
                normals.append(cap)
                points.append(pole + radius[index] * cap)
        owners += [np.full(len(block), index) for block in normals[len(owners) :]]
    if not owners:
        return np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 3))
    owner, point, normal = np.concatenate(owners), np.concatenate(points), np.concatenate(normals)
    keep = np.einsum("nj,nj->n", normal, facing[owner]) >= _FACING - 1e-9
    return owner[keep], point[keep], normal[keep]


def any_across(axis: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """Some unit vector at right angles to a unit vector."""
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return np.asarray(across / np.linalg.norm(across))


def _spread(
    points: Float[np.ndarray, "N 3"], radius: Float[np.ndarray, " N"], count: int
) -> Int[np.ndarray, " K"]:
    """Rows of points that are far from each other, in radii of their capsules."""

    def distances_from(row: int) -> Float[np.ndarray, " N"]:
        away = np.linalg.norm(points - points[row], axis=1)
        # Symmetric hands have ties; rounding lets the first win instead of the last bit.
        return np.round(away / radius, 7)

    return farthest_first(distances_from, first=0, count=count)
