"""Bodies and surroundings as shapes that MuJoCo collides well."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial import ConvexHull

from handwright.core.body import RigidBody
from handwright.core.surface import HalfSpace, Surface
from handwright.geometry.distance.rods import fit_rod
from handwright.math import rotation
from handwright.physics.mjcf.export import text

# A body is a box if its hull fills the box around it up to this share.
_BOX_SLACK = 1e-6
# A body is convex if its hull is larger by no more than this share.
_CONVEX_SLACK = 1e-3


class BodyShape(NamedTuple):
    """What stands for a body in the simulation."""

    geom: dict[str, str]
    """Attributes of a geom in the body's frame, without its name."""
    corners: Float[np.ndarray, "V 3"] | None
    """Corners of the hull, for a geom of type ``mesh``."""
    axes: Float[np.ndarray, "N 3"]
    """Directions in the body's frame whose turn can be seen: none of a ball, one of a rod."""
    is_exact: bool
    """Whether the shape is the body's, not its hull."""


def body_shape(body: RigidBody) -> BodyShape:
    """A ball, a capsule, a box, or else the convex hull."""
    corner = body.vertices[body.faces]
    # Middles of faces too: the corners of a cube lie on a ball.
    rod = fit_rod(np.concatenate([body.vertices, corner.mean(axis=1)]))
    if rod is not None:
        start, end, radius = rod
        length = float(np.linalg.norm(end - start))
        size = {"size": text([radius])}
        if length == 0.0:
            geom = {"type": "sphere", "pos": text(start), **size}
            return BodyShape(geom, None, np.zeros((0, 3)), True)
        geom = {"type": "capsule", "fromto": text([*start, *end]), **size}
        return BodyShape(geom, None, (end - start)[None] / length, True)
    hull = ConvexHull(body.vertices)
    low, high = body.bounds
    if hull.volume >= (1.0 - _BOX_SLACK) * float(np.prod(high - low)):
        geom = {"type": "box", "pos": text(0.5 * (low + high)), "size": text(0.5 * (high - low))}
        corners = None
    else:
        geom, corners = {"type": "mesh"}, body.vertices[hull.vertices]
    volume = float(np.einsum("fi,fi->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2]))) / 6.0
    is_convex = hull.volume <= (1.0 + _CONVEX_SLACK) * volume
    return BodyShape(geom, corners, np.eye(3), is_convex)


def surface_geom(surface: Surface) -> dict[str, str]:
    """Attributes of a geom of the world, without its name."""
    if isinstance(surface, HalfSpace):
        turn = rotation.between(np.array([0.0, 0.0, 1.0]), surface.normal)
        return {
            "type": "plane",
            "pos": text(surface.offset * surface.normal),
            "quat": text(turn),
            "size": "0 0 1",
        }
    return {
        "type": "box",
        "pos": text(surface.pose.position),
        "quat": text(surface.pose.wxyz),
        "size": text(surface.half_extents),
    }
