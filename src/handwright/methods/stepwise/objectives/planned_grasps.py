"""Grips of a problem while stepping: where the hand is wanted before it holds, and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handwright.core.contact import ContactMode
from handwright.core.events import Grip
from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.grasping.grasp import Grasp, NoGrasp
from handwright.grasping.grips import find_grip
from handwright.grasping.reach import NoReach, ReachPath, reach_path
from handwright.math.pose import Pose
from handwright.methods.stepwise.contacts.contact_state import ContactState
from handwright.methods.stepwise.world import BodyState, World

# Share of the time of a reach after which its end is wanted; the hand follows a little behind.
_ON_THE_WAY = 0.85


class NoGripError(InvalidValueError):
    """A grip that the hand cannot take."""


@dataclass(frozen=True, slots=True, eq=False)
class PlannedGrasp:
    """A grip with its grasp; says where the hand is wanted."""

    grip: Grip
    hand: int
    body: int
    grasp: Grasp
    path: ReachPath | None
    """Path from where the hand starts; None for a hand that begins with the body in its grip."""

    def at(self, time: float) -> tuple[np.ndarray, Pose]:
        """Joint values, rad, and root at a time, s."""
        grip = self.grip
        if time >= grip.held or self.path is None:
            return self.grasp.q, self.grasp.root
        whole = _ON_THE_WAY * (grip.held - grip.start)
        share = float(np.clip((time - grip.start) / whole, 0.0, 1.0))
        # Starts and ends at rest.
        share = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        return self.path.at(share)

    def tracks_tightly(self, time: float) -> bool:
        """Whether the hand is still reaching."""
        return time < self.grip.held

    def releases_arm(self, time: float) -> bool:
        """Whether goals move the arm: once the hand holds."""
        return time >= self.grip.held

    def contacts(self, world: World) -> list[ContactState]:
        """The contacts of the grasp."""
        body = world.bodies[self.body].body
        return [
            ContactState(
                body=self.body,
                hand=self.hand,
                part=contact.capsule,
                link=contact.link,
                local=np.array(contact.hand_point),
                anchor=contact.body_point - body.center,
                normal=np.array(contact.inward),
                friction=body.friction,
                mode=ContactMode.STATIC,
            )
            for contact in self.grasp.contacts
        ]


def plan_grasps(
    problem: Problem, world: World, bodies: list[BodyState], seed: int
) -> list[PlannedGrasp]:
    """A grasp for every grip of a problem."""
    found = []
    hand_names = [hand.name for hand in world.hands]
    body_names = [body.name for body in world.bodies]
    for grip in problem.grips:
        hand, body = hand_names.index(grip.hand), body_names.index(grip.body)
        model, part = world.hands[hand].model, world.bodies[body]
        pose = bodies[body].pose(part.body)
        grasp = find_grip(problem, grip, pose, seed=seed)
        if isinstance(grasp, NoGrasp):
            raise NoGripError(f"Hand '{grip.hand}', body '{grip.body}': {grasp.reason}")
        path: ReachPath | None = None
        if grip.held > grip.start:
            reached = reach_path(
                model,
                grasp,
                part.body,
                pose,
                problem.posture(grip.hand),
                start_root=problem.start[grip.hand] if world.hands[hand].is_free else None,
                environment=problem.environment,
            )
            if isinstance(reached, NoReach):
                raise NoGripError(f"Hand '{grip.hand}', body '{grip.body}': {reached.reason}")
            path = reached
        found.append(PlannedGrasp(grip, hand, body, grasp, path))
    return found
