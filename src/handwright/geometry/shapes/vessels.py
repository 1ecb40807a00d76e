"""Open vessels with a handle: mug and pan, each one closed surface."""

from __future__ import annotations

import functools
import math

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import MassProperties
from handwright.geometry.shapes import fields
from handwright.geometry.shapes.construction import (
    ALUMINIUM,
    CERAMIC,
    PLASTIC,
    check_dimensions,
    make_body,
)
from handwright.geometry.shapes.implicit import mesh_field, part_properties
from handwright.geometry.shapes.outlines import rounded, smooth
from handwright.geometry.shapes.surfaces import Mesh


def mug(
    *,
    radius: float = 0.041,
    height: float = 0.095,
    wall: float = 0.004,
    handle_reach: float = 0.034,
    mass: float | None = None,
) -> RigidBody:
    """An earthenware mug, open at the top, its handle towards +X.

    Args:
        radius: Outside, metres.
        height: Along Z, metres.
        wall: Thickness of wall and floor, metres; from 2.5 mm.
        handle_reach: From the wall to the outside of the handle, metres; from 20 mm, so that a
            finger fits.
        mass: Kilograms; from the volume of the wall if not given.
    """
    check_dimensions("mug", radius=radius, height=height, wall=wall, handle_reach=handle_reach)
    if wall < 0.0025 or radius < 4.0 * wall or height < 0.05 or handle_reach < 0.02:
        raise InvalidValueError(
            f"Shape 'mug': radius {radius:g}, height {height:g}, wall {wall:g}, handle_reach "
            f"{handle_reach:g} m do not fit together; expected a wall from 0.0025, a radius from "
            "four walls, a height from 0.05 and a handle_reach from 0.02."
        )
    vertices, faces = _mug_mesh(radius, height, wall, handle_reach)
    return make_body(
        "mug", vertices, faces, density=CERAMIC, mass=mass, friction=0.5, color=(0.36, 0.52, 0.58)
    )


@functools.lru_cache(maxsize=8)
def _mug_mesh(radius: float, height: float, wall: float, reach: float) -> Mesh:
    outside = rounded(
        [(0.0, 0.0), (radius, 0.0), (radius, height), (0.0, height)],
        [0.0, 0.006, 0.45 * wall, 0.0],
    )
    inner = radius - wall
    # The cavity rises past the rim, so that its own top edge is nowhere near the surface.
    cavity = rounded(
        [(0.0, wall), (inner, wall), (inner, height + 0.05), (0.0, height + 0.05)],
        [0.0, 0.008, 0.0, 0.0],
    )
    thickness = 0.0047
    out = radius + reach - thickness
    # The ends run into the wall but stay out of the cavity, which is cut afterwards anyway.
    ear = smooth(
        [
            (radius - 0.6 * wall, 0.0, 0.86 * height),
            (radius + 0.55 * reach, 0.0, 0.86 * height),
            (out, 0.0, 0.62 * height),
            (radius + 0.72 * reach, 0.0, 0.33 * height),
            (radius - 0.6 * wall, 0.0, 0.17 * height),
        ],
        num_points=28,
        clamped=True,
    )
    radii = np.full(len(ear), thickness)

    def field(points: fields.Points) -> fields.Distances:
        solid = fields.smooth_union(
            fields.revolved(points, outside), fields.flat_tube(points, ear, radii, width=1.5), 0.005
        )
        return fields.rounded_cut(solid, fields.revolved(points, cavity), 0.45 * wall)

    return mesh_field(
        field,
        (-radius - 0.004, -radius - 0.004, -0.004),
        (radius + reach + 0.004, radius + 0.004, height + 0.004),
        spacing=0.4 * wall,
        num_faces=10_000,
    )


def pan(
    *,
    radius: float = 0.10,
    depth: float = 0.04,
    wall: float = 0.0035,
    handle_length: float = 0.17,
    mass: float | None = None,
) -> RigidBody:
    """A frying pan, open at the top, its handle towards +X.

    Args:
        radius: Of the rim, outside, metres.
        depth: Height of the dish along Z, metres.
        wall: Thickness of the aluminium, metres; from 2.5 mm.
        handle_length: From the rim to the end of the handle, metres.
        mass: Kilograms; aluminium dish and plastic handle if not given.
    """
    check_dimensions("pan", radius=radius, depth=depth, wall=wall, handle_length=handle_length)
    if wall < 0.0025 or depth < 6.0 * wall or radius < depth or handle_length < 0.05:
        raise InvalidValueError(
            f"Shape 'pan': radius {radius:g}, depth {depth:g}, wall {wall:g}, handle_length "
            f"{handle_length:g} m do not fit together; expected a wall from 0.0025, a depth from "
            "six walls, a radius above the depth and a handle_length from 0.05."
        )
    mesh, properties = _pan(radius, depth, wall, handle_length)
    return make_body(
        "pan",
        *mesh,
        properties=properties,
        mass=mass,
        friction=0.45,
        color=(0.33, 0.35, 0.38),
    )


@functools.lru_cache(maxsize=8)
def _pan(
    radius: float, depth: float, wall: float, handle_length: float
) -> tuple[Mesh, MassProperties]:
    floor = 0.8 * radius

    def outline(rim: float) -> Float[np.ndarray, "P 2"]:
        return rounded(
            [(0.0, 0.0), (floor, 0.0), (rim, depth), (0.0, depth)],
            [0.0, 0.018, 0.45 * wall, 0.0],
        )

    # Rounding takes a little off the slanted rim: give it back.
    rim = 2.0 * radius - float(outline(radius)[:, 0].max())
    outside = outline(rim)
    slope = (rim - floor) / depth
    # The wall leans, so along the radius it is thicker than across.
    lean = wall * math.hypot(1.0, slope)
    cavity = rounded(
        [
            (0.0, wall),
            (floor - lean + slope * wall, wall),
            (rim - lean + slope * depth, 2.0 * depth),
            (0.0, 2.0 * depth),
        ],
        [0.0, 0.016, 0.0, 0.0],
    )
    end = radius + handle_length
    spine = smooth(
        [
            (radius - 0.012, 0.0, 0.62 * depth),
            (radius + 0.025, 0.0, depth),
            (radius + 0.45 * handle_length, 0.0, depth + 0.018),
            (end - 0.009, 0.0, depth + 0.024),
        ],
        num_points=18,
    )
    radii = np.interp(
        np.linspace(0.0, 1.0, len(spine)), [0.0, 0.22, 0.6, 1.0], [0.005, 0.005, 0.0075, 0.0085]
    )

    def dish(points: fields.Points) -> fields.Distances:
        return fields.rounded_cut(
            fields.revolved(points, outside), fields.revolved(points, cavity), 0.45 * wall
        )

    def handle(points: fields.Points) -> fields.Distances:
        bar = fields.flat_tube(points, spine, radii, width=1.6)
        return np.maximum(bar, -fields.revolved(points, outside))

    def field(points: fields.Points) -> fields.Distances:
        solid = fields.smooth_union(
            fields.revolved(points, outside),
            fields.flat_tube(points, spine, radii, width=1.6),
            0.005,
        )
        return fields.rounded_cut(solid, fields.revolved(points, cavity), 0.45 * wall)

    low = (-radius - 0.006, -radius - 0.006, -0.006)
    high = (end + 0.006, radius + 0.006, depth + 0.045)
    mesh = mesh_field(field, low, high, spacing=0.56 * wall, num_faces=11_000)
    return mesh, part_properties([(dish, ALUMINIUM), (handle, PLASTIC)], low, high, spacing=0.0025)
