"""How deep the skin of a finished motion is in the body's own mesh.

The search reads distances from a grid, which rounds sharp edges off by a fraction of a millimetre.
"""

from __future__ import annotations

import numpy as np

from handwright.geometry.sdf import sample_field
from handwright.hands.skin import skin_of
from handwright.kinematics.skinning import posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.sampling.prepare import Prepared

# The grid is never further off than this, m.
_GRID_ERROR = 1e-3


def exact_depths(one: Prepared, q: np.ndarray) -> np.ndarray:
    """(T,) depth of the deepest skin point in the body, m.

    Args:
        one: The holding.
        q: (T, J) joint values of all hands, rad.
    """
    stage = one.stage
    deepest = np.zeros(len(q))
    for h, model in enumerate(one.models):
        first = int(stage.offset[h])
        root = Pose(
            stage.root_position[:, h].copy(), rotation.from_matrix(stage.root_rotation[:, h])
        )
        skin = posed_skin(model, skin_of(model), q[:, first : first + model.num_joints], root)
        for t, points in enumerate(skin):
            rough, _ = sample_field(stage.field, points)
            near = points[rough < _GRID_ERROR]
            if len(near):
                depth = -float(one.distance.signed_distance(near)[0].min())
                deepest[t] = max(deepest[t], depth)
    return deepest
