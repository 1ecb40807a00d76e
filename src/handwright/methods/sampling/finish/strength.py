"""What the forces of a motion ask of the hands: the force of each digit, the torque at each joint.

The limits are those of a certificate. The hand's own weight is left out: a share of the limits is
kept back for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.hands.human.strength import joint_strength
from handwright.math.pose import Pose
from handwright.mechanics.torques import torque_maps
from handwright.methods.sampling.setup.limits import USABLE_DIGIT_FORCE, USABLE_STRENGTH

# A joint this near to its limit is held there by its ligaments, rad.
_AT_LIMIT = np.radians(0.5)


class HandContacts(NamedTuple):
    """N contacts of one hand over the frames of a motion."""

    frame: Int[np.ndarray, " N"]
    capsule: Int[np.ndarray, " N"]
    """Number of the capsule that touches among those of the hand."""
    point: Float[np.ndarray, "N 3"]
    """m."""
    force: Float[np.ndarray, "N 3"]
    """Force on the body, N."""


def find_overload(
    model: HandModel, q: Float[np.ndarray, "T J"], root: Pose, contacts: HandContacts
) -> tuple[int, str] | None:
    """The frame in which forces ask most of a hand, and of what, if that is too much.

    Joint values are in rad; points and forces are in the same frame as the (T,) poses ``root``.
    """
    frame, capsule, point, force = contacts
    worst, what = 1.0, None
    count, digit = len(q), model.capsules.digit[capsule]
    size = np.linalg.norm(force, axis=1)
    for d, each in enumerate(model.digits):
        mine = digit == d
        share = np.bincount(frame[mine], size[mine], count) / USABLE_DIGIT_FORCE
        if share.max() > worst:
            worst, what = float(share.max()), (int(share.argmax()), each.name)
    strength = joint_strength(model)
    known = np.flatnonzero(strength.is_known)
    maps = torque_maps(model, q[frame], model.capsules.link[capsule], point, root[frame])[:, known]
    torque = np.zeros((count, len(known)))
    np.add.at(torque, frame, np.einsum("nki,ni->nk", maps, force))
    joints = q[:, known]
    at_top = joints >= model.joints.upper[known] - _AT_LIMIT
    at_bottom = joints <= model.joints.lower[known] + _AT_LIMIT
    least = np.where(at_top, -np.inf, strength.lower[known])
    most = np.where(at_bottom, np.inf, strength.upper[known])
    shares = np.maximum(torque / (USABLE_STRENGTH * most), torque / (USABLE_STRENGTH * least))
    if shares.size and shares.max() > worst:
        t, k = (int(i) for i in np.unravel_index(int(shares.argmax()), shares.shape))
        what = (t, model.joints.names[known[k]])
    return what
