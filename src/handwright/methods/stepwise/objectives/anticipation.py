"""What a hand expects of a body, and how fast it learns better (section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.core.events import Grip
from handwright.mechanics.cones import ContactForces, LeastForces
from handwright.mechanics.wrench import ForceContacts, force_contacts
from handwright.methods.stepwise.contacts.contact_state import ContactArrays, ContactState
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.step import ForceTarget
from handwright.methods.stepwise.world import SteppedBody

# Weights of sums of forces that differ from what is expected, 1/N^2: of a weight that is taken up,
# and of a hold that is disturbed.
_LIFT_WEIGHT, _HOLD_WEIGHT = 20.0, 10.0
# Below this a weight is nothing, 1/N^2.
_NO_WEIGHT = 1e-3
# Grips are this much firmer than the believed weight at rest asks for: people's are, and lifting
# takes more than holding.
_FIRMNESS = 2.0
# By how much the largest grip grows in a frame at full response.
_GROWTH = 0.2
# Grips that may be this much larger than expected are not limited any more.
_UNLIMITED = 20.0
# Least cap in shares of the largest one: a contact that need not press may, a little.
_LEAST_CAP = 0.2


@dataclass(slots=True, eq=False)
class Expectation:
    """What one hand expects of the body that it holds."""

    grip: Grip
    hand: int
    body: int
    lift_weight: float = 0.0
    hold_weight: float = 0.0
    total: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Sum of forces that was there before a disturbance, N."""
    slack: float = 1.0
    """Factor by which the grip may exceed what is expected."""
    is_losing: bool = False
    """Whether the body slips out of the hand."""
    _solver: LeastForces | None = None

    def owns(self, contact: ContactState) -> bool:
        """Whether a contact is one of this hand on this body."""
        return contact.hand == self.hand and contact.body == self.body

    def begin_lift(self) -> None:
        """The hand is about to carry what it believes to be the weight."""
        self.lift_weight, self.slack = _LIFT_WEIGHT, 1.0

    def disturb(self, contacts: list[ContactState]) -> None:
        """Something has pushed the body: the forces stay what they were, for a while."""
        forces = [contact.force for contact in contacts if self.owns(contact)]
        if forces:
            self.total, self.hold_weight = np.sum(forces, axis=0), _HOLD_WEIGHT

    def force_targets(self, frame: Frame, contacts: list[ContactState]) -> list[ForceTarget]:
        """Sums of forces that are expected now."""
        weight = frame.world.body_weights[self.body]
        own = np.array([self.owns(contact) for contact in contacts], dtype=bool)
        found = []
        if self.lift_weight > _NO_WEIGHT:
            found.append(ForceTarget(own, -self.grip.believed_mass * weight, self.lift_weight))
        if self.hold_weight > _NO_WEIGHT:
            found.append(ForceTarget(own, self.total, self.hold_weight))
        return found

    def limit(self, frame: Frame, contacts: list[ContactState], rows: ContactArrays) -> None:
        """Caps normal forces at what the believed mass and friction need (eq. 8).

        The paper shares the grip equally; here every contact has its part of the smallest forces
        that balance the believed weight, for a thumb must balance all fingers.
        """
        own = [k for k, contact in enumerate(contacts) if self.owns(contact)]
        if self.slack > _UNLIMITED:
            for k in own:
                contacts[k].cap = np.inf
        if not own or self.slack > _UNLIMITED:
            return
        body, now = frame.world.bodies[self.body], frame.bodies[self.body]
        believed = self.grip.believed_mass * frame.world.body_weights[self.body]
        wrench = np.concatenate([-believed, np.zeros(3)])
        cones = force_contacts(
            rows.point[own],
            rows.normal[own],
            center=now.center,
            friction=self.grip.believed_friction * body.body.friction,
        )
        solved = self._least_forces(cones, wrench, body)
        if not solved.is_feasible:
            # The grip has come apart: what is left presses no harder than before.
            known = [contacts[k].cap for k in own if np.isfinite(contacts[k].cap)]
            for k in own:
                contacts[k].cap = min(contacts[k].cap, max(known, default=0.0))
            return
        normal = np.einsum("ki,ki->k", solved.forces, rows.normal[own])
        cap = self.slack * _FIRMNESS * np.maximum(normal, _LEAST_CAP * normal.max())
        for k, most in zip(own, cap, strict=True):
            contacts[k].cap = float(most)

    def allow_slip(
        self,
        frame: Frame,
        contacts: list[ContactState],
        rows: ContactArrays,
        push: Float[np.ndarray, "3"],
    ) -> bool:
        """Contacts slide when the largest grip that is expected to do cannot hold the body.

        A body that lies on something need not be held: there it is the lift that the hand tries to
        give that must not slip. Else a hand that grips too lightly would stay with what it cannot
        hold, or go along with what falls out of it; people do not. Says whether a contact changed.
        The push is the force from outside on the body, N.
        """
        own = [
            k
            for k, contact in enumerate(contacts)
            if self.owns(contact) and not contact.is_separated
        ]
        if not own or self.slack > _UNLIMITED:
            return False
        body, now = frame.world.bodies[self.body], frame.bodies[self.body]
        weight = frame.world.body_weights[self.body]
        is_lying = any(contact.hand < 0 and contact.body == self.body for contact in contacts)
        load = self.grip.believed_mass * weight if is_lying else weight + push
        cones = force_contacts(
            rows.point[own],
            rows.normal[own],
            center=now.center,
            friction=body.body.friction,
            cap=np.array([contacts[k].cap for k in own]),
        )
        solved = self._least_forces(cones, np.concatenate([-load, np.zeros(3)]), body)
        self.is_losing = not solved.is_feasible
        changed = False
        for k in own if self.is_losing else ():
            contact, lacking = contacts[k], solved.residual[:3]
            contact.is_let_go = True
            along = lacking - (lacking @ rows.normal[k]) * rows.normal[k]
            size = float(np.linalg.norm(along))
            if contact.mode == ContactMode.STATIC and size > 0.0:
                contact.mode, contact.drag, changed = ContactMode.SLIDING, along / size, True
        return changed

    def _least_forces(
        self, cones: ForceContacts, wrench: Float[np.ndarray, "6"], body: SteppedBody
    ) -> ContactForces:
        """Smallest forces for a wrench; the solver's memory is kept from frame to frame."""
        count = len(cones.arm)
        if self._solver is None or self._solver.capacity < count:
            self._solver = LeastForces(2 * count)
        return self._solver.solve(
            cones,
            wrench,
            force_scale=float(np.linalg.norm(wrench[:3])),
            length_scale=body.body.radius_of_gyration,
        )

    def learn(self, frames: float) -> None:
        """Gives up a share of what was expected; ``frames`` is the time in frames of 1/30 s."""
        left = (1.0 - self.grip.response) ** frames
        self.lift_weight *= left
        self.hold_weight *= left
        self.slack *= (1.0 + _GROWTH * self.grip.response) ** frames
