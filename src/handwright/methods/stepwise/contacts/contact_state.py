"""Contacts while stepping: anchors on both sides, the mode, and the forces that it allows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.methods.stepwise.contacts.contact_kernels import (
    ContactIndices,
    ContactKinematics,
    PlacedContacts,
    along_and_across,
    force_edges,
    moving,
    place_contacts,
    place_hand_contacts,
)
from handwright.methods.stepwise.contacts.transition_kernels import held_positions
from handwright.methods.stepwise.frame import Frame


@dataclass(slots=True, eq=False)
class ContactState:
    """One contact of a body with a hand, with another body or with the environment."""

    body: int
    hand: int = -1
    other: int = -1
    """The other body, where that is what touches; neither for the environment."""
    part: int = -1
    """Capsule of the hand, or surface of the environment."""
    link: int = -1
    """Link of the hand."""
    local: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Point of what touches: in the link, from the other body's centre in its axes, or in the
    world, m."""
    anchor: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Point of the body, from its centre of mass, in its axes, m."""
    normal: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Into the body: in its axes for hands and bodies, in the world for the environment."""
    friction: float = 0.0
    mode: ContactMode = ContactMode.STATIC
    drag: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Where friction pulls the body while it slides: unit length, in the world."""
    cap: float = np.inf
    """Largest normal force, N."""
    is_separated: bool = False
    """Whether it is too far apart for a force in this frame."""
    is_let_go: bool = False
    """Whether the hand does not try to keep it in its place: the grip is too weak for that."""
    is_stuck: bool = False
    """Whether it may not slide in this frame, in a contact with the environment or a body."""
    is_pinned: bool = False
    """Whether it may not part in this frame: it then gives as much force as that takes."""
    curve: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Difference between its motion and the linear one when a frame was last solved, m/s."""
    moved: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Velocity of what touches over the body in the last frame, in the body's axes, m/s."""
    force: Float[np.ndarray, "3"] = field(default_factory=lambda: np.zeros(3))
    """Force of the last frame on the body, in the world, N."""
    idle_frames: int = 0
    """How many of the last frames it was still in and gave no force."""


class ContactMotion(NamedTuple):
    """What touches moves over the bodies by velocities and curves, m/s."""

    velocity: Float[np.ndarray, " N"]
    curve: Float[np.ndarray, "K 3"]
    moved: Float[np.ndarray, "K 3"]
    along: Float[np.ndarray, " K"]
    """Part along the normal, towards the bodies."""
    slip: Float[np.ndarray, "K 3"]
    """Part along the bodies' surfaces."""
    speed: Float[np.ndarray, " K"]
    """Speed of the slip."""


@dataclass(slots=True, eq=False)
class ContactArrays:
    """All contacts of a frame as arrays; K contacts, N velocities, L force coefficients."""

    point: Float[np.ndarray, "K 3"]
    """Points of the bodies in the world, m."""
    offset: Float[np.ndarray, "K 3"]
    """Vectors from these points to those of what touches, m."""
    normal: Float[np.ndarray, "K 3"]
    """Into the body, in the world."""
    relative: Float[np.ndarray, "K 3 N"]
    """Velocity of what touches less that of the body by the velocities."""
    curve: Float[np.ndarray, "K 3"]
    """What is added to it because points move on curves, m/s."""
    edges: Float[np.ndarray, "L 3"]
    """Forces on the body that a unit of a coefficient gives."""
    owner: np.ndarray
    """(L,) contact of each coefficient."""
    which: ContactIndices
    """What touches what."""
    anchor: Float[np.ndarray, "K 3"]
    """Points of bodies from their centres, in their axes, m."""
    before: Float[np.ndarray, "K 3"]
    """Velocities of what touches over the bodies in the last frame, m/s."""
    _known: ContactMotion | None = None

    @property
    def kinematics(self) -> ContactKinematics:
        """How the contacts move, as compiled code takes it."""
        return ContactKinematics(self.relative, self.offset, self.normal, self.curve)

    def motion(self, velocity: Float[np.ndarray, " N"]) -> ContactMotion:
        """What velocities do at the contacts; asked for again and again in a frame."""
        known = self._known
        if known is None or known.velocity is not velocity or known.curve is not self.curve:
            moved = moving(self.relative, self.curve, velocity)
            found = along_and_across(moved, self.normal)
            known = self._known = ContactMotion(velocity, self.curve, moved, *found)
        return known


def contact_arrays(frame: Frame, contacts: list[ContactState]) -> ContactArrays:
    """Points, velocities and force directions of all contacts."""
    world, count = frame.world, len(contacts)
    numbers = np.array(
        [(t.body, t.hand, t.other, t.link, t.mode) for t in contacts], dtype=np.int64
    ).reshape(count, 5)
    body, hand, other, link, mode = np.ascontiguousarray(numbers.T)
    which = ContactIndices(body, hand, other, link)
    vectors = np.array([(t.local, t.anchor, t.normal, t.drag, t.curve, t.moved) for t in contacts])
    vectors = vectors.reshape(count, 6, 3)
    relative = np.zeros((count, 3, world.num_velocities))
    point, toucher, normal, before = np.zeros((4, count, 3))
    out = PlacedContacts(point, toucher, normal, before, relative)
    place_contacts(which, vectors, frame.poses, world.masses.first, out)
    for h, (part, state) in enumerate(zip(world.hands, frame.hands, strict=True)):
        place_hand_contacts(h, part.chain(state.links), which, vectors, out)
    friction = np.array([t.friction for t in contacts], dtype=np.float64)
    edges, owner = force_edges(mode, friction, np.ascontiguousarray(vectors[:, 3]), out.normal)
    return ContactArrays(
        out.point,
        out.toucher - out.point,
        out.normal,
        relative,
        np.ascontiguousarray(vectors[:, 4]),
        edges,
        owner,
        which,
        np.ascontiguousarray(vectors[:, 1]),
        out.before,
    )


def mean_slip(rows: ContactArrays, velocity: Float[np.ndarray, " N"]) -> Float[np.ndarray, "K 3"]:
    """Slip halfway between the last frame and this one, m/s: what differences of poses show."""
    before = along_and_across(rows.before, rows.normal)[1]
    return np.asarray(0.5 * (before + rows.motion(velocity).slip))


def held_points(
    frame: Frame, contacts: list[ContactState]
) -> tuple[Float[np.ndarray, "K 3"], Float[np.ndarray, "K 2"]]:
    """Points of bodies that hands touch, and how far hands are from there, m.

    The distance is along the normal and across it.
    """
    count = len(contacts)
    numbers = np.array([(t.body, t.hand, t.other, t.link) for t in contacts], dtype=np.int64)
    which = ContactIndices(*np.ascontiguousarray(numbers.reshape(count, 4).T))
    vectors = np.array([(t.local, t.anchor, t.normal) for t in contacts]).reshape(count, 3, 3)
    point, away = np.zeros((count, 3)), np.zeros((count, 2))
    for h, state in enumerate(frame.hands):
        held_positions(h, which, vectors, state.links, frame.poses, point, away)
    return point, away
