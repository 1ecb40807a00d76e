"""Contacts of a motion that is followed: when parts of hands hold, and the forces they give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.clip import Clip
from handwright.core.contact import ContactMode
from handwright.math import rotation
from handwright.math.vectors import length
from handwright.methods.stepwise.contacts.contact_state import ContactState
from handwright.methods.stepwise.contacts.proximity import HandProximity, hand_contact
from handwright.methods.stepwise.contacts.support_corners import TOUCHING
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.point_rows import hand_point_rows
from handwright.methods.stepwise.qp.step import ForceTarget
from handwright.methods.stepwise.world import BodyState, SteppedHand, World

# For so long before and after its contact the plan says whether a part touches, s; at other times
# only what is found there does.
_AROUND = 0.2
# Of a contact whose force is not the planned one, 1/N^2.
_FORCE_WEIGHT = 0.1
# Contacts that wander over a body faster than this roll, m/s.
_ROLLS = 1e-3
# The skin has rolled on when its nearest point is this far from the anchor, m.
_ROLLED = 1.5e-3
# Skin that slips over a body faster than this before it touches is still landing, m/s: half of it
# is what differences of poses show in the first frame of the contact.
_LANDS = 6e-3
# Forces below this are none, N.
_NO_FORCE = 1e-3

Key = tuple[int, int, int]
"""Hand, capsule of the hand and body, as numbers of the world."""


class PlannedTouch(NamedTuple):
    """One contact of a frame of the plan."""

    force: Float[np.ndarray, "3"]
    """Force on the body in its axes, N; zero where nobody has given one."""
    is_sliding: bool
    is_rolling: bool
    """Whether it wanders over the body."""


class FollowedContacts:
    """Contacts of hands in a clip by time."""

    def __init__(self, clip: Clip, world: World) -> None:
        hands = {hand.name: n for n, hand in enumerate(world.hands)}
        bodies = {body.name: n for n, body in enumerate(world.bodies)}
        turns = {name: rotation.to_matrix(pose.wxyz) for name, pose in clip.bodies.items()}
        self._times = clip.times
        self._frames: list[dict[Key, PlannedTouch]] = [{} for _ in clip.times]
        self._listed: list[set[Key]] = [set() for _ in clip.times]
        points: dict[tuple[int, Key], np.ndarray] = {}
        for row in range(len(clip.contacts)):
            contact = clip.contacts[row]
            if contact.toucher not in hands:
                continue
            key = hands[contact.toucher], contact.part, bodies[contact.body]
            self._listed[contact.frame].add(key)
            # Skin that only brushes past does not push.
            if np.linalg.norm(contact.force) < _NO_FORCE:
                continue
            turn = turns[contact.body][contact.frame]
            point = turn.T @ (contact.point - clip.bodies[contact.body].position[contact.frame])
            before = points.get((contact.frame - 1, key), point)
            points[contact.frame, key] = point
            self._frames[contact.frame][key] = PlannedTouch(
                force=turn.T @ np.nan_to_num(contact.force),
                is_sliding=contact.mode == ContactMode.SLIDING,
                is_rolling=bool(np.linalg.norm(point - before) * clip.fps > _ROLLS),
            )

    def _frame(self, time: float) -> int:
        return int(np.argmin(np.abs(self._times - time)))

    def at(self, time: float) -> dict[Key, PlannedTouch]:
        """Contacts of the frame nearest to a time, s."""
        return self._frames[self._frame(time)]

    def governed(self, time: float) -> set[Key]:
        """Parts that touch now, or did or will soon."""
        first, last = self._frame(time - _AROUND), self._frame(time + _AROUND)
        return set().union(*self._listed[first : last + 1])

    def busy(self, hand: SteppedHand, number: int, time: float) -> Bool[np.ndarray, " J"]:
        """Joints of a hand, by its number, that lead to its contacts at a time, s."""
        busy = np.zeros(hand.model.num_joints, dtype=bool)
        for own, part, _ in self.at(time):
            link = int(hand.model.capsules.link[part]) if own == number else 0
            while link > 0:
                busy[link - 1] = True
                link = int(hand.tree.parent[link - 1])
        return busy

    def contacts(
        self, frame: Frame, meetings: list[HandProximity], contacts: list[ContactState]
    ) -> list[ContactState]:
        """Contacts of hands as planned, as far as skin is where it was to be; and those found."""
        bodies = frame.bodies
        planned, governed = self.at(frame.time), self.governed(frame.time)
        near = {(meeting.hand, meeting.body): meeting for meeting in meetings}
        kept, ended = [], []
        for contact in contacts:
            key = _key(contact)
            if key not in governed:
                kept.append(contact)
            elif contact.mode == ContactMode.COLLIDING or contact.cap == 0.0:
                continue
            elif key not in planned:
                ended.append(contact)
            elif contact.mode == ContactMode.STATIC and (
                planned[key].is_rolling
                or _has_rolled(near[contact.hand, contact.body], contact, bodies[contact.body])
            ):
                meeting = near[contact.hand, contact.body]
                fresh = hand_contact(frame, meeting, contact.part, contact.mode)
                fresh.force, fresh.curve, fresh.moved = contact.force, contact.curve, contact.moved
                kept.append(fresh)
            else:
                contact.cap = np.inf
                kept.append(contact)
        known = {_key(contact) for contact in kept}
        carried = {contact.body for contact in kept if contact.hand >= 0}
        late = set()
        for key, wanted in planned.items():
            hand, part, body = key
            meeting = near[hand, body]
            if key in known or meeting.nearest.row[part] < 0:
                continue
            contact = hand_contact(frame, meeting, part, ContactMode.STATIC)
            contact.moved = _velocity_over(frame, contact)
            kept.append(contact)
            if body not in carried:
                # The first finger that lands comes to rest by itself, or would throw the body.
                contact.cap = max(float(wanted.force @ contact.normal), 0.0)
            across = wanted.force - (wanted.force @ contact.normal) * contact.normal
            size = float(np.linalg.norm(across))
            if meeting.nearest.gap[part] > TOUCHING:
                # Not there yet: it comes to the body, which feels nothing of it.
                contact.mode, contact.cap = ContactMode.SLIDING, 0.0
                late.add((hand, body))
            elif wanted.is_sliding and size > 0.0:
                contact.mode, contact.drag = (
                    ContactMode.SLIDING,
                    bodies[body].rotation @ across / size,
                )
            elif _slip(contact) > _LANDS:
                # It comes to rest on the body before it presses: till then it would have to slide.
                contact.cap = 0.0
        # Nobody lets go before others have taken over.
        return kept + [contact for contact in ended if (contact.hand, contact.body) in late]

    def force_targets(self, frame: Frame, contacts: list[ContactState]) -> list[ForceTarget]:
        """The planned forces, as objectives."""
        planned, bodies = self.at(frame.time), frame.bodies
        found = []
        for k, contact in enumerate(contacts):
            wanted = planned.get(_key(contact)) if contact.hand >= 0 else None
            if wanted is None:
                continue
            counts = np.zeros(len(contacts), dtype=bool)
            counts[k] = True
            found.append(
                ForceTarget(counts, bodies[contact.body].rotation @ wanted.force, _FORCE_WEIGHT)
            )
        return found


def _has_rolled(meeting: HandProximity, contact: ContactState, body: BodyState) -> bool:
    """Whether the skin touches elsewhere by now than where its anchor is."""
    point = body.center + body.rotation @ contact.anchor
    return length(meeting.nearest.point[contact.part] - point) > _ROLLED


def _velocity_over(frame: Frame, contact: ContactState) -> Float[np.ndarray, "3"]:
    """Velocity of the hand over the body at a contact in the last frame, in the body's axes."""
    hand, state = frame.world.hands[contact.hand], frame.hands[contact.hand]
    body = frame.bodies[contact.body]
    point = body.center + body.rotation @ contact.anchor
    rows = np.zeros((3, frame.world.num_velocities))
    hand_point_rows(hand.chain(state.links), contact.link, *point, 1.0, rows)
    speed = rows[:, hand.slice] @ state.velocity - body.velocity_at(point)
    return np.asarray(body.rotation.T @ speed)


def _slip(contact: ContactState) -> float:
    """Speed of the last frame along the surface of the body, m/s."""
    return length(contact.moved - (contact.moved @ contact.normal) * contact.normal)


def _key(contact: ContactState) -> Key:
    return contact.hand, contact.part, contact.body
