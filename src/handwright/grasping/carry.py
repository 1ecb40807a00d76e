"""How well an arm can carry a body that it has grasped in some way to where it is wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.kinematics.ik.frames import PointGoals, RotationGoals, solve_frames
from handwright.math.pose import Pose

# The outermost share of a joint's range that is better not used, on either side.
_OUTER = 0.08
# What counts like a joint at its limit: a wrist this far off, m and rad.
_OFF, _TURNED = 5e-3, 0.05
# Weight of the posture that is preferred, m^2/rad^2: a radian counts like a millimetre.
_POSTURE = 1e-6


def carrying_strain(
    model: HandModel,
    q: Float[np.ndarray, " J"],
    root: Pose,
    wrist: Pose,
    poses: Sequence[Pose],
) -> float:
    """0 if an arm can hold a body comfortably everywhere; else by how much it cannot.

    Each joint at its limit counts as one, and so does a wrist that stays 5 mm or 3 degrees off.

    Args:
        model: A hand with an arm.
        q: Posture to begin with, and that is preferred, rad.
        root: Pose of the arm's root in the world.
        wrist: Pose of the wrist in the frame of the body.
        poses: Poses of the body in the world; the arm goes from one to the next.
    """
    names = model.joints.names[: model.wrist_link]
    link = np.array([model.wrist_link])
    lower, upper = (limit[: len(names)] for limit in (model.joints.lower, model.joints.upper))
    worst, now = 0.0, q
    for pose in poses:
        wanted = pose @ wrist
        found = solve_frames(
            model,
            now,
            points=PointGoals(link, np.zeros((1, 3)), wanted.position[None], np.ones(1)),
            rotations=RotationGoals(link, wanted.wxyz[None], np.ones(1)),
            joints=names,
            root=root,
            reference=q,
            posture=_POSTURE,
        )
        now = found.q
        share = (now[: len(names)] - lower) / (upper - lower)
        outer = np.maximum(_OUTER - np.minimum(share, 1.0 - share), 0.0) / _OUTER
        strain = float((outer**2).sum())
        strain += (float(found.error[0]) / _OFF) ** 2 + (
            float(found.rotation_error[0]) / _TURNED
        ) ** 2
        worst = max(worst, strain)
    return worst
