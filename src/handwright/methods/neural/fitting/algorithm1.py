"""Post-processing as published (Zhang et al. 2021, appendix B): blended distances, then CCD.

Each joint that the network puts near the body is moved along the surface normal until its distance
is a blend of the distance predicted and the distance measured; cyclic coordinate descent within the
joint limits then brings the joints of each digit to these places.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.kinematics.ik.ccd import ChainGoals, descend_chain
from handwright.kinematics.ik.digit_table import Rig, rig_of
from handwright.kinematics.tree import Links
from handwright.math.vec3 import row3
from handwright.methods.neural.fitting.body_view import BodyView, distance_from
from handwright.methods.neural.fitting.joint_table import (
    NUM_JOINTS,
    JointTable,
    joint_table,
    wrist_links,
)
from handwright.methods.neural.fitting.network_pose import NetworkPose, empty_pose, read_pose


class Blend(NamedTuple):
    """Numbers of Algorithm 1."""

    gate: float = 0.028
    """Joints that are predicted to be further from the body stay where they are, m."""
    inside: float = 0.8
    """Share of the predicted distance for joints inside the body; the rest is measured."""
    outside: float = 0.2
    """The same for joints outside."""
    sweeps: int = 8
    """How often cyclic descent goes through the joints of a digit."""
    tolerance: float = 1e-4
    """Miss of a digit's joints, m, at which it stops sooner."""


class _Room(NamedTuple):
    """What the kernel reads and writes for one hand."""

    rig: Rig
    joints: JointTable
    goals: ChainGoals
    pose: NetworkPose
    links: Links
    blend: Blend


@kernel
def _set_targets(room: _Room, view: BodyView, row: int) -> None:
    """Places for all joints of digits: Algorithm 1."""
    blend, joints, target = room.blend, room.joints, room.goals.target
    for n in range(joints.first[0], NUM_JOINTS):
        x, y, z = row3(room.pose.position, n)
        predicted = room.pose.distance[n]
        shift, g = 0.0, (0.0, 0.0, 0.0)
        if predicted <= blend.gate:
            measured, g = distance_from(view, row, (x, y, z))
            share = blend.inside if measured < 0.0 else blend.outside
            # The gradient of a grid is not quite of unit length.
            length = np.sqrt(g[0] ** 2 + g[1] ** 2 + g[2] ** 2)
            shift = share * (predicted - measured) / max(length, 1e-9)
        target[n, 0], target[n, 1], target[n, 2] = (
            x + shift * g[0],
            y + shift * g[1],
            z + shift * g[2],
        )


@kernel
def _aim_row(room: _Room, view: BodyView, outputs: np.ndarray, row: int) -> None:
    """Sets the targets of one posture."""
    read_pose(room.joints, outputs, row, room.pose)
    _set_targets(room, view, row)


@kernel
def _write_targets(room: _Room, view: BodyView, outputs: np.ndarray, targets: np.ndarray) -> None:
    """Writes the targets of every row, in the network's frame."""
    for row in range(outputs.shape[0]):
        _aim_row(room, view, outputs, row)
        for n in range(NUM_JOINTS):
            for i in range(3):
                targets[row, n, i] = room.joints.flip[i] * room.goals.target[n, i]


@kernel
def _correct_batch(room: _Room, view: BodyView, outputs: np.ndarray, q: np.ndarray) -> None:
    """Corrects every row of ``q`` by its row of outputs."""
    blend = room.blend
    for row in range(q.shape[0]):
        _aim_row(room, view, outputs, row)
        for digit in range(room.joints.first.shape[0] - 1):
            descend_chain(
                room.rig, room.links, q[row], digit, room.goals, blend.tolerance, blend.sweeps
            )


class PublishedCorrection:
    """Algorithm 1 for one hand; holds room to compute in, so one thread at a time may use it."""

    __slots__ = ("_room",)

    def __init__(self, model: HandModel, blend: Blend | None = None) -> None:
        joints = joint_table(model)
        goals = ChainGoals(joints.first, joints.link, joints.local, np.zeros((NUM_JOINTS, 3)))
        self._room = Packed(
            _Room(
                rig_of(model), joints, goals, empty_pose(), wrist_links(model),
                Blend() if blend is None else blend,
            )
        )  # fmt: skip

    def __call__(
        self, view: BodyView, outputs: Float[np.ndarray, "N 220"], q: Float[np.ndarray, "N J"]
    ) -> Float[np.ndarray, "N J"]:
        """Corrected joint values, rad.

        Args:
            view: The body, from each of the N wrist poses.
            outputs: What the network gave.
            q: Postures that were fitted to it, rad.
        """
        corrected = np.array(q)
        _correct_batch(self._room, Packed(view), outputs, corrected)
        return corrected

    def targets(
        self, view: BodyView, outputs: Float[np.ndarray, "N 220"]
    ) -> Float[np.ndarray, "N 22 3"]:
        """Where the joints of digits are brought, in the frame of the outputs, m.

        Wrist and palm, which cannot move, are left at 0. For the arguments see ``__call__``.
        """
        targets = np.zeros((len(outputs), NUM_JOINTS, 3))
        _write_targets(self._room, Packed(view), outputs, targets)
        return targets
