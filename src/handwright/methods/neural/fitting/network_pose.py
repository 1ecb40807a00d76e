"""One row of the network's output, in the wrist frame of the hand that it is for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.errors import InvalidValueError
from handwright.kernels.decorators import kernel
from handwright.methods.neural.fitting.joint_table import NUM_JOINTS, JointTable
from handwright.methods.neural.sensing.features import NUM_OUTPUTS

_TURNS = 3 * NUM_JOINTS
_DISTANCES = 9 * NUM_JOINTS


class NetworkPose(NamedTuple):
    """Where the network puts the joints, and how far from the body it says they are."""

    position: Float[np.ndarray, "22 3"]
    """In the wrist frame, m."""
    axis: Float[np.ndarray, "22 2 3"]
    """Directions of the axes of ``JointTable`` in the wrist frame; of any length."""
    distance: Float[np.ndarray, " 22"]
    """m, 0 or more."""


def empty_pose() -> NetworkPose:
    """Room for one row of outputs."""
    return NetworkPose(
        np.zeros((NUM_JOINTS, 3)), np.zeros((NUM_JOINTS, 2, 3)), np.zeros(NUM_JOINTS)
    )


@kernel
def read_pose(joints: JointTable, outputs: np.ndarray, row: int, pose: NetworkPose) -> None:
    """Takes one row of the network's output to the wrist frame of the hand."""
    flip = joints.flip
    for n in range(NUM_JOINTS):
        pose.distance[n] = max(outputs[row, _DISTANCES + n], 0.0)
        for i in range(3):
            pose.position[n, i] = flip[i] * outputs[row, 3 * n + i]
            for k in range(2):
                pose.axis[n, k, i] = flip[i] * outputs[row, _TURNS + 6 * n + 3 * k + i]


def checked_outputs(
    outputs: Float[np.ndarray, "*B 220"], batch: tuple[int, ...]
) -> Float[np.ndarray, "N 220"]:
    """The network's output as rows of float64; other shapes, NaN and infinity are refused.

    Args:
        outputs: What the network gave.
        batch: Batch axes that it must have.
    """
    given = np.ascontiguousarray(outputs, dtype=np.float64)
    if given.shape != (*batch, NUM_OUTPUTS):
        raise InvalidValueError(
            f"The network's output has shape {given.shape}; expected {(*batch, NUM_OUTPUTS)}, one "
            "row for each posture."
        )
    if not np.isfinite(given).all():
        raise InvalidValueError(
            "The network's output holds NaN or infinity. Were its features finite?"
        )
    return given.reshape(-1, NUM_OUTPUTS)
