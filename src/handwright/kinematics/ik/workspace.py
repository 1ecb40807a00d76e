"""Room in which the inverse kinematics of a digit writes its normal equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kinematics.skin.memory import SkinMemory, make_skin_memory, no_skin_memory
from handwright.kinematics.skin.samples import SkinSamples

MAX_JOINTS = 16


class DigitWorkspace(NamedTuple):
    """Room for the normal equations of one digit, at two poses: the present and a tried one."""

    matrix: np.ndarray
    """(2, N, N), lower triangles."""
    gradient: np.ndarray
    """(2, N), half the derivative of the cost."""
    factor: np.ndarray
    step: np.ndarray
    row: np.ndarray
    column: np.ndarray
    """(N, 3) velocity of the pad by each free joint."""
    before: np.ndarray
    held: np.ndarray
    shift: np.ndarray
    free: np.ndarray
    """Joints that are not held."""
    skin: SkinMemory
    """At the first pose of the digit and those that were better, one after the other."""


def make_work(samples: SkinSamples | None = None) -> DigitWorkspace:
    """Room for the normal equations of one digit.

    Args:
        samples: Skin points, to be looked at again only where they can be near something.
    """
    skin = no_skin_memory() if samples is None else make_skin_memory(samples, 1)
    return work_for(2, MAX_JOINTS, skin)


def work_for(num_poses: int, num_joints: int, skin: SkinMemory) -> DigitWorkspace:
    """Room for the normal equations of one digit at this many poses."""
    n = num_joints
    return DigitWorkspace(
        np.zeros((num_poses, n, n)),
        np.zeros((num_poses, n)),
        np.zeros((n, n)),
        np.zeros(n),
        np.zeros(n),
        np.zeros((n, 3)),
        np.zeros(n),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        skin,
    )
