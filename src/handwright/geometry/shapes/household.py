"""Flat-sided and soft-edged things of the house: book, soap, carton, card."""

from __future__ import annotations

import functools

import numpy as np

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.shapes import fields
from handwright.geometry.shapes.construction import CARDBOARD, WATER, check_dimensions, make_body
from handwright.geometry.shapes.implicit import mesh_field
from handwright.geometry.shapes.outlines import refined, rounded, rounded_rectangle
from handwright.geometry.shapes.surfaces import Mesh, cube_grid, extrude, hull


def soap(
    *,
    width: float = 0.085,
    depth: float = 0.055,
    height: float = 0.028,
    exponent: float = 3.2,
    mass: float | None = None,
) -> RigidBody:
    """A bar of soap: the superellipsoid ``|x/a|^n + |y/b|^n + |z/c|^n = 1``.

    Args:
        width: Along X, metres.
        depth: Along Y, metres.
        height: Along Z, metres.
        exponent: n: 2 gives an ellipsoid, more a squarer bar; 1.5 to 10.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions("soap", width=width, depth=depth, height=height)
    if not 1.5 <= exponent <= 10.0:
        raise InvalidValueError(f"Shape 'soap': exponent is {exponent}; expected 1.5 to 10.")
    cube, faces = cube_grid(24)
    radial = np.sum(np.abs(cube) ** exponent, axis=1, keepdims=True) ** (1.0 / exponent)
    return make_body(
        "soap",
        cube / radial * [width / 2.0, depth / 2.0, height / 2.0],
        faces,
        density=1050.0,
        mass=mass,
        friction=0.35,
        color=(0.82, 0.74, 0.80),
    )


def playing_card(
    *,
    width: float = 0.063,
    height: float = 0.088,
    thickness: float = 0.0003,
    corner_radius: float = 0.0035,
    mass: float | None = None,
) -> RigidBody:
    """A playing card of poker size, lying face up, its long side along Y.

    Args:
        width: Along X, metres.
        height: Along Y, metres.
        thickness: Along Z, metres.
        corner_radius: Metres; below half the width.
        mass: Kilograms; from the volume if not given.
    """
    check_dimensions(
        "playing_card",
        width=width,
        height=height,
        thickness=thickness,
        corner_radius=corner_radius,
    )
    if 2.0 * corner_radius >= min(width, height):
        raise InvalidValueError(
            f"Shape 'playing_card': corner_radius is {corner_radius:g} m; expected below half of "
            f"the shorter side, {min(width, height) / 2.0:g} m."
        )
    outline = rounded_rectangle(width, height, corner_radius)
    vertices, faces = extrude(refined(outline, longest=0.01, is_loop=True), height=thickness)
    return make_body(
        "playing_card", vertices, faces, density=1100.0, mass=mass, friction=0.45,
        color=(0.90, 0.88, 0.84),
    )  # fmt: skip


def book(
    *,
    width: float = 0.135,
    height: float = 0.20,
    thickness: float = 0.026,
    mass: float | None = None,
) -> RigidBody:
    """A closed hardcover book, lying, its rounded spine along Y on the -X side.

    Args:
        width: From spine to fore-edge, along X, metres; from 60 mm.
        height: Along the spine, Y, metres; from 60 mm.
        thickness: Along Z, covers included, metres; from 12 mm.
        mass: Kilograms; from the volume of the paper if not given.
    """
    check_dimensions("book", width=width, height=height, thickness=thickness)
    if min(width, height) < 0.06 or thickness < 0.012:
        raise InvalidValueError(
            f"Shape 'book': width {width:g}, height {height:g}, thickness {thickness:g} m; "
            "expected width and height from 0.06 and a thickness from 0.012."
        )
    vertices, faces = _book_mesh(width, height, thickness)
    return make_body(
        "book", vertices, faces, density=CARDBOARD, mass=mass, friction=0.55,
        color=(0.42, 0.33, 0.45),
    )  # fmt: skip


@functools.lru_cache(maxsize=8)
def _book_mesh(width: float, height: float, thickness: float) -> Mesh:
    board, overhang = 0.0032, 0.004
    x, z = width / 2.0, thickness / 2.0
    spine = 0.35 * thickness
    # The outline of the cover seen along the spine, with a dent where it hinges.
    cover = rounded(
        [
            (x, -z),
            (x, z),
            (-x + spine + 0.008, z),
            (-x + spine + 0.004, z - 0.0012),
            (-x + spine, z),
            (-x, 0.8 * z),
            (-x, -0.8 * z),
            (-x + spine, -z),
            (-x + spine + 0.004, -z + 0.0012),
            (-x + spine + 0.008, -z),
        ],
        [0.001, 0.001, 0.004, 0.004, 0.004, spine, spine, 0.004, 0.004, 0.004],
        is_loop=True,
    )

    def field(points: fields.Points) -> fields.Distances:
        across = fields.polygon_distance(np.ascontiguousarray(points[:, [0, 2]]), cover)
        solid = fields.extruded(across, points[:, 1], half=height / 2.0, rounding=0.0012)
        # Between the boards the paper stands back on three sides.
        between = np.abs(points[:, 2]) - (z - board)
        paper = fields.smooth_corner(
            points[:, 0] - (x - overhang), np.abs(points[:, 1]) - (height / 2.0 - overhang), 0.002
        )
        notch = fields.smooth_corner(between, -paper, 0.0008)
        notch = np.maximum(notch, -x + 0.7 * spine - points[:, 0])
        return fields.rounded_cut(solid, notch, 0.0010)

    return mesh_field(
        field,
        (-x - 0.004, -height / 2.0 - 0.004, -z - 0.004),
        (x + 0.004, height / 2.0 + 0.004, z + 0.004),
        spacing=0.0016,
        num_faces=9_000,
    )


def milk_carton(
    *,
    width: float = 0.07,
    height: float = 0.235,
    mass: float | None = None,
) -> RigidBody:
    """A full carton of milk with a gable top, standing, its ridge along X.

    Args:
        width: Of the square foot, metres.
        height: Along Z, fin included, metres; from twice the width.
        mass: Kilograms; that of a full carton if not given.
    """
    check_dimensions("milk_carton", width=width, height=height)
    if height < 2.0 * width:
        raise InvalidValueError(
            f"Shape 'milk_carton': height {height:g} and width {width:g} m; expected a height from "
            "twice the width."
        )
    a, t = width / 2.0, 0.02 * width
    fin, gable = 0.20 * width, 0.48 * width
    eaves, ridge = height - fin - gable, height - fin
    points = []
    for level, half_depth in ((0.0, a), (eaves, a), (ridge, t), (height, t)):
        points += [(sx * a, sy * half_depth, level) for sx, sy in _CORNERS]
    # Middle of each gable end, folded in.
    fold = eaves + 0.42 * gable
    points += [(a - 0.30 * width, 0.0, fold), (-a + 0.30 * width, 0.0, fold)]
    rings = [
        (4 * i + k, 4 * i + (k + 1) % 4, 4 * i + 4 + (k + 1) % 4, 4 * i + 4 + k)
        for i in (0, 2)
        for k in range(4)
    ]
    roofs = [(4, 5, 9, 8), (6, 7, 11, 10)]
    ends = [(5, 6, 16), (6, 10, 16), (10, 9, 16), (9, 5, 16)]
    ends += [(7, 4, 17), (4, 8, 17), (8, 11, 17), (11, 7, 17)]
    vertices, faces = hull(
        np.array(points), [(3, 2, 1, 0), (12, 13, 14, 15), *rings, *roofs, *ends]
    )
    return make_body(
        "milk_carton", vertices, faces, density=WATER, mass=mass, friction=0.5,
        color=(0.80, 0.84, 0.88),
    )  # fmt: skip


_CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))
