"""Things with a long handle: hammer and spatula, each one closed surface."""

from __future__ import annotations

import functools

import numpy as np

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import MassProperties
from handwright.geometry.shapes import fields
from handwright.geometry.shapes.construction import (
    PLASTIC,
    STEEL,
    WOOD,
    check_dimensions,
    make_body,
)
from handwright.geometry.shapes.implicit import mesh_field, part_properties
from handwright.geometry.shapes.outlines import rounded, smooth
from handwright.geometry.shapes.surfaces import Mesh


def hammer(
    *, length: float = 0.32, head_length: float = 0.125, mass: float | None = None
) -> RigidBody:
    """A claw hammer, its wooden handle along X, head towards +X, striking face down (-Z).

    Args:
        length: From the end of the handle to the head's far side, metres; from 150 mm.
        head_length: From the striking face to the claws, metres; 80 to 160 mm.
        mass: Kilograms; steel head and wooden handle if not given.
    """
    check_dimensions("hammer", length=length, head_length=head_length)
    if length < 0.15 or not 0.08 <= head_length <= 0.16:
        raise InvalidValueError(
            f"Shape 'hammer': length {length:g} and head_length {head_length:g} m; expected a "
            "length from 0.15 and a head_length of 0.08 to 0.16."
        )
    mesh, properties = _hammer(length, head_length)
    return make_body(
        "hammer", *mesh, properties=properties, mass=mass, friction=0.6, color=(0.60, 0.44, 0.30)
    )


@functools.lru_cache(maxsize=8)
def _hammer(length: float, head_length: float) -> tuple[Mesh, MassProperties]:
    s = head_length / 0.11
    poll = rounded(
        [
            (0.0, -0.046 * s),
            (0.0135 * s, -0.046 * s),
            (0.0135 * s, -0.026 * s),
            (0.0095 * s, -0.020 * s),
            (0.0095 * s, 0.012 * s),
            (0.0, 0.012 * s),
        ],
        [0.0, 0.0022 * s, 0.002 * s, 0.004 * s, 0.0, 0.0],
    )
    claw = smooth(
        [
            (0.0, 0.0, 0.004 * s),
            (-0.001 * s, 0.0, 0.026 * s),
            (-0.010 * s, 0.0, 0.047 * s),
            (-0.026 * s, 0.0, 0.060 * s),
        ],
        num_points=20,
    )
    claw_radii = np.linspace(0.0085, 0.0032, len(claw)) * s
    back = 0.012 * s - length
    spine = smooth(
        [(back + 0.014, 0.0, 0.0), (0.6 * back, 0.0, 0.0), (0.006 * s, 0.0, 0.0)], num_points=22
    )
    stations = np.linspace(0.0, 1.0, len(spine))
    grip = np.interp(
        stations, [0.0, 0.15, 0.45, 0.75, 1.0], [0.0125, 0.0115, 0.0125, 0.0095, 0.0105]
    )
    grip_radii = np.convolve(np.pad(grip, 2, mode="edge"), np.ones(5) / 5.0, mode="valid")

    def head(points: fields.Points) -> fields.Distances:
        steel = fields.revolved(points, poll)
        cheek = fields.rounded_box(
            points, (0.0, 0.0, 0.001 * s), (0.013 * s, 0.0125 * s, 0.014 * s), 0.004 * s
        )
        steel = fields.smooth_union(steel, cheek, 0.008 * s)
        # Claws: one broad tapering horn, split by a wedge that opens towards the tips.
        horn = fields.tube_distance(points * [1.0, 0.5, 1.0], claw, claw_radii)
        wedge = np.hypot(points[:, 1], 0.001 * s) - 0.085 * (points[:, 2] - 0.010 * s)
        horn = fields.rounded_cut(horn, wedge, 0.0015 * s)
        return fields.smooth_union(steel, horn, 0.008 * s)

    def shaft(points: fields.Points) -> fields.Distances:
        # A handle is deeper (along Z, the way it strikes) than it is broad.
        return fields.tube_distance(points * [1.0, 1.25, 1.0], spine, grip_radii) / 1.25

    def field(points: fields.Points) -> fields.Distances:
        return fields.smooth_union(head(points), shaft(points), 0.003)

    low = (back - 0.008, -0.024 * s, -0.052 * s)
    high = (0.024 * s, 0.024 * s, 0.074 * s)
    mesh = mesh_field(field, low, high, spacing=0.0014 * s, num_faces=9_000)
    wood = (lambda points: np.maximum(shaft(points), -head(points)), WOOD)
    return mesh, part_properties([(head, STEEL), wood], low, high, spacing=0.002)


def spatula(
    *,
    blade_length: float = 0.095,
    blade_width: float = 0.075,
    handle_length: float = 0.21,
    mass: float | None = None,
) -> RigidBody:
    """A slotted kitchen spatula, its blade flat and towards +X, its handle rising towards -X.

    Args:
        blade_length: Along X, metres; from 60 mm.
        blade_width: Along Y, metres; from 45 mm.
        handle_length: Along X, metres; from 100 mm.
        mass: Kilograms; from the volume of the plastic if not given.
    """
    check_dimensions(
        "spatula", blade_length=blade_length, blade_width=blade_width, handle_length=handle_length
    )
    if blade_length < 0.06 or blade_width < 0.045 or handle_length < 0.10:
        raise InvalidValueError(
            f"Shape 'spatula': blade {blade_length:g} by {blade_width:g}, handle_length "
            f"{handle_length:g} m; expected a blade from 0.06 by 0.045 and a handle from 0.10."
        )
    vertices, faces = _spatula_mesh(blade_length, blade_width, handle_length)
    return make_body(
        "spatula", vertices, faces, density=PLASTIC, mass=mass, friction=0.55,
        color=(0.36, 0.42, 0.40),
    )  # fmt: skip


@functools.lru_cache(maxsize=8)
def _spatula_mesh(blade_length: float, blade_width: float, handle_length: float) -> Mesh:
    half = 0.0013
    neck, y = 0.016, blade_width / 2.0
    blade = rounded(
        [
            (0.0, -0.3 * y),
            (neck, -0.85 * y),
            (0.8 * blade_length, -y),
            (blade_length, -y),
            (blade_length, y),
            (0.8 * blade_length, y),
            (neck, 0.85 * y),
            (0.0, 0.3 * y),
        ],
        [0.008, 0.014, 0.0, 0.008, 0.008, 0.0, 0.014, 0.008],
        is_loop=True,
    )
    slot_half = (0.45 * (blade_length - neck - 0.022), 0.0042)
    slot_middle = 0.5 * (neck + 0.010 + blade_length - 0.012)
    rise = 0.045
    spine = smooth(
        [
            (0.012, 0.0, 0.0016),
            (-0.020, 0.0, 0.008),
            (-0.45 * handle_length, 0.0, rise),
            (-handle_length + 0.0072, 0.0, rise + 0.012),
        ],
        num_points=22,
    )
    stations = np.linspace(0.0, 1.0, len(spine))
    radii = np.interp(
        stations, [0.0, 0.12, 0.45, 0.6, 1.0], [0.0028, 0.0036, 0.0045, 0.0066, 0.0072]
    )
    pitch = blade_width / 4.2

    def field(points: fields.Points) -> fields.Distances:
        flat = np.ascontiguousarray(points[:, :2])
        across = fields.polygon_distance(flat, blade)
        # Three equal slots, found by folding the outer two onto the middle one.
        row = points[:, 1] - pitch * np.clip(np.round(points[:, 1] / pitch), -1.0, 1.0)
        u = np.abs(points[:, 0] - slot_middle) - (slot_half[0] - slot_half[1])
        slot = np.hypot(np.maximum(u, 0.0), row) - slot_half[1]
        across = np.maximum(across, -slot)
        plate = fields.extruded(across, points[:, 2], half=half, rounding=0.0011)
        return fields.smooth_union(plate, fields.flat_tube(points, spine, radii, width=1.5), 0.006)

    return mesh_field(
        field,
        (-handle_length - 0.014, -y - 0.005, -0.006),
        (blade_length + 0.005, y + 0.005, rise + 0.03),
        spacing=0.0012,
        num_faces=11_000,
    )
