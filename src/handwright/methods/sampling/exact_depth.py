"""How deep the whole skin of a hand is in a body's mesh and in the surroundings.

The search looks at some points of the skin and reads a grid of distances, which hides a fraction
of a millimetre. Here every vertex counts; the grid only says which of them need a closer look.
"""

from __future__ import annotations

import numpy as np

from handwright.core.hand import HandModel
from handwright.geometry.environment import EnvironmentArrays
from handwright.geometry.exact import ExactDistance
from handwright.geometry.sdf import Field, sample_field
from handwright.hands.skin import skin_of
from handwright.kinematics import posed_skin
from handwright.math.pose import Pose

# Depth in the grid from which a vertex is held against the mesh, m.
_CLOSER_LOOK = 3e-4


def skin_depths(
    model: HandModel,
    q: np.ndarray,
    root: Pose,
    field: Field,
    exact: ExactDistance,
    around: EnvironmentArrays,
) -> np.ndarray:
    """(T,) depth of the deepest vertex, m; 0 for hands without skin.

    Args:
        model: The hand.
        q: (T, J) joint values, rad.
        root: (T,) of the hand in the body's frame.
        field: Grid of distances of the body.
        exact: Distances of the body.
        around: Surroundings in the body's frame, with a leading frame axis.
    """
    depth = np.zeros(len(q))
    if model.skin is None or model.side == "none":
        return depth
    skin = skin_of(model)
    low, high = field.origin, field.upper
    for t, vertices in enumerate(posed_skin(model, skin, q, root)):
        near = vertices[((vertices > low) & (vertices < high)).all(axis=1)]
        if len(near):
            near = near[sample_field(field, near)[0] < -_CLOSER_LOOK]
        if len(near):
            depth[t] = max(0.0, -float(exact.signed_distance(near)[0].min()))
        depth[t] = max(depth[t], _depth_around(around, t, vertices))
    return depth


def _depth_around(around: EnvironmentArrays, t: int, points: np.ndarray) -> float:
    """Depth of the deepest point in the surroundings of a frame, m."""
    depth = 0.0
    for normal, offset in zip(around.normals[t], around.offsets[t], strict=True):
        depth = max(depth, float((offset - points @ normal).max()))
    for place, turn, half in zip(
        around.positions[t], around.rotations[t], around.half_extents, strict=True
    ):
        over = np.abs((points - place) @ turn) - half
        depth = max(depth, -float(over.max(axis=1).min()))
    return depth
