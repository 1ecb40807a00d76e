"""The simple solids: round, flat-sided and their halves."""

from __future__ import annotations

import math

import numpy as np

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.shapes.construction import (
    PLASTIC,
    WOOD,
    check_dimensions,
    make_body,
)
from handwright.geometry.shapes.outlines import arc, refined
from handwright.geometry.shapes.surfaces import (
    NUM_SEGMENTS,
    extrude,
    hull,
    icosphere,
    revolve,
)

_STEP = 0.008
"""Longest straight piece of an outline, metres, so that triangles are not slivers."""


def box(
    *, width: float = 0.06, depth: float = 0.06, height: float = 0.06, mass: float | None = None
) -> RigidBody:
    """A rectangular block of wood.

    Args:
        width: Along X, metres.
        depth: Along Y, metres.
        height: Along Z, metres.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("box", width=width, depth=depth, height=height)
    x, y = width / 2.0, depth / 2.0
    vertices, faces = extrude(np.array([(-x, -y), (x, -y), (x, y), (-x, y)]), height=height)
    return make_body(
        "box", vertices, faces, density=WOOD, mass=mass, friction=0.6, color=(0.76, 0.60, 0.42)
    )


def sphere(*, radius: float = 0.035, mass: float | None = None) -> RigidBody:
    """A ball.

    Args:
        radius: Metres.
        mass: Kilograms; that of a wooden ball if not given.
    """
    check_dimensions("sphere", radius=radius)
    vertices, faces = icosphere(4)
    return make_body(
        "sphere",
        vertices * radius,
        faces,
        density=WOOD,
        mass=mass,
        friction=0.7,
        color=(0.77, 0.36, 0.32),
    )


def ellipsoid(
    *,
    radius_x: float = 0.045,
    radius_y: float = 0.032,
    radius_z: float = 0.028,
    mass: float | None = None,
) -> RigidBody:
    """An ellipsoid, by default about a large egg on its side.

    Args:
        radius_x: Half extent along X, metres.
        radius_y: Half extent along Y, metres.
        radius_z: Half extent along Z, metres.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("ellipsoid", radius_x=radius_x, radius_y=radius_y, radius_z=radius_z)
    vertices, faces = icosphere(4)
    return make_body(
        "ellipsoid",
        vertices * [radius_x, radius_y, radius_z],
        faces,
        density=PLASTIC,
        mass=mass,
        friction=0.6,
        color=(0.87, 0.78, 0.62),
    )


def cylinder(
    *, radius: float = 0.025, height: float = 0.12, mass: float | None = None
) -> RigidBody:
    """A round rod, standing.

    Args:
        radius: Metres.
        height: Along Z, metres.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("cylinder", radius=radius, height=height)
    z = height / 2.0
    profile = np.array([(0.0, -z), (radius, -z), (radius, z), (0.0, z)])
    vertices, faces = revolve(refined(profile, longest=max(_STEP, height / 40.0, radius / 20.0)))
    return make_body(
        "cylinder", vertices, faces, density=WOOD, mass=mass, friction=0.6, color=(0.45, 0.58, 0.70)
    )


def capsule(*, radius: float = 0.022, length: float = 0.12, mass: float | None = None) -> RigidBody:
    """A rod with round ends, standing.

    Args:
        radius: Metres.
        length: Along Z, round ends included, metres; at least twice the radius.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("capsule", radius=radius, length=length)
    if length <= 2.0 * radius:
        raise InvalidValueError(
            f"Shape 'capsule': length is {length:g} m and radius {radius:g} m; expected a length "
            "above twice the radius. Use 'sphere' for a ball."
        )
    z = length / 2.0 - radius
    top = arc((0.0, z), radius, 0.0, math.pi / 2.0, num_points=17)
    top[-1, 0] = 0.0
    side = refined(np.array([(radius, -z), (radius, z)]), longest=max(_STEP, length / 40.0))
    vertices, faces = revolve(np.concatenate([top[:0:-1] * [1.0, -1.0], side, top[1:]]))
    return make_body(
        "capsule", vertices, faces, density=PLASTIC, mass=mass, friction=0.7,
        color=(0.55, 0.66, 0.52),
    )  # fmt: skip


def cone(*, radius: float = 0.035, height: float = 0.10, mass: float | None = None) -> RigidBody:
    """A cone on its base.

    Args:
        radius: Of the base, metres.
        height: Along Z, metres.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("cone", radius=radius, height=height)
    profile = np.array([(0.0, 0.0), (radius, 0.0), (0.0, height)])
    vertices, faces = revolve(refined(profile, longest=max(_STEP, height / 40.0, radius / 20.0)))
    return make_body(
        "cone", vertices, faces, density=WOOD, mass=mass, friction=0.6, color=(0.85, 0.55, 0.36)
    )


def torus(
    *, ring_radius: float = 0.04, tube_radius: float = 0.013, mass: float | None = None
) -> RigidBody:
    """A ring, lying.

    Args:
        ring_radius: From the axis to the middle of the tube, metres.
        tube_radius: Metres; below the ring radius.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("torus", ring_radius=ring_radius, tube_radius=tube_radius)
    if tube_radius >= ring_radius:
        raise InvalidValueError(
            f"Shape 'torus': tube_radius is {tube_radius:g} m and ring_radius {ring_radius:g} m; "
            "expected the tube below the ring, else the hole closes."
        )
    circle = arc((ring_radius, 0.0), tube_radius, 0.0, 2.0 * math.pi, num_points=33)[:-1]
    vertices, faces = revolve(circle, is_loop=True)
    return make_body(
        "torus", vertices, faces, density=PLASTIC, mass=mass, friction=0.7, color=(0.62, 0.50, 0.68)
    )


def prism(
    *,
    num_sides: int = 3,
    radius: float = 0.04,
    height: float = 0.09,
    mass: float | None = None,
) -> RigidBody:
    """A regular prism standing on its end, by default triangular.

    Args:
        num_sides: 3 or more.
        radius: From the axis to the corners, metres.
        height: Along Z, metres.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("prism", radius=radius, height=height)
    if not 3 <= num_sides <= 64:
        raise InvalidValueError(
            f"Shape 'prism': num_sides is {num_sides}; expected 3 to 64. Use 'cylinder' for more."
        )
    turn = math.pi / 2.0
    outline = arc((0.0, 0.0), radius, turn, turn + 2.0 * math.pi, num_points=num_sides + 1)[:-1]
    vertices, faces = extrude(outline, height=height)
    return make_body(
        "prism", vertices, faces, density=WOOD, mass=mass, friction=0.6, color=(0.50, 0.65, 0.66)
    )


def tetrahedron(*, edge: float = 0.08, mass: float | None = None) -> RigidBody:
    """A regular tetrahedron on one face.

    Args:
        edge: Length of an edge, metres.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("tetrahedron", edge=edge)
    base = arc((0.0, 0.0), edge / math.sqrt(3.0), 0.0, 2.0 * math.pi, num_points=4)[:-1]
    points = np.zeros((4, 3))
    points[:3, :2] = base
    points[3, 2] = edge * math.sqrt(2.0 / 3.0)
    vertices, faces = hull(points, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    return make_body(
        "tetrahedron", vertices, faces, density=WOOD, mass=mass, friction=0.6,
        color=(0.80, 0.68, 0.40),
    )  # fmt: skip


def hemisphere(*, radius: float = 0.045, mass: float | None = None) -> RigidBody:
    """Half a ball on its flat side.

    Args:
        radius: Metres.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("hemisphere", radius=radius)
    dome = arc((0.0, 0.0), radius, 0.0, math.pi / 2.0, num_points=NUM_SEGMENTS // 4 + 1)
    dome[0, 1] = dome[-1, 0] = 0.0
    floor = refined(np.array([(0.0, 0.0), (radius, 0.0)]), longest=max(_STEP, radius / 20.0))
    vertices, faces = revolve(np.concatenate([floor[:-1], dome]))
    return make_body(
        "hemisphere", vertices, faces, density=WOOD, mass=mass, friction=0.6,
        color=(0.70, 0.47, 0.47),
    )  # fmt: skip
