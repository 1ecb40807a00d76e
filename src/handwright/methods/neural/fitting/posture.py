"""The network's pose as joint values of a hand within its limits and couplings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.kinematics.ik.digit_table import rig_of
from handwright.kinematics.ik.problem import DigitWorkspace, make_work
from handwright.kinematics.tree import Links
from handwright.methods.neural.fitting.body_view import BodyView, nothing_seen
from handwright.methods.neural.fitting.digit_solver import DigitTask, settle_digit
from handwright.methods.neural.fitting.joint_table import joint_table, wrist_links
from handwright.methods.neural.fitting.network_pose import empty_pose, read_pose
from handwright.methods.neural.fitting.pose_terms import PoseWeights
from handwright.methods.neural.fitting.touch_terms import touch_table


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How the network's pose is turned into joint values."""

    arm: float = 0.02
    """Length on which an angle counts beside distances of joints, m."""
    stiffness: float = 1e-7
    """Pull to the posture that the fit starts from, m^2/rad^2: settles what is left open."""
    max_iterations: int = 10
    small_step: float = 1e-4
    """Largest change of a joint, rad, after which a digit is left as it is."""

    def __post_init__(self) -> None:
        if not (0.0 <= self.arm < 1.0 and 0.0 <= self.stiffness < 1.0 and self.small_step > 0.0):
            raise InvalidValueError(
                f"{self}: expected an arm of 0 to 1 m, a stiffness of 0 to 1 m^2/rad^2 and a small "
                "step above 0."
            )
        if self.max_iterations < 1:
            raise InvalidValueError(f"{self}: expected one iteration or more.")


class _Room(NamedTuple):
    """What the kernel reads and writes for one hand."""

    task: DigitTask
    nothing: BodyView
    """A fit looks at no body."""
    links: Links
    work: DigitWorkspace


@kernel
def _fit_batch(room: _Room, outputs: np.ndarray, q: np.ndarray) -> None:
    """Fits every row of ``q`` to its row of outputs, starting from what it holds."""
    task = room.task
    for row in range(q.shape[0]):
        read_pose(task.joints, outputs, row, task.pose)
        for joint in range(q.shape[1]):
            task.reference[joint] = q[row, joint]
        for digit in range(task.joints.first.shape[0] - 1):
            settle_digit(task, room.nothing, 0, room.links, digit, q[row], room.work)


class PostureFit:
    """The fit for one hand; holds room to compute in, so one thread at a time may use it."""

    __slots__ = ("_clamp", "_room")

    def __init__(self, model: HandModel, settings: FitSettings | None = None) -> None:
        settings = FitSettings() if settings is None else settings
        weights = PoseWeights(position=1.0, turn=settings.arm**2)
        joints = joint_table(model)
        task = DigitTask(
            rig_of(model), joints, empty_pose(), weights,
            touch_table(model, joints, push=0.0, depth=0.0),
            np.zeros(model.num_joints), np.full(model.num_joints, settings.stiffness),
            settings.max_iterations, settings.small_step,
        )  # fmt: skip
        self._clamp = model.joints.clamp
        self._room = Packed(_Room(task, nothing_seen(), wrist_links(model), make_work()))

    def __call__(
        self, outputs: Float[np.ndarray, "N 220"], starts: Float[np.ndarray, "N J"]
    ) -> Float[np.ndarray, "N J"]:
        """Joint values that come nearest to the network's poses, rad.

        Args:
            outputs: What the network gave.
            starts: Joint values to start from, such as those of the frame before, rad. Joints
                outside the digits stay as they are.
        """
        q = np.ascontiguousarray(self._clamp(starts))
        _fit_batch(self._room, outputs, q)
        return q
