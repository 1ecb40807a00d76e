"""What a session has done, as a clip: poses at frames, contacts with their forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip, HandMotion, Provenance
from handwright.core.contact import ENVIRONMENT, Contact, ContactMode, ContactTrack
from handwright.core.problem import Problem
from handwright.core.tolerances import STATIC_SPEED
from handwright.math.pose import Pose
from handwright.math.vectors import length
from handwright.methods.stepwise.contacts.contact_state import (
    ContactArrays,
    ContactState,
    mean_slip,
)
from handwright.methods.stepwise.contacts.transition_kernels import gaps_and_forces
from handwright.methods.stepwise.qp.step import StepSolution
from handwright.methods.stepwise.world import World

# Forces below this are not listed, N.
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Where everything is after a frame."""

    time: float
    """s."""
    hands: Mapping[str, tuple[Pose, Float[np.ndarray, " J"]]]
    """Root and joint values, rad."""
    bodies: Mapping[str, Pose]
    contacts: tuple[Contact, ...]
    """Contacts of the frame that led here, at its start; their frame is its number."""


@dataclass(slots=True)
class SessionTally:
    """What a session has met with."""

    frames: int = 0
    contacts_max: int = 0
    infeasible: int = 0
    """Frames that could only be solved with nothing kept apart."""
    corrections: int = 0
    """Times that a frame was solved once more because a contact would have added energy."""
    added_energy: float = 0.0
    """Most that contacts that slide or break have added in a frame, J."""


def listed_contacts(
    world: World,
    contacts: list[ContactState],
    rows: ContactArrays,
    solved: StepSolution,
    frame: int,
) -> list[Contact]:
    """Contacts that carry force in a frame; one that slides before or after it is called so.

    ``frame`` is its number.
    """
    found = []
    mean = mean_slip(rows, solved.velocity)
    gap, _ = gaps_and_forces(rows.offset, rows.normal, solved.force)
    for k in np.flatnonzero((np.abs(solved.force) > _NOTHING).any(axis=1)).tolist():
        contact = contacts[k]
        toucher, part = ENVIRONMENT, contact.part
        if contact.hand >= 0:
            toucher = world.hands[contact.hand].name
        elif contact.other >= 0:
            toucher, part = world.bodies[contact.other].name, -1
        mode = contact.mode
        if mode == ContactMode.STATIC and length(mean[k]) > STATIC_SPEED:
            mode = ContactMode.SLIDING
        found.append(
            Contact(
                frame=frame,
                toucher=toucher,
                part=part,
                body=world.bodies[contact.body].name,
                point=rows.point[k].copy(),
                normal=rows.normal[k] / length(rows.normal[k]),
                gap=float(gap[k]),
                force=solved.force[k].copy(),
                mode=mode,
            )
        )
    return found


def make_clip(problem: Problem, moments: Sequence[Moment], method: str, *, first: int) -> Clip:
    """A clip of all moments; contacts of a frame are those found on the way to the next one.

    Args:
        problem: What was stepped.
        moments: One after the other.
        method: Name, for the provenance.
        first: Number of the frame that begins with the first of them.
    """
    times = np.array([moment.time for moment in moments])
    contacts = [
        replace(contact, frame=contact.frame - first) if first else contact
        for moment in moments
        for contact in moment.contacts
        if contact.frame >= first
    ]
    return Clip(
        problem=problem,
        times=times,
        hands={
            name: HandMotion(
                _poses([moment.hands[name][0] for moment in moments]),
                np.array([moment.hands[name][1] for moment in moments]),
            )
            for name in problem.hands
        },
        bodies={
            name: _poses([moment.bodies[name] for moment in moments]) for name in problem.bodies
        },
        contacts=ContactTrack.of(contacts),
        provenance=Provenance(problem.name, method),
    )


def _poses(poses: list[Pose]) -> Pose:
    return Pose(
        np.array([pose.position for pose in poses]), np.array([pose.wxyz for pose in poses])
    )
