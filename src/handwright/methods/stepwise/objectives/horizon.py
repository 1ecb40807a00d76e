"""What states cost from the end of a frame on, for all hands and bodies (see ``cost_to_go``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.methods.stepwise.contacts.contact_state import ContactArrays, ContactState
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.cost_to_go import (
    Errors,
    Modes,
    Quadratic,
    common_modes,
    cost_to_go,
)
from handwright.methods.stepwise.objectives.joint_effort import (
    acceleration_cost,
    block,
    kept_rows,
    position_cost,
    put_block,
    weighted_errors,
)
from handwright.methods.stepwise.qp.dynamics import FrameDynamics
from handwright.methods.stepwise.settings import Settings
from handwright.methods.stepwise.world import World


class VelocityObjectives(NamedTuple):
    """Objectives on velocities: rows with errors and weights."""

    matrix: Float[np.ndarray, "M N"]
    error: Float[np.ndarray, " M"]
    """Error now, in the unit of what the rows are the velocity of."""
    weight: Float[np.ndarray, " M"]
    target_velocity: Float[np.ndarray, " M"]
    """Velocity that is wanted."""


class Horizon:
    """The cost to go of one frame, which may be solved more than once.

    Modes take longest. They change only with what slides, and with bodies that come to touch; as
    long as neither does, the ones that are known are used again.
    """

    def __init__(
        self, frame: Frame, wanted: VelocityObjectives, weights: Settings, *, torque_weight: float
    ) -> None:
        """Takes what stays the same in a frame.

        Args:
            frame: States before it.
            wanted: Kinematic objectives and objectives on postures.
            weights: Weights.
            torque_weight: Weight of changes of torque, in place of that in ``weights``.
        """
        self._frame, self._wanted, self._weights = frame, wanted, weights
        self._torque_weight = torque_weight / frame.step**2
        self.torque_weight = self._torque_weight * frame.world.torque_weights
        """Weights of squared changes of torque, for every velocity of hands."""
        self._key: tuple | None = None
        self._groups: list[tuple[np.ndarray, Modes]] = []
        self._effort: np.ndarray | None = None

    def value(
        self, dynamics: FrameDynamics, contacts: list[ContactState], rows: ContactArrays
    ) -> Quadratic:
        """The cost to go by the velocities of a frame."""
        weights, wanted = self._weights, self._wanted
        before, step = self._frame.velocity, self._frame.step
        share = [_kept_share(contact, weights.sliding_weight) for contact in contacts]
        kept, off = kept_rows(rows.kinematics, np.array(share), step)
        errors = Errors(*weighted_errors(kept, off, weights.contact_weight, *wanted))
        key = tuple(
            (id(contact), part)
            for contact, part in zip(contacts, share, strict=True)
            if part >= 0.0
        )
        if key != self._key:
            self._key = key
            stiffness = position_cost(kept, weights.contact_weight, wanted.matrix, wanted.weight)
            self._groups = self._find_modes(dynamics, contacts, rows, stiffness)
        n = self._frame.world.num_velocities
        if len(self._groups) == 1:
            return cost_to_go(self._groups[0][1], errors, before, step)
        hessian, gradient = np.zeros((n, n)), np.zeros(n)
        for own, modes in self._groups:
            mine = Errors(errors.position[own], errors.velocity[own])
            part = cost_to_go(modes, mine, before[own], step)
            put_block(hessian, own, part.hessian)
            gradient[own] = part.gradient
        return Quadratic(hessian, gradient)

    def _find_modes(
        self,
        dynamics: FrameDynamics,
        contacts: list[ContactState],
        rows: ContactArrays,
        stiffness: np.ndarray,
    ) -> list[tuple[np.ndarray, Modes]]:
        """Modes of all groups of hands and bodies that hold each other, each for itself."""
        if self._effort is None:
            # Contacts of hands stay the same while a frame is solved.
            held = np.ascontiguousarray(rows.relative[rows.which.hand >= 0])
            self._effort = acceleration_cost(
                held, dynamics.mass, dynamics.inertia, self._torque_weight
            )
        effort, groups, step = self._effort, _groups(self._frame.world, contacts), self._frame.step
        if len(groups) == 1:
            return [(groups[0], common_modes(stiffness, effort, step))]
        return [
            (own, common_modes(block(stiffness, own), block(effort, own), step)) for own in groups
        ]


def _kept_share(contact: ContactState, sliding: float) -> float:
    """How much of a contact is kept across its normal; -1 for one that is not kept at all."""
    if contact.hand < 0:
        # Only hands try to keep what they touch.
        return -1.0
    if contact.mode != ContactMode.SLIDING:
        return 1.0
    return 0.0 if contact.is_let_go else sliding


def _groups(world: World, contacts: list[ContactState]) -> list[np.ndarray]:
    """Velocities of hands and bodies that are joined by contacts of hands."""
    count = len(world.hands)
    group = list(range(count + len(world.bodies)))
    for contact in contacts:
        if contact.hand >= 0:
            one, two = group[contact.hand], group[count + contact.body]
            group = [one if g == two else g for g in group]
    number = np.arange(world.num_velocities)
    if len(set(group)) == 1:
        return [number]
    owned = [
        (g, number[part.slice])
        for g, part in zip(group, (*world.hands, *world.bodies), strict=True)
    ]
    return [np.concatenate([own for g, own in owned if g == one]) for one in sorted(set(group))]
