"""Household things that are round about their axis."""

from __future__ import annotations

import math

import numpy as np

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.shapes.construction import GLASS, WATER, check_dimensions, make_body
from handwright.geometry.shapes.outlines import refined, rounded, smooth
from handwright.geometry.shapes.surfaces import revolve

_FINE = math.radians(22.5)
_STEP = 0.008


def can(*, radius: float = 0.033, height: float = 0.122, mass: float | None = None) -> RigidBody:
    """A full drinks can, standing.

    Args:
        radius: Of the body, metres; from 15 mm.
        height: Along Z, metres; from 50 mm.
        mass: Kilograms; that of a full can if not given.
    """
    check_dimensions("can", radius=radius, height=height)
    if radius < 0.015 or height < 0.05:
        raise InvalidValueError(
            f"Shape 'can': radius {radius:g} and height {height:g} m; expected from 0.015 and 0.05."
        )
    neck, foot = radius - 0.0055, radius - 0.008
    profile = rounded(
        [
            (0.0, 0.004),
            (foot - 0.004, 0.004),
            (foot - 0.002, 0.0),
            (foot, 0.0),
            (radius, 0.012),
            (radius, height - 0.017),
            (neck, height - 0.006),
            (neck, height - 0.004),
            (neck + 0.0012, height - 0.003),
            (neck + 0.0012, height),
            (neck - 0.0015, height),
            (neck - 0.0015, height - 0.005),
            (0.0, height - 0.005),
        ],
        [
            0.0,
            0.001,
            0.0008,
            0.001,
            0.008,
            0.010,
            0.003,
            0.0008,
            0.0008,
            0.0009,
            0.0009,
            0.001,
            0.0,
        ],
        step=_FINE,
    )
    vertices, faces = revolve(refined(profile, longest=_STEP))
    return make_body(
        "can", vertices, faces, density=WATER, mass=mass, friction=0.5, color=(0.70, 0.30, 0.31)
    )


def bottle(*, radius: float = 0.0325, height: float = 0.21, mass: float | None = None) -> RigidBody:
    """A full half-litre bottle with its cap on, standing.

    Args:
        radius: Of the body, metres; from 20 mm.
        height: Along Z, cap included, metres; from four radii.
        mass: Kilograms; that of a full bottle if not given.
    """
    check_dimensions("bottle", radius=radius, height=height)
    if radius < 0.02 or height < 4.0 * radius:
        raise InvalidValueError(
            f"Shape 'bottle': radius {radius:g} and height {height:g} m; expected a radius from "
            "0.02 and a height from four radii."
        )
    cap, neck = 0.0152, 0.0128
    top = height - 0.016
    shoulder = 0.62 * height
    profile = rounded(
        [
            (0.0, 0.005),
            (0.5 * radius, 0.003),
            (0.75 * radius, 0.0),
            (radius, 0.0),
            (radius, 0.30 * height),
            (radius - 0.003, 0.33 * height),
            (radius - 0.003, 0.53 * height),
            (radius, 0.56 * height),
            (radius, shoulder),
            (neck, top - 0.012),
            (neck, top - 0.004),
            (neck + 0.004, top - 0.004),
            (neck + 0.004, top - 0.002),
            (neck, top - 0.002),
            (neck, top),
            (cap, top),
            (cap, height),
            (0.0, height),
        ],
        [
            *(0.0, 0.004, 0.004, 0.007, 0.008, 0.008, 0.008, 0.008, 0.035, 0.016),
            *(0.001, 0.0006, 0.0006, 0.0006, 0.0, 0.0004, 0.0015, 0.0),
        ],
        step=_FINE,
    )
    vertices, faces = revolve(refined(profile, longest=_STEP))
    return make_body(
        "bottle", vertices, faces, density=WATER, mass=mass, friction=0.5, color=(0.44, 0.62, 0.68)
    )


def wine_glass(
    *, height: float = 0.20, bowl_radius: float = 0.040, wall: float = 0.0016,
    mass: float | None = None,
) -> RigidBody:  # fmt: skip
    """An empty wine glass: foot, stem and a hollow bowl, standing.

    Args:
        height: Along Z, metres; from 100 mm.
        bowl_radius: Widest, outside, metres; 20 mm to a third of the height.
        wall: Thickness of the bowl, metres; 0.5 mm to a twelfth of the bowl's radius.
        mass: Kilograms; from the volume of the glass if not given.
    """
    check_dimensions("wine_glass", height=height, bowl_radius=bowl_radius, wall=wall)
    fits = 0.02 <= bowl_radius <= height / 3.0 and 0.0005 <= wall <= bowl_radius / 12.0
    if height < 0.1 or not fits:
        raise InvalidValueError(
            f"Shape 'wine_glass': height {height:g}, bowl_radius {bowl_radius:g}, wall {wall:g} m; "
            "expected a height from 0.1, a bowl_radius of 0.02 to a third of the height and a wall "
            "of 0.0005 to a twelfth of the bowl_radius."
        )
    stem = 0.0036
    base = 0.43 * height
    outside = smooth(
        [
            (stem, 0.25 * height),
            (stem, 0.36 * height),
            (1.4 * stem, base - 0.02 * height),
            (0.52 * bowl_radius, base + 0.035 * height),
            (0.87 * bowl_radius, base + 0.13 * height),
            (bowl_radius, base + 0.25 * height),
            (0.93 * bowl_radius, base + 0.42 * height),
            (0.80 * bowl_radius, height - wall / 2.0),
        ],
        num_points=27,
    )
    edge = 0.85 * bowl_radius
    foot = rounded(
        [(0.0, 0.0), (edge, 0.0), (edge, 0.0022), (0.5 * bowl_radius, 0.004)],
        [0.0, 0.0009, 0.0009, 0.0],
        step=_FINE,
    )  # fmt: skip
    flare = smooth(
        [
            (0.5 * bowl_radius, 0.004),
            (0.22 * bowl_radius, 0.004 + 0.0175 * height),
            (1.25 * stem, 0.004 + 0.07 * height),
            (stem, 0.004 + 0.2 * height),
        ],
        num_points=9,
    )
    # The inside follows the bowl one wall further in, along the normals of the outside.
    bowl = outside[outside[:, 1] > base + 0.03 * height]
    along = np.gradient(bowl, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    inside = bowl + wall * np.stack([-along[:, 1], along[:, 0]], axis=1)
    floor = inside[0, 1] - 0.0035
    well = smooth(
        [tuple(inside[0]), (0.55 * inside[0, 0], floor + 0.0009), (0.0, floor)], num_points=6
    )
    turn = np.linspace(0.0, math.pi, 9)[1:-1, None]
    middle = 0.5 * (bowl[-1] + inside[-1])
    rim = middle + (bowl[-1] - middle) * np.cos(turn) + along[-1] * (wall / 2.0) * np.sin(turn)
    well[-1, 0] = 0.0
    profile = np.concatenate(
        [refined(foot, longest=_STEP)[:-1], flare[:-1], outside, rim, inside[::-1], well[1:]]
    )
    vertices, faces = revolve(profile)
    return make_body(
        "wine_glass", vertices, faces, density=GLASS, mass=mass, friction=0.45,
        color=(0.74, 0.80, 0.84),
    )  # fmt: skip


def pen(*, length: float = 0.142, radius: float = 0.0052, mass: float | None = None) -> RigidBody:
    """A ball-point pen, its axis along Z and its tip down, as it writes.

    Args:
        length: Along Z, metres; from 80 mm.
        radius: Of the barrel, metres; 3 to 12 mm.
        mass: Kilograms; from the volume, mostly plastic, if not given.
    """
    check_dimensions("pen", length=length, radius=radius)
    if length < 0.08 or not 0.003 <= radius <= 0.012:
        raise InvalidValueError(
            f"Shape 'pen': length {length:g} and radius {radius:g} m; expected a length from 0.08 "
            "and a radius of 0.003 to 0.012."
        )
    profile = rounded(
        [
            (0.0, 0.0),
            (0.0004, 0.0),
            (0.0011, 0.0035),
            (0.0011, 0.004),
            (0.5 * radius, 0.013),
            (0.5 * radius + 0.0003, 0.013),
            (radius, 0.030),
            (radius, 0.095),
            (1.06 * radius, 0.096),
            (1.06 * radius, 0.100),
            (radius, 0.101),
            (radius, length - 0.010),
            (0.55 * radius, length - 0.0085),
            (0.55 * radius, length),
            (0.0, length),
        ],
        [
            0.0,
            0.0003,
            0.0,
            0.0,
            0.0,
            0.0,
            0.02,
            0.0003,
            0.0003,
            0.0003,
            0.0003,
            0.001,
            0.0003,
            0.0012,
            0.0,
        ],
        step=_FINE,
    )
    heights = np.where(
        profile[:, 1] < 0.105, profile[:, 1] * min(1.0, length / 0.142), profile[:, 1]
    )
    profile = np.column_stack([profile[:, 0], heights])
    vertices, faces = revolve(refined(profile, longest=0.004), num_segments=64)
    return make_body(
        "pen", vertices, faces, density=1100.0, mass=mass, friction=0.6, color=(0.24, 0.33, 0.50)
    )


def beaker(
    *,
    radius: float = 0.042,
    height: float = 0.095,
    wall: float = 0.0035,
    longest_edge: float = 0.005,
    mass: float = 0.09,
) -> RigidBody:
    """An open plastic beaker that is a little wider at its rim than at its foot.

    Args:
        radius: Of the rim, outside, metres.
        height: Along Z, metres; from 30 mm.
        wall: Thickness of wall and floor, metres; from 2.5 mm.
        longest_edge: Of the mesh along the outline, metres.
        mass: Kilograms.
    """
    check_dimensions(
        "beaker", radius=radius, height=height, wall=wall, longest_edge=longest_edge, mass=mass
    )
    if wall < 0.0025 or radius < 6.0 * wall or height < 0.03:
        raise InvalidValueError(
            f"Shape 'beaker': radius {radius:g}, height {height:g} and wall {wall:g} m do not fit "
            "together; expected a wall from 0.0025, a radius from six walls and a height from 0.03."
        )
    foot = 0.86 * radius
    profile = rounded(
        [
            (0.0, 0.0),
            (foot, 0.0),
            (radius, height),
            (radius - wall, height),
            (foot - wall, wall),
            (0.0, wall),
        ],
        [0.0, 0.003, 0.45 * wall, 0.45 * wall, 0.004, 0.0],
    )
    vertices, faces = revolve(refined(profile, longest=longest_edge))
    return make_body("beaker", vertices, faces, mass=mass, friction=0.9, color=(0.55, 0.70, 0.76))


def paper_cup(*, height: float = 0.085, mass: float = 0.12) -> RigidBody:
    """A small paper cup, full and with its lid on, standing.

    Args:
        height: Along Z, lid included, metres; from 50 mm. The width follows.
        mass: Kilograms.
    """
    check_dimensions("paper_cup", height=height, mass=mass)
    if height < 0.05:
        raise InvalidValueError(f"Shape 'paper_cup': height {height:g} m; expected from 0.05.")
    scale = height / 0.085
    corners = [
        (0.0, 0.0),
        (0.023, 0.0),
        (0.0293, 0.075),
        (0.031, 0.076),
        (0.031, 0.082),
        (0.0264, 0.085),
        (0.0, 0.085),
    ]
    profile = rounded(
        [(scale * across, scale * up) for across, up in corners],
        [0.0, 0.003, 0.0008, 0.0008, 0.002, 0.002, 0.0],
    )
    vertices, faces = revolve(refined(profile, longest=0.006))
    return make_body(
        "paper_cup", vertices, faces, mass=mass, friction=0.8, color=(0.86, 0.78, 0.66)
    )
