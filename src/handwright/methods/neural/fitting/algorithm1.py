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
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import Rig, rig_of
from handwright.kinematics.tree import Links, links_for, placed_row
from handwright.math.vec3 import row3
from handwright.methods.neural.fitting.body_view import BodyView, distance_from
from handwright.methods.neural.fitting.joint_table import NUM_JOINTS, JointTable, joint_table
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
    own_places: bool
    """Whether joints start from where the hand has them, not from where the network does."""


@kernel
def _set_targets(room: _Room, view: BodyView, row: int) -> None:
    """Places for all joints of digits: Algorithm 1."""
    blend, joints, target = room.blend, room.joints, room.goals.target
    for n in range(joints.first[0], NUM_JOINTS):
        x, y, z = row3(room.pose.position, n)
        if room.own_places:
            x, y, z = placed_row(room.links, joints.link[n], joints.local, n)
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
def _correct_batch(room: _Room, view: BodyView, outputs: np.ndarray, q: np.ndarray) -> None:
    """Corrects every row of ``q`` by its row of outputs."""
    rig, blend = room.rig, room.blend
    num_digits = room.joints.first.shape[0] - 1
    for row in range(q.shape[0]):
        read_pose(room.joints, outputs, row, room.pose)
        for digit in range(num_digits):
            place_digit(rig, room.links, digit, q[row])
        _set_targets(room, view, row)
        for digit in range(num_digits):
            descend_chain(rig, room.links, q[row], digit, room.goals, blend.tolerance, blend.sweeps)


class PublishedCorrection:
    """Algorithm 1 for one hand; holds room to compute in, so one thread at a time may use it."""

    __slots__ = ("_room",)

    def __init__(self, model: HandModel, *, own_places: bool, blend: Blend | None = None) -> None:
        joints = joint_table(model)
        links = links_for(model)
        links.rotation[model.wrist_link] = np.eye(3)
        goals = ChainGoals(joints.first, joints.link, joints.local, np.zeros((NUM_JOINTS, 3)))
        self._room = Packed(
            _Room(
                rig_of(model), joints, goals, empty_pose(), links,
                Blend() if blend is None else blend, own_places,
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
