"""Builds signed distance grids from meshes, and keeps them on disk.

Three steps. Every triangle writes its exact distance into the nodes within a narrow band around
it. The index of the nearest triangle then spreads over the rest of the grid: in directional
sweeps over every second node, and from these to the nodes between; each node takes the exact
distance to the best triangle its neighbours know. Last, nodes that are surely on the same side of
the surface, since their distances sum to more than the line between them is long, are joined to
regions, and each region gets its sign from the winding number at its deepest node.

Resolution: ``DEFAULT_SPACING`` for hand-size things, a tenth of the smallest extent for thinner
ones, never finer than ``FINEST_SPACING``, and coarser where the grid would exceed ``MAX_NODES``.
The middle of the bounding box is always a node. So a flat sheet, even one thinner than the
spacing (a playing card), has a layer of nodes in its middle plane and keeps its exact thickness
when it lies along the axes; a thin sheet askew to the axes can lose its inside.
"""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.errors import InvalidValueError
from handwright.geometry.cache import load_or_build
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import Field, make_field, sample_field
from handwright.geometry.distance.sdf_kernels import (
    rasterise,
    refine_nearest,
    regions,
    sweep_nearest,
    triangle_table,
)
from handwright.geometry.mesh.outer_surface import SEAM_TOLERANCE, as_mesh_arrays, outer_surface
from handwright.geometry.mesh.winding import WindingNumber

DEFAULT_SPACING = 8e-4
"""Metres between nodes for things of hand size."""
FINEST_SPACING = 2.5e-4
"""Metres between nodes for the thinnest things."""
MAX_NODES = 8_000_000
"""Nodes in a grid whose spacing was not asked for."""

# Nodes in a grid whose spacing was asked for: some gigabytes while it is built. Far below what the
# 32-bit numbers of nodes could count.
_MOST_NODES = 300_000_000
# Spacing over the longest extent above which a chosen grid would miss the body.
_COARSEST = 0.1
_FORMAT = 2
# Spacings around the surface in which distances are exact over all triangles.
_BAND = 3.0
# Sweeping every second node and filling in the others is four times faster than sweeping all, and
# costs at most a quarter of a spacing of accuracy far from the surface.
_STRIDE = 2
# Spacings that rounding to single precision may add to the sum of two distances.
_ROUNDING = 1e-3
# Metres; nearer nodes count as lying on the surface.
_ON_SURFACE = 1e-8


class FieldError(NamedTuple):
    """How far a grid is from the exact distance, in millimetres."""

    max_mm: float
    mean_mm: float


def signed_distance_field(
    body: RigidBody, *, spacing: float | None = None, padding: float = 0.02
) -> Field:
    """The signed distance grid of a body, from the cache if it was built before.

    Args:
        body: The body; the grid is in its frame.
        spacing: Metres between nodes; chosen by size if not given.
        padding: Metres by which the grid reaches beyond the surface on every side, at least.

    Returns:
        The grid, with read-only arrays.
    """
    _check(spacing, padding)
    chosen = spacing or choose_spacing(
        body.vertices.max(axis=0) - body.vertices.min(axis=0), padding
    )
    parameters = f"{_FORMAT} {float(chosen).hex()} {float(padding).hex()}"
    key = f"field-{body.content_hash[:40]}-{hashlib.sha256(parameters.encode()).hexdigest()[:16]}"

    def build() -> dict[str, np.ndarray]:
        field = build_field(body.vertices, body.faces, spacing=chosen, padding=padding)
        return {
            "values": field.values,
            "origin": field.origin,
            "spacing": np.array(field.spacing),
            "margin": np.array(field.margin),
        }

    kept = load_or_build(key, build)
    return make_field(kept["values"], kept["origin"], float(kept["spacing"]), float(kept["margin"]))


def build_field(
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    *,
    spacing: float | None = None,
    padding: float = 0.02,
) -> Field:
    """Builds the signed distance grid of a closed mesh, without the cache.

    Args:
        vertices: Metres.
        faces: Vertex indices, anticlockwise seen from outside; closed parts may overlap.
        spacing: Metres between nodes; chosen by size if not given.
        padding: Metres by which the grid reaches beyond the surface on every side, at least.
    """
    _check(spacing, padding)
    vertices, faces = as_mesh_arrays(vertices, faces)
    used = vertices[np.unique(faces)]
    low, high = used.min(axis=0), used.max(axis=0)
    step = spacing or choose_spacing(high - low, padding)
    half = _half_counts(high - low, padding, step)
    num_nodes = float(np.prod(2.0 * half + 1.0))
    if num_nodes > _MOST_NODES:
        raise InvalidValueError(
            f"A grid with spacing {step:g} m and padding {padding:g} m around {high - low} m has "
            f"{num_nodes:.2g} nodes; expected at most {_MOST_NODES:.2g}. Choose a coarser spacing "
            "or less padding, or leave the spacing out."
        )
    origin = 0.5 * (low + high) - half * step
    surface = outer_surface(vertices, faces, tolerance=SEAM_TOLERANCE)
    table = triangle_table(surface.vertices[surface.faces])
    nearest = np.full(tuple(2 * half + 1), -1, dtype=np.int32)
    distance = np.full(nearest.shape, np.inf, dtype=np.float32)
    band = _BAND * step
    rasterise(table, origin, step, band, nearest, distance)
    sweep_nearest(table, origin, step, band, _STRIDE, nearest, distance)
    stride = _STRIDE
    while stride > 1:
        refine_nearest(table, origin, step, band, stride, nearest, distance)
        stride //= 2
    slack = _ROUNDING * step + (0.0 if surface.is_exact else 2.0 * SEAM_TOLERANCE)
    solid = surface if surface.is_exact else (vertices, faces)
    _sign(WindingNumber(*solid[:2]), origin, step, distance, slack)
    return make_field(distance, origin, step, padding)


def choose_spacing(extents: Float[np.ndarray, "3"], padding: float = 0.02) -> float:
    """The spacing (metres) that a grid gets when none is asked for.

    Args:
        extents: Size of the body along each axis, metres.
        padding: Metres added on every side.

    Raises:
        InvalidValueError: So much padding leaves too few nodes for the body.
    """
    spacing = min(DEFAULT_SPACING, max(FINEST_SPACING, float(np.min(extents)) / 10.0))
    while np.prod(2.0 * _half_counts(extents, padding, spacing) + 1.0) > MAX_NODES:
        spacing *= 1.01
    if spacing > max(DEFAULT_SPACING, _COARSEST * float(np.max(extents))):
        raise InvalidValueError(
            f"With padding {padding:g} m around a body of {float(np.max(extents)):g} m the grid "
            f"would have a spacing of {spacing:.2g} m, too coarse to show the body. Ask for less "
            "padding: beyond the grid, distances are continued from its border."
        )
    return spacing


def field_error(
    body: RigidBody, field: Field, num_points: int, rng: np.random.Generator
) -> FieldError:
    """Largest and mean error of a grid at random points of its box, against exact distances.

    Args:
        body: What the grid was built for.
        field: The grid.
        num_points: How many points.
        rng: Draws the points.
    """
    points = rng.uniform(field.origin, field.upper, size=(num_points, 3))
    exact = ExactDistance.from_body(body).signed_distance(points)[0]
    error = 1e3 * np.abs(sample_field(field, points)[0] - exact)
    return FieldError(float(error.max()), float(error.mean()))


def _check(spacing: float | None, padding: float) -> None:
    if spacing is not None and not (math.isfinite(spacing) and spacing > 0.0):
        raise InvalidValueError(
            f"spacing is {spacing!r}; expected a positive number of metres, or None to choose."
        )
    if not (math.isfinite(padding) and padding > 0.0):
        raise InvalidValueError(f"padding is {padding!r}; expected a positive number of metres.")


def _half_counts(
    extents: Float[np.ndarray, "3"], padding: float, spacing: float
) -> Int[np.ndarray, "3"]:
    """Nodes on each side of the middle one, along each axis."""
    half = np.ceil((0.5 * np.asarray(extents) + padding) / spacing).astype(np.int64)
    return half + half % 2


def _sign(
    winding: WindingNumber,
    origin: Float[np.ndarray, "3"],
    spacing: float,
    distance: Float[np.ndarray, "nx ny nz"],
    slack: float,
) -> None:
    """Makes the distances of inside nodes negative, in place."""
    labels, deepest, joined = regions(distance, spacing, slack)
    is_own = joined == np.arange(len(joined))
    # A node on the surface itself has no side, and its sign no effect.
    asked = np.flatnonzero(is_own & (distance.reshape(-1)[deepest] > _ON_SURFACE))
    nodes = np.stack(np.unravel_index(deepest[asked], distance.shape), axis=1)
    inside = winding.is_inside(origin + spacing * nodes)
    factor = np.ones(len(deepest), dtype=np.float32)
    factor[asked] = np.where(inside, -1.0, 1.0)
    distance *= factor[joined][labels]
