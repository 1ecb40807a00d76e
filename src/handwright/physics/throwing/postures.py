"""Postures of a throwing hand, and how fingers go from one to another."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.hands.human.anthropometry import DIGITS

# Degrees, digit by digit in the order of the tree: two or three joints at the base, then knuckles.
_POSTURES: dict[str, dict[str, tuple[float, ...]]] = {
    "cup": {
        "thumb": (-8.0, 6.0, 0.0, 8.0, 0.0, 10.0),
        "index": (4.0, 0.0, 28.0, 6.0, 24.0, 12.0),
        "middle": (3.0, 0.0, 30.0, 1.0, 26.0, 13.0),
        "ring": (10.0, 0.0, 30.0, -4.0, 26.0, 13.0),
        "little": (16.0, 0.0, 30.0, -8.0, 26.0, 13.0),
    },
    "open": {
        "thumb": (-16.0, -4.0, 0.0, 0.0, 0.0, 2.0),
        "index": (0.0, 0.0, 4.0, 8.0, 10.0, 6.0),
        "middle": (0.0, 0.0, 6.0, 1.0, 12.0, 6.0),
        "ring": (4.0, 0.0, 6.0, -6.0, 12.0, 6.0),
        "little": (8.0, 0.0, 6.0, -12.0, 12.0, 6.0),
    },
    "closed": {
        "thumb": (14.0, 10.0, 0.0, 26.0, 0.0, 24.0),
        "index": (6.0, 0.0, 54.0, 3.0, 46.0, 26.0),
        "middle": (4.0, 0.0, 56.0, 0.0, 48.0, 28.0),
        "ring": (14.0, 0.0, 56.0, -2.0, 48.0, 28.0),
        "little": (21.0, 0.0, 56.0, -5.0, 46.0, 26.0),
    },
}
POSTURES = tuple(_POSTURES)


def posture(model: HandModel, name: str) -> Float[np.ndarray, " J"]:
    """Joint values of a hand with its arm at zero, rad.

    Args:
        model: A human hand with its arm.
        name: One of ``POSTURES``.
    """
    q = np.zeros(model.num_joints)
    for digit in DIGITS:
        first = next(j for j, joint in enumerate(model.joints.names) if joint.startswith(digit))
        values = _POSTURES[name][digit]
        q[first : first + len(values)] = np.radians(values)
    return model.joints.clamp(q)
