"""Pushes that a grasp must resist: few, and strong enough that all weaker ones lie between them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.methods.trajopt.model.model import PushScenarios

_TETRAHEDRON = np.array(
    [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
) / np.sqrt(3.0)
_OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)])
CORNERS = {0: np.zeros((0, 3)), 4: _TETRAHEDRON, 6: _OCTAHEDRON}
"""Unit directions by the number of pushes."""
# Distance of the corners of these solids from the middle, in radii of the inscribed ball.
_REACH = {0: 0.0, 4: 3.0, 6: np.sqrt(3.0)}


def push_corners(count: int, size: float) -> Float[np.ndarray, "D 3"]:
    """Forces whose convex hull contains all forces up to a size, N.

    Friction cones are convex: if contacts can resist two pushes, they can resist every mixture of
    the two with the same mixture of forces. So a few strong pushes stand for all weaker ones.

    Args:
        count: 4 for the corners of a tetrahedron, 6 for those of an octahedron, 0 for none.
        size: Largest of the weaker pushes, N.
    """
    return CORNERS[count] * (_REACH[count] * size)


def tip_pushes(body: RigidBody, count: int, size: float) -> PushScenarios:
    """Pushes at the point of a body that is farthest from its centre of mass.

    Args:
        body: What is pushed.
        count: See ``push_corners``.
        size: All pushes at the tip up to this size are to be resisted, N.
    """
    arms = body.vertices - body.center
    tip = arms[int(np.argmax(np.linalg.norm(arms, axis=1)))]
    return PushScenarios(
        np.tile(tip, (count, 1)), push_corners(count, size), float(_REACH[count] * size)
    )
