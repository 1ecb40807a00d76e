"""Pushes that a grasp is made for: few, and so strong that all weaker ones lie between them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.methods.trajopt.model.model import Disturbances

_TETRAHEDRON = np.array(
    [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
) / np.sqrt(3.0)
_OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)])
CORNERS = {0: np.zeros((0, 3)), 4: _TETRAHEDRON, 6: _OCTAHEDRON}
"""Directions by their number, unit length."""
# How far corners of these solids are from the middle, in radii of the ball that just fits in.
_REACH = {0: 0.0, 4: 3.0, 6: np.sqrt(3.0)}


def push_corners(count: int, size: float) -> Float[np.ndarray, "D 3"]:
    """Forces whose mixtures are all forces up to a size, N.

    Forces that contacts can take under two pushes, mixed, are forces that they can take under the
    mixed push, for friction cones are convex. So few strong pushes stand for all weaker ones.

    Args:
        count: 4 for the corners of a tetrahedron, 6 for those of an octahedron, 0 for none.
        size: Of the weaker ones, N.
    """
    return CORNERS[count] * (_REACH[count] * size)


def tip_pushes(body: RigidBody, count: int, size: float) -> Disturbances:
    """Pushes at the point of a body that is farthest from its centre of mass.

    Args:
        body: The body.
        count: See ``push_corners``.
        size: Up to which all pushes at the tip are to be taken, N.
    """
    arms = body.vertices - body.center
    tip = arms[int(np.argmax(np.linalg.norm(arms, axis=1)))]
    return Disturbances(
        np.tile(tip, (count, 1)), push_corners(count, size), float(_REACH[count] * size)
    )
