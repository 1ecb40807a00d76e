"""How deep the whole skin of a hand is in a body's mesh and in the surroundings.

The search looks at some points of the skin and reads a grid of distances, which hides a fraction
of a millimetre. Here every vertex counts; the grid only says which of them need a closer look.
"""

from __future__ import annotations

import numpy as np

from handwright.core.hand import HandModel
from handwright.geometry.environment import EnvironmentArrays, environment_value_gradient
from handwright.geometry.exact import ExactDistance
from handwright.geometry.sdf import Field, field_value
from handwright.hands.skin import skin_of
from handwright.kinematics import posed_skin
from handwright.math.compiled import kernel
from handwright.math.packed import Packed
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
    vertices = posed_skin(model, skin_of(model), q, root)
    is_near = np.zeros(vertices.shape[:2], dtype=np.bool_)
    for t in range(len(q)):
        world = around._replace(
            normals=around.normals[t],
            offsets=around.offsets[t],
            positions=around.positions[t],
            rotations=around.rotations[t],
        )
        depth[t] = _look(Packed(field), Packed(world), vertices[t], is_near[t])
    frame, vertex = np.nonzero(is_near)
    if len(frame):
        np.maximum.at(depth, frame, -exact.signed_distance(vertices[frame, vertex])[0])
    return depth


@kernel
def _look(field: Field, world: EnvironmentArrays, points: np.ndarray, is_near: np.ndarray) -> float:
    """Marks points that are deep in the grid; returns the largest depth in the surroundings, m."""
    deepest = 0.0
    has_surroundings = world.frictions.shape[0] > 0
    for n in range(points.shape[0]):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        is_near[n] = field_value(field, x, y, z) < -_CLOSER_LOOK
        if has_surroundings:
            deepest = max(deepest, -environment_value_gradient(world, x, y, z)[0])
    return deepest
