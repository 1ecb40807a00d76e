"""Named poses of the human hand, in degrees; chosen by eye on the finished skin."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import JointTree
from handwright.hands.human.anthropometry import DIGITS

# digit: values of its six joints in tree order.
POSTURES: dict[str, dict[str, tuple[float, ...]]] = {
    "neutral": dict.fromkeys(DIGITS, (0.0,) * 6),
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
        "thumb": (0.5, 24.0, 17.3, 60.0, 10.0, 10.1),
        "index": (1.9, 1.0, 86.3, 2.3, 106.8, 62.6),
        "middle": (2.8, 1.9, 87.2, 1.2, 106.7, 62.5),
        "ring": (11.0, -0.8, 81.4, 0.0, 100.2, 61.8),
        "little": (13.0, -4.3, 76.3, -5.3, 90.1, 56.7),
    },
    "pinch": {
        "thumb": (16.0, 18.7, 30.0, 0.0, 0.7, -1.3),
        "index": (4.3, 0.4, 60.5, 6.6, 36.7, 5.1),
        "middle": (1.0, 0.0, 34.0, 0.0, 38.0, 18.0),
        "ring": (3.0, 0.0, 28.0, -2.0, 32.0, 16.0),
        "little": (6.0, 0.0, 24.0, -6.0, 28.0, 14.0),
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
