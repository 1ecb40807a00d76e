"""A smooth toy animal, for curved surfaces of every kind."""

from __future__ import annotations

import functools

import numpy as np

from handwright.core.body import RigidBody
from handwright.geometry.shapes import fields
from handwright.geometry.shapes.construction import check_dimensions, make_body
from handwright.geometry.shapes.implicit import mesh_field
from handwright.geometry.shapes.outlines import smooth
from handwright.geometry.shapes.surfaces import Mesh


def bunny_like(*, height: float = 0.10, mass: float | None = None) -> RigidBody:
    """A sitting toy rabbit, facing +X.

    Args:
        height: From the feet to the tips of the ears, metres.
        mass: Kilograms; that of a hard rubber toy if not given.
    """
    check_dimensions("bunny_like", height=height)
    vertices, faces = _bunny_mesh()
    return make_body(
        "bunny_like", vertices * height, faces, density=900.0, mass=mass, friction=0.8,
        color=(0.78, 0.70, 0.62),
    )  # fmt: skip


@functools.lru_cache(maxsize=1)
def _bunny_mesh() -> Mesh:
    ear = smooth([(0.10, 0.055, 0.62), (0.05, 0.075, 0.78), (-0.03, 0.10, 0.955)], num_points=12)
    ear_radii = np.interp(
        np.linspace(0, 1, 12), [0.0, 0.5, 0.85, 1.0], [0.030, 0.044, 0.036, 0.022]
    )

    def field(points: fields.Points) -> fields.Distances:
        # The animal is the same on both sides.
        p = points.copy()
        p[:, 1] = np.abs(p[:, 1])
        solid = fields.ellipsoid(p, (-0.06, 0.0, 0.25), (0.30, 0.22, 0.235))
        chest = fields.ellipsoid(p, (0.09, 0.0, 0.31), (0.17, 0.16, 0.20))
        solid = fields.smooth_union(solid, chest, 0.10)
        head = fields.ellipsoid(p, (0.17, 0.0, 0.56), (0.165, 0.13, 0.135))
        solid = fields.smooth_union(solid, head, 0.07)
        haunch = fields.ellipsoid(p, (-0.10, 0.16, 0.16), (0.17, 0.10, 0.155))
        solid = fields.smooth_union(solid, haunch, 0.04)
        hind = fields.ellipsoid(p, (0.05, 0.17, 0.045), (0.15, 0.06, 0.05))
        solid = fields.smooth_union(solid, hind, 0.04)
        fore = fields.ellipsoid(p, (0.21, 0.075, 0.05), (0.10, 0.05, 0.05))
        solid = fields.smooth_union(solid, fore, 0.05)
        tail = fields.ellipsoid(p, (-0.37, 0.0, 0.20), (0.085, 0.085, 0.085))
        solid = fields.smooth_union(solid, tail, 0.03)
        flap = fields.tube_distance(p * [1.0, 0.75, 1.0], ear * [1.0, 0.75, 1.0], ear_radii)
        solid = fields.smooth_union(solid, flap, 0.035)
        # Flat feet, so that it stands.
        return fields.smooth_corner(solid, 0.015 - points[:, 2], 0.01)

    vertices, faces = mesh_field(
        field, (-0.52, -0.32, -0.05), (0.42, 0.32, 1.08), spacing=0.016, num_faces=9_000
    )
    return vertices / np.ptp(vertices[:, 2]), faces
