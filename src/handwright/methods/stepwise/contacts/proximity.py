"""What meets what: limits that keep things apart, and contacts that begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.kernels.decorators import kernel
from handwright.kinematics.skin.samples import SkinSamples
from handwright.math.vectors import cross, length
from handwright.methods.stepwise.contacts.contact_limits import (
    ContactModes,
    contact_limits,
    least_speed,
)
from handwright.methods.stepwise.contacts.contact_state import ContactArrays, ContactState
from handwright.methods.stepwise.contacts.detection import (
    Nearest,
    TargetPose,
    near_points,
    nearest_skin,
    no_nearest,
)
from handwright.methods.stepwise.contacts.digit_separation import digit_limits
from handwright.methods.stepwise.contacts.support_corners import (
    TOUCHING,
    carrying_corners,
    is_lowest,
)
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.qp.point_rows import HandChain, body_point_rows, hand_point_rows
from handwright.methods.stepwise.qp.program import VelocityLimits
from handwright.methods.stepwise.world import BodyState, SteppedBody

MARGIN = 0.012
"""How near things are looked at, m; nothing that matters moves as far in a frame of a grasp."""
# Share of a gap that skin may close within a frame.
_APPROACH = 0.5
# A corner that would be this deep has arrived, m.
_SUNK = 1e-5


class HandProximity(NamedTuple):
    """One hand and one body, or the environment (body -1)."""

    hand: int
    body: int
    nearest: Nearest


class BodyProximity(NamedTuple):
    """Corners of a body near another body, or near a surface (other -1)."""

    body: int
    other: int
    surface: int
    gap: Float[np.ndarray, " V"]
    corner: np.ndarray
    """(V,) rows of the body's corners."""
    normal: Float[np.ndarray, "V 3"]
    """Out of the other body or surface, in the world."""


def hand_proximities(frame: Frame) -> list[HandProximity]:
    """Skin of every hand near every body and the environment."""
    world = frame.world
    poses = _target_poses(frame)
    targets = [(b, body.target, poses[b]) for b, body in enumerate(world.bodies)]
    if len(world.surfaces.frictions):
        targets.append((-1, world.environment, TargetPose(np.eye(3), np.zeros(3))))
    found = []
    for h, (hand, state) in enumerate(zip(world.hands, frame.hands, strict=True)):
        scratch = np.zeros(hand.num_patches)
        for b, target, pose in targets:
            near = no_nearest(len(hand.model.capsules))
            nearest_skin(hand.skin, state.links, target, pose, MARGIN, scratch, near)
            found.append(HandProximity(h, b, near))
    return found


def body_proximities(frame: Frame) -> list[BodyProximity]:
    """Corners of bodies that are near surfaces and other bodies, or may be so within a frame."""
    found = []
    world, bodies = frame.world, frame.bodies
    num_surfaces = len(world.surfaces.frictions)
    ways = [
        _farthest_way(body, now, frame.step) for body, now in zip(world.bodies, bodies, strict=True)
    ]
    poses = _target_poses(frame)
    for b, (body, now) in enumerate(zip(world.bodies, bodies, strict=True)):
        points = now.center + body.corners @ now.rotation.T
        # What a corner may meet: surface by surface, and every other body.
        met = [(-1, n, world.environment, poses[b], MARGIN + ways[b]) for n in range(num_surfaces)]
        met += [
            (o, -1, other.target, poses[o], MARGIN + ways[b] + ways[o])
            for o, other in enumerate(world.bodies)
            if o != b
        ]
        for o, surface, target, pose, margin in met:
            gap, normal = near_points(target, pose, surface, points, margin)
            rows = np.flatnonzero(gap < margin)
            if len(rows):
                found.append(BodyProximity(b, o, surface, gap[rows], rows, normal[rows]))
    return found


def _target_poses(frame: Frame) -> list[TargetPose]:
    return [
        TargetPose(now.rotation, now.center - now.rotation @ body.body.center)
        for body, now in zip(frame.world.bodies, frame.bodies, strict=True)
    ]


def _farthest_way(body: SteppedBody, now: BodyState, step: float) -> float:
    """How far a point of a body comes in a frame at most, as it moves now, m."""
    return step * (length(now.velocity) + length(now.angular_velocity) * body.radius)


@kernel
def _hand_limits(
    near: Nearest,
    samples: SkinSamples,
    hand: HandChain,
    body_first: int,
    center: np.ndarray,
    room: np.ndarray,
    out: np.ndarray,
) -> int:
    """Rows of normal velocities of skin points against a body; body_first is -1 without one."""
    count = 0
    for c in range(near.gap.shape[0]):
        if near.row[c] < 0:
            continue
        x, y, z = near.point[c, 0], near.point[c, 1], near.point[c, 2]
        for i in range(3):
            for j in range(room.shape[1]):
                room[i, j] = 0.0
        link = samples.link[near.row[c], 0]
        hand_point_rows(hand, link, x, y, z, 1.0, room)
        if body_first >= 0:
            body_point_rows(body_first, x - center[0], y - center[1], z - center[2], -1.0, room)
        for j in range(room.shape[1]):
            out[count, j] = (
                near.normal[c, 0] * room[0, j]
                + near.normal[c, 1] * room[1, j]
                + near.normal[c, 2] * room[2, j]
            )
        count += 1
    return count


def hand_limits(frame: Frame, meetings: list[HandProximity]) -> VelocityLimits:
    """Rows that keep hands out of bodies, the environment and themselves."""
    world, hands, bodies = frame.world, frame.hands, frame.bodies
    width = world.num_velocities
    room = np.zeros((3, width))
    matrices, gaps = [np.zeros((0, width))], [np.zeros(0)]
    for meeting in meetings:
        hand, state, near = world.hands[meeting.hand], hands[meeting.hand], meeting.nearest
        if not (near.row >= 0).any():
            continue
        rows = np.zeros((len(near.gap), width))
        first, center = -1, np.zeros(3)
        if meeting.body >= 0:
            first, center = world.bodies[meeting.body].first, bodies[meeting.body].center
        chain = hand.chain(state.links)
        count = _hand_limits(near, hand.samples, chain, first, center, room, rows)
        matrices.append(rows[:count])
        gaps.append(near.gap[near.row >= 0])
    for hand, state in zip(world.hands, hands, strict=True):
        rows, gap = digit_limits(hand.digits, hand.chain(state.links), width)
        matrices.append(rows)
        gaps.append(gap)
    gap = np.concatenate(gaps)
    # Other points than the nearest may arrive first: gaps are closed bit by bit.
    low = least_speed(np.where(gap > 0.0, _APPROACH * gap, gap), frame.step)
    return VelocityLimits(np.concatenate(matrices), low, np.zeros(len(low), dtype=np.int64))


def with_contact_limits(
    limits: VelocityLimits, contacts: list[ContactState], rows: ContactArrays, step: float
) -> VelocityLimits:
    """Limits of hands, and of all contacts."""
    found = contact_limits(
        rows.kinematics,
        ContactModes(
            rows.which.hand,
            np.array([contact.is_pinned for contact in contacts], dtype=bool),
            np.array([contact.is_stuck for contact in contacts], dtype=bool),
            np.array([contact.mode for contact in contacts], dtype=np.int64),
            np.array([contact.drag for contact in contacts]).reshape(-1, 3),
        ),
        step,
    )
    return VelocityLimits(*(np.concatenate(parts) for parts in zip(limits, found, strict=True)))


def new_hand_contacts(
    frame: Frame,
    meetings: list[HandProximity],
    contacts: list[ContactState],
    reaching: set[tuple[int, int]],
) -> list[ContactState]:
    """Contacts of parts of hands that have come to a body; they collide before they stay.

    Hands that still reach for a body (pairs in ``reaching``) keep off it and do not press.
    """
    known = {
        (contact.hand, contact.part, contact.body) for contact in contacts if contact.hand >= 0
    }
    return [
        hand_contact(frame, meeting, int(c), ContactMode.COLLIDING)
        for meeting in meetings
        if meeting.body >= 0 and (meeting.hand, meeting.body) not in reaching
        for c in np.flatnonzero(meeting.nearest.gap < TOUCHING)
        if (meeting.hand, int(c), meeting.body) not in known
    ]


def hand_contact(
    frame: Frame, meeting: HandProximity, part: int, mode: ContactMode
) -> ContactState:
    """A contact where the skin of a part of a hand is nearest to a body."""
    hand, near = frame.world.hands[meeting.hand], meeting.nearest
    links, now = frame.hands[meeting.hand].links, frame.bodies[meeting.body]
    link = int(hand.samples.link[near.row[part], 0])
    point, normal = near.point[part], near.normal[part]
    return ContactState(
        body=meeting.body,
        hand=meeting.hand,
        part=part,
        link=link,
        local=links.rotation[link].T @ (point - links.position[link]),
        anchor=now.rotation.T @ (point - near.gap[part] * normal - now.center),
        normal=-now.rotation.T @ normal,
        friction=frame.world.bodies[meeting.body].body.friction,
        mode=mode,
    )


def support_contacts(frame: Frame, between: list[BodyProximity]) -> list[ContactState]:
    """Contacts of bodies with surfaces and with each other, found anew in every frame."""
    found = []
    for meeting in between:
        body, now = frame.world.bodies[meeting.body], frame.bodies[meeting.body]
        arms = body.corners[meeting.corner] @ now.rotation.T
        near = np.flatnonzero(is_lowest(meeting.gap))
        near = near[carrying_corners(arms[near], meeting.normal[near], meeting.gap[near])]
        found += [_support_contact(frame, meeting, n, ContactMode.STATIC) for n in near]
    return found


def arriving_contacts(
    frame: Frame, between: list[BodyProximity], velocity: Float[np.ndarray, " N"]
) -> list[ContactState]:
    """Contacts of corners that would be in a surface or a body after a frame; they collide."""
    found = []
    world, bodies = frame.world, frame.bodies
    for meeting in between:
        body, now = world.bodies[meeting.body], bodies[meeting.body]
        arms = body.corners[meeting.corner] @ now.rotation.T
        own = velocity[body.slice]
        moved = own[:3] + cross(own[3:], arms)
        if meeting.other >= 0:
            theirs = velocity[world.bodies[meeting.other].slice]
            reach = now.center + arms - bodies[meeting.other].center
            moved = moved - theirs[:3] - cross(theirs[3:], reach)
        ending = meeting.gap + frame.step * np.einsum("vi,vi->v", moved, meeting.normal)
        sunk = np.flatnonzero((ending < -_SUNK) & ~is_lowest(meeting.gap) & is_lowest(ending))
        sunk = sunk[carrying_corners(arms[sunk], meeting.normal[sunk], ending[sunk])]
        found += [_support_contact(frame, meeting, n, ContactMode.COLLIDING) for n in sunk]
    return found


class NearCorners(NamedTuple):
    """Corners of one body near any surfaces."""

    corner: np.ndarray
    """(V,) rows of the body's corners."""
    surface: np.ndarray
    """(V,)"""
    gap: Float[np.ndarray, " V"]
    normal: Float[np.ndarray, "V 3"]


def joined_corners(meetings: list[BodyProximity]) -> NearCorners:
    """All meetings of a body with surfaces as one."""
    return NearCorners(
        np.concatenate([meeting.corner for meeting in meetings]),
        np.concatenate([np.full(len(meeting.gap), meeting.surface) for meeting in meetings]),
        np.concatenate([meeting.gap for meeting in meetings]),
        np.concatenate([meeting.normal for meeting in meetings]),
    )


def _support_contact(
    frame: Frame, meeting: BodyProximity, n: int, mode: ContactMode
) -> ContactState:
    world, bodies = frame.world, frame.bodies
    body, now = world.bodies[meeting.body], bodies[meeting.body]
    corner, normal = body.corners[meeting.corner[n]], meeting.normal[n]
    place = now.center + now.rotation @ corner - meeting.gap[n] * normal
    contact = ContactState(body=meeting.body, anchor=corner, mode=mode)
    contact.moved = -now.rotation.T @ now.velocity_at(place)
    if meeting.other < 0:
        contact.part = world.surface_number[meeting.surface]
        contact.local, contact.normal = place, normal
        contact.friction = float(world.surfaces.frictions[meeting.surface])
        return contact
    other, then = world.bodies[meeting.other], bodies[meeting.other]
    contact.other = meeting.other
    contact.moved += now.rotation.T @ then.velocity_at(place)
    contact.local = then.rotation.T @ (place - then.center)
    contact.normal = now.rotation.T @ normal
    contact.friction = min(body.body.friction, other.body.friction)
    contact.mode = ContactMode.COLLIDING
    return contact
