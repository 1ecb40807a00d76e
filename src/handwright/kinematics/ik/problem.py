"""What inverse kinematics asks of one digit, and the room in which it writes its equations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from handwright.kernels.decorators import inlined
from handwright.kinematics.ik.digit_table import Rig
from handwright.kinematics.obstacles import Around
from handwright.kinematics.skin.memory import SkinMemory, make_skin_memory, no_skin_memory
from handwright.kinematics.skin.samples import SkinSamples

MAX_JOINTS = 16


class IkWeights(NamedTuple):
    """Weights of the objective; lengths in metres, angles in radians."""

    pad: float = 1.0
    nail: float = 1e-4
    object: float = 4.0
    digits: float = 4.0
    posture: float = 1e-6
    least_nail_cosine: float = 0.0
    """The cosine between nail and surface normal that the hinge asks for."""
    object_margin: float = 0.0
    """Clearance kept from the object, m; negative lets the soft pad sink in."""
    digit_margin: float = -1e-3
    """Clearance kept between digits, m; negative allows as much overlap."""
    environment: float = 4.0
    """Of the surroundings; only skin points keep out of them."""
    num_spheres: int = 4
    """Samples along each capsule's axis."""
    num_object_capsules: int = 2
    """How many capsules of a digit avoid the object, counted from the tip."""
    max_iterations: int = 30
    polish: float = 1e-11
    """A step that promises to lower the cost by less, m^2, is the last, and is not tested."""
    damping: float = 1e-6
    """Of the first iteration, relative to the diagonal of the normal equations."""


class DigitProblem(NamedTuple):
    """Where one digit should be, and what it must keep out of, in the frame of the object."""

    rig: Rig
    around: Around
    target: np.ndarray
    """(3,) of the pad, m."""
    normal: np.ndarray
    """(3,) out of the object there."""
    reference: np.ndarray
    """(J,) preferred joint values, rad."""
    low: np.ndarray
    """(J,) rad."""
    high: np.ndarray
    """(J,) rad."""
    weights: IkWeights


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


@inlined
def add_row(work: DigitWorkspace, side: int, count: int, residual: float, weight: float) -> None:
    """Adds weight * residual^2, with its derivatives in ``work.row``, to the normal equations."""
    for a in range(count):
        scaled = weight * work.row[a]
        work.gradient[side, a] += scaled * residual
        for b in range(a + 1):
            work.matrix[side, a, b] += scaled * work.row[b]
