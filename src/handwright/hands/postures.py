"""Named poses of the human hand, in degrees; chosen by eye on the finished skin."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import JointTree

# digit: values of its six joints in tree order.
_FLAT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
POSTURES: dict[str, dict[str, tuple[float, ...]]] = {
    "neutral": {
        "thumb": _FLAT,
        "index": _FLAT,
        "middle": _FLAT,
        "ring": _FLAT,
        "little": _FLAT,
    },
    "rest": {
        "thumb": (5.0, 4.0, 4.0, 12.0, 0.0, 18.0),
        "index": (0.0, 0.0, 22.0, 2.0, 30.0, 14.0),
        "middle": (0.0, 0.0, 28.0, 0.0, 36.0, 18.0),
        "ring": (3.0, 0.0, 32.0, -1.0, 40.0, 20.0),
        "little": (6.0, 0.0, 36.0, -3.0, 42.0, 22.0),
    },
    "open": {
        "thumb": (-18.0, -4.0, 0.0, -5.0, 0.0, -10.0),
        "index": (0.0, 0.0, -4.0, 12.0, 2.0, 2.0),
        "middle": (0.0, 0.0, -4.0, 2.0, 2.0, 2.0),
        "ring": (0.0, 0.0, -4.0, -8.0, 2.0, 2.0),
        "little": (0.0, 0.0, -4.0, -18.0, 2.0, 2.0),
    },
    "closed": {
        "thumb": (28.0, 20.0, 10.0, 40.0, 0.0, 45.0),
        "index": (2.0, 0.0, 78.0, 0.0, 100.0, 60.0),
        "middle": (2.0, 0.0, 82.0, 0.0, 102.0, 62.0),
        "ring": (8.0, 0.0, 84.0, 0.0, 102.0, 62.0),
        "little": (14.0, 0.0, 84.0, 2.0, 100.0, 60.0),
    },
    "pinch": {
        "thumb": (16.2, 17.1, 30.0, -2.9, 2.5, -13.3),
        "index": (5.0, 1.0, 66.0, 10.2, 24.6, 7.9),
        "middle": (0.0, 0.0, 36.0, 0.0, 40.0, 20.0),
        "ring": (3.0, 0.0, 32.0, -1.0, 36.0, 18.0),
        "little": (6.0, 0.0, 28.0, -4.0, 32.0, 16.0),
    },
}

ARM_REST = {"shoulder_flexion": -60.0, "elbow_flexion": 70.0, "forearm_pronation": 40.0}


def named_poses(joints: JointTree) -> dict[str, Float[np.ndarray, " J"]]:
    """Joint values, rad, of every named pose for a human hand with or without an arm."""
    poses = {}
    for name, digits in POSTURES.items():
        q = np.zeros(len(joints))
        for joint, value in ARM_REST.items():
            if joint in joints.names:
                q[joints.index(joint)] = value
        for digit, values in digits.items():
            first = next(j for j, joint in enumerate(joints.names) if joint.startswith(digit))
            q[first : first + len(values)] = values
        poses[name] = joints.clamp(np.radians(q))
    return poses
