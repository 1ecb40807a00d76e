"""Pots with spout and handle: teapot, wine pot, coffee pot and jug, each one closed surface."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import shell_properties
from handwright.geometry.shapes import fields
from handwright.geometry.shapes.construction import CERAMIC, check_dimensions, make_body
from handwright.geometry.shapes.implicit import mesh_field
from handwright.geometry.shapes.outlines import smooth
from handwright.geometry.shapes.surfaces import Mesh

_WALL = 0.0045
"""Thickness of the ceramic, metres."""

Curve = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Curves of a pot of unit height.

    Attributes:
        belly: Radius and height of the body, lid and knob, from the bottom of the axis to its top.
        spout: X and height along the spout, from inside the body to the lip.
        spout_radii: At equal steps along it.
        handle: X and height along the handle, both ends inside the body.
        handle_radius: In the plane of the handle.
        handle_width: How many times as broad as thick.
        spacing: Of the grid, finer than the wall around the bore of the spout.
    """

    belly: Curve
    spout: Curve
    spout_radii: tuple[float, ...]
    handle: Curve
    handle_radius: float
    handle_width: float
    spacing: float


_TEAPOT = _Pattern(
    belly=(
        (0.0, 0.0), (0.36, 0.0), (0.39, 0.025), (0.50, 0.14), (0.56, 0.34), (0.52, 0.54),
        (0.41, 0.675), (0.345, 0.715), (0.362, 0.745), (0.335, 0.775), (0.25, 0.80), (0.10, 0.838),
        (0.056, 0.865), (0.065, 0.905), (0.092, 0.945), (0.075, 0.985), (0.0, 1.0),
    ),
    spout=((0.40, 0.26), (0.62, 0.30), (0.76, 0.47), (0.85, 0.66), (0.98, 0.76)),
    spout_radii=(0.17, 0.13, 0.095, 0.075, 0.066),
    handle=(
        (-0.46, 0.58), (-0.68, 0.66), (-0.87, 0.58), (-0.90, 0.40), (-0.74, 0.22), (-0.50, 0.17),
    ),
    handle_radius=0.048,
    handle_width=1.45,
    spacing=0.0165,
)  # fmt: skip

_WINE_POT = _Pattern(
    belly=(
        (0.0, 0.0), (0.20, 0.0), (0.215, 0.02), (0.205, 0.05), (0.25, 0.11), (0.315, 0.24),
        (0.30, 0.38), (0.21, 0.52), (0.145, 0.63), (0.13, 0.735), (0.148, 0.80), (0.176, 0.828),
        (0.168, 0.856), (0.12, 0.885), (0.05, 0.908), (0.034, 0.928), (0.055, 0.965),
        (0.035, 0.995), (0.0, 1.0),
    ),
    spout=((0.22, 0.24), (0.36, 0.26), (0.45, 0.42), (0.48, 0.60), (0.60, 0.74)),
    spout_radii=(0.085, 0.066, 0.050, 0.043, 0.040),
    handle=(
        (-0.11, 0.72), (-0.30, 0.76), (-0.46, 0.64), (-0.49, 0.44), (-0.40, 0.27), (-0.25, 0.24),
    ),
    handle_radius=0.030,
    handle_width=1.35,
    spacing=0.0135,
)  # fmt: skip

_COFFEE_POT = _Pattern(
    belly=(
        (0.0, 0.0), (0.30, 0.0), (0.325, 0.02), (0.325, 0.10), (0.305, 0.30), (0.275, 0.50),
        (0.245, 0.70), (0.23, 0.79), (0.245, 0.815), (0.23, 0.845), (0.15, 0.885), (0.06, 0.905),
        (0.045, 0.93), (0.07, 0.965), (0.045, 0.995), (0.0, 1.0),
    ),
    spout=((0.20, 0.38), (0.36, 0.42), (0.44, 0.55), (0.49, 0.70), (0.57, 0.80)),
    spout_radii=(0.11, 0.085, 0.062, 0.052, 0.047),
    handle=(
        (-0.20, 0.74), (-0.40, 0.77), (-0.55, 0.68), (-0.56, 0.46), (-0.50, 0.26), (-0.28, 0.20),
    ),
    handle_radius=0.036,
    handle_width=1.4,
    spacing=0.0145,
)  # fmt: skip

_JUG = _Pattern(
    belly=(
        (0.0, 0.0), (0.27, 0.0), (0.295, 0.025), (0.35, 0.16), (0.37, 0.32), (0.34, 0.48),
        (0.27, 0.64), (0.235, 0.76), (0.25, 0.90), (0.275, 0.985), (0.262, 1.0), (0.245, 0.985),
        (0.22, 0.93), (0.10, 0.925), (0.0, 0.925),
    ),
    spout=((0.12, 0.83), (0.22, 0.86), (0.32, 0.90), (0.41, 0.94)),
    spout_radii=(0.10, 0.09, 0.07, 0.05),
    handle=(
        (-0.22, 0.90), (-0.42, 0.92), (-0.58, 0.80), (-0.58, 0.56), (-0.50, 0.36), (-0.32, 0.30),
    ),
    handle_radius=0.040,
    handle_width=1.3,
    spacing=0.0150,
)  # fmt: skip


def teapot(*, height: float = 0.13, mass: float | None = None) -> RigidBody:
    """A round earthenware teapot with its lid on, spout towards +X, handle towards -X.

    The surface is the outside with a short bore in the spout; the pot weighs as an empty one.

    Args:
        height: From foot to knob, metres; the rest follows in proportion.
        mass: Kilograms; from the area and a wall of 4.5 mm if not given.
    """
    return _pot("teapot", _TEAPOT, height, mass, (0.72, 0.46, 0.36))


def wine_pot(*, height: float = 0.20, mass: float | None = None) -> RigidBody:
    """A slender pear-shaped wine pot with its lid on, spout towards +X, handle towards -X.

    The surface is the outside with a short bore in the spout; the pot weighs as an empty one.

    Args:
        height: From foot to knob, metres; the rest follows in proportion.
        mass: Kilograms; from the area and a wall of 4.5 mm if not given.
    """
    return _pot("wine_pot", _WINE_POT, height, mass, (0.55, 0.67, 0.60))


def coffee_pot(*, height: float = 0.19, mass: float | None = None) -> RigidBody:
    """A tall coffee pot that narrows to its lid, spout towards +X, handle towards -X.

    The surface is the outside with a short bore in the spout; the pot weighs as an empty one.

    Args:
        height: From foot to knob, metres; the rest follows in proportion.
        mass: Kilograms; from the area and a wall of 4.5 mm if not given.
    """
    return _pot("coffee_pot", _COFFEE_POT, height, mass, (0.38, 0.42, 0.52))


def jug(*, height: float = 0.17, mass: float | None = None) -> RigidBody:
    """A round-bellied jug, filled nearly to its rim, lip towards +X, handle towards -X.

    What is in it is part of the surface; the jug weighs as an empty one.

    Args:
        height: From foot to rim, metres; the rest follows in proportion.
        mass: Kilograms; from the area and a wall of 4.5 mm if not given.
    """
    return _pot("jug", _JUG, height, mass, (0.78, 0.72, 0.58))


def _pot(
    name: str,
    pattern: _Pattern,
    height: float,
    mass: float | None,
    color: tuple[float, float, float],
) -> RigidBody:
    check_dimensions(name, height=height)
    if not 0.05 <= height <= 0.5:
        raise InvalidValueError(f"Shape '{name}': height is {height:g} m; expected 0.05 to 0.5.")
    vertices, faces = _pot_mesh(pattern)
    vertices = vertices * height
    return make_body(
        name,
        vertices,
        faces,
        properties=shell_properties(vertices, faces, areal_density=CERAMIC * _WALL),
        mass=mass,
        friction=0.5,
        color=color,
    )


@functools.lru_cache(maxsize=8)
def _pot_mesh(pattern: _Pattern) -> Mesh:
    profile = smooth(pattern.belly, num_points=100, clamped=True)
    # The spline may swing past foot and knob; the foot is to be flat anyway.
    profile[:, 1] = np.clip(profile[:, 1], 0.0, 1.0)
    profile = profile[profile[:, 0] > 0.0]
    belly = np.concatenate([[(0.0, 0.0)], profile, [(0.0, 1.0)]])
    spout = smooth([(x, 0.0, z) for x, z in pattern.spout], num_points=20)
    stations = np.linspace(0.0, 1.0, len(pattern.spout_radii))
    spout_radii = np.interp(np.linspace(0.0, 1.0, len(spout)), stations, pattern.spout_radii)
    handle = smooth([(x, 0.0, z) for x, z in pattern.handle], num_points=28)
    handle_radii = np.full(len(handle), pattern.handle_radius)
    lip, ahead = spout[-1], spout[-1] - spout[-2]
    ahead = ahead / np.linalg.norm(ahead)
    # The bore starts in the spout and ends in the open, past the lip.
    bore = np.array([lip - 0.16 * ahead, lip + 0.30 * ahead])
    bore_radii = np.array([0.4, 0.62]) * pattern.spout_radii[-1]

    def field(points: fields.Points) -> fields.Distances:
        pipe = fields.tube_distance(points, spout, spout_radii)
        # The lip is cut level, as a poured spout is.
        pipe = fields.smooth_corner(pipe, (points - lip) @ ahead, 0.012)
        solid = fields.smooth_union(fields.revolved(points, belly), pipe, 0.05)
        ear = fields.flat_tube(points, handle, handle_radii, width=pattern.handle_width)
        solid = fields.smooth_union(solid, ear, 0.04)
        return fields.rounded_cut(solid, fields.tube_distance(points, bore, bore_radii), 0.010)

    reach = pattern.handle_radius + 0.05
    xs = [x for x, _ in (*pattern.spout, *pattern.handle)]
    broad = max(r for r, _ in pattern.belly) + 0.05
    return mesh_field(
        field,
        (min(xs) - reach, -broad, -0.05),
        (max(xs) + reach, broad, 1.05),
        spacing=pattern.spacing,
        num_faces=11_000,
    )
