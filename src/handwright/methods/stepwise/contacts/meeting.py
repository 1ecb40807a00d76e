"""What meets what: limits that keep things apart, and contacts that begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.contact import ContactMode
from handwright.geometry.distance.environment import EnvironmentArrays, surface_value_gradient
from handwright.geometry.distance.sdf import Field, field_value_gradient
from handwright.kernels.decorators import compiled, kernel
from handwright.kinematics.skin.samples import SkinSamples
from handwright.math.vectors import cross, length
from handwright.methods.stepwise.contacts.detection import (
    Nearest,
    TargetPose,
    nearest_skin,
    no_nearest,
)
from handwright.methods.stepwise.contacts.digits_apart import digit_limits
from handwright.methods.stepwise.contacts.touch_limits import (
    ContactModes,
    least_speed,
    touch_limits,
)
from handwright.methods.stepwise.contacts.touches import Touch, TouchRows
from handwright.methods.stepwise.frame import Frame
from handwright.methods.stepwise.objectives.carrying import TOUCHING, carrying_corners, is_lowest
from handwright.methods.stepwise.qp.point_rows import HandChain, body_point_rows, hand_point_rows
from handwright.methods.stepwise.qp.program import Limits
from handwright.methods.stepwise.world import BodyPart, BodyState

MARGIN = 0.012
"""How near things are looked at, m; nothing that matters moves as far in a frame of a grasp."""
# Share of a gap that skin may close within a frame.
_APPROACH = 0.5
# A corner that would be this deep has arrived, m.
_SUNK = 1e-5


class Meeting(NamedTuple):
    """One hand and one body, or the surroundings (body -1)."""

    hand: int
    body: int
    nearest: Nearest


class BodyMeeting(NamedTuple):
    """Corners of a body near another body, or near a surface (other -1)."""

    body: int
    other: int
    surface: int
    gap: Float[np.ndarray, " V"]
    corner: np.ndarray
    """(V,) rows of the body's corners."""
    normal: Float[np.ndarray, "V 3"]
    """Out of the other body or surface, in the world."""


def hand_meetings(frame: Frame) -> list[Meeting]:
    """Skin of every hand near every body and the surroundings."""
    world = frame.world
    targets = [
        (b, body.target, TargetPose(now.turn, now.center - now.turn @ body.body.center))
        for b, (body, now) in enumerate(zip(world.bodies, frame.bodies, strict=True))
    ]
    if len(world.surfaces.frictions):
        targets.append((-1, world.surroundings, TargetPose(np.eye(3), np.zeros(3))))
    found = []
    for h, (hand, state) in enumerate(zip(world.hands, frame.hands, strict=True)):
        scratch = np.zeros(hand.num_patches)
        for b, target, pose in targets:
            near = no_nearest(len(hand.model.capsules))
            nearest_skin(hand.skin, state.links, target, pose, MARGIN, scratch, near)
            found.append(Meeting(h, b, near))
    return found


@compiled
def _near_surface(
    surfaces: EnvironmentArrays, index: int, points: np.ndarray, margin: float
) -> tuple:
    gap, normal = np.full(len(points), np.inf), np.zeros((len(points), 3))
    for n in range(len(points)):
        d, gx, gy, gz = surface_value_gradient(
            surfaces, index, points[n, 0], points[n, 1], points[n, 2]
        )
        if d < margin:
            gap[n] = d
            normal[n, 0], normal[n, 1], normal[n, 2] = gx, gy, gz
    return gap, normal


@compiled
def _near_field(
    field: Field, turn: np.ndarray, origin: np.ndarray, points: np.ndarray, margin: float
) -> tuple:
    gap, normal = np.full(len(points), np.inf), np.zeros((len(points), 3))
    for n in range(len(points)):
        x, y, z = points[n, 0] - origin[0], points[n, 1] - origin[1], points[n, 2] - origin[2]
        d, gx, gy, gz = field_value_gradient(
            field,
            turn[0, 0] * x + turn[1, 0] * y + turn[2, 0] * z,
            turn[0, 1] * x + turn[1, 1] * y + turn[2, 1] * z,
            turn[0, 2] * x + turn[1, 2] * y + turn[2, 2] * z,
        )
        if d < margin:
            gap[n] = d
            size = max(np.sqrt(gx * gx + gy * gy + gz * gz), 1e-12)
            for i in range(3):
                normal[n, i] = (turn[i, 0] * gx + turn[i, 1] * gy + turn[i, 2] * gz) / size
    return gap, normal


def body_meetings(frame: Frame) -> list[BodyMeeting]:
    """Corners of bodies that are near surfaces and other bodies, or may be so within a frame."""
    found = []
    world, bodies = frame.world, frame.bodies
    ways = [
        _farthest_way(body, now, frame.step) for body, now in zip(world.bodies, bodies, strict=True)
    ]
    for b, (body, now) in enumerate(zip(world.bodies, bodies, strict=True)):
        near = MARGIN + ways[b]
        points = now.center + body.corners @ now.turn.T
        for surface in range(len(world.surfaces.frictions)):
            gap, normal = _near_surface(world.surfaces, surface, points, near)
            rows = np.flatnonzero(gap < near)
            if len(rows):
                found.append(BodyMeeting(b, -1, surface, gap[rows], rows, normal[rows]))
        for o, (other, then) in enumerate(zip(world.bodies, bodies, strict=True)):
            if o == b:
                continue
            origin = then.center - then.turn @ other.body.center
            both = near + ways[o]
            gap, normal = _near_field(other.field, then.turn, origin, points, both)
            rows = np.flatnonzero(gap < both)
            if len(rows):
                found.append(BodyMeeting(b, o, -1, gap[rows], rows, normal[rows]))
    return found


def _farthest_way(body: BodyPart, now: BodyState, step: float) -> float:
    """How far a point of a body comes in a frame at most, as it moves now, m."""
    size = float(np.sqrt((body.corners**2).sum(axis=1).max(initial=0.0)))
    return step * (length(now.velocity) + length(now.rate) * size)


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


def hand_limits(frame: Frame, meetings: list[Meeting]) -> Limits:
    """Rows that keep hands out of bodies, of surroundings and of themselves."""
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
    return Limits(np.concatenate(matrices), low, np.zeros(len(low), dtype=np.int64))


def with_touches(limits: Limits, touches: list[Touch], rows: TouchRows, step: float) -> Limits:
    """Limits of hands, and of all contacts."""
    found = touch_limits(
        rows.kinematics,
        ContactModes(
            rows.which.hand,
            np.array([touch.is_pinned for touch in touches], dtype=bool),
            np.array([touch.is_stuck for touch in touches], dtype=bool),
            np.array([touch.mode for touch in touches], dtype=np.int64),
            np.array([touch.drag for touch in touches]).reshape(-1, 3),
        ),
        step,
    )
    return Limits(*(np.concatenate(parts) for parts in zip(limits, found, strict=True)))


def new_hand_touches(
    frame: Frame,
    meetings: list[Meeting],
    touches: list[Touch],
    reaching: set[tuple[int, int]],
) -> list[Touch]:
    """Contacts of parts of hands that have come to a body; they collide before they stay.

    Hands that still reach for a body (pairs in ``reaching``) keep off it and do not press.
    """
    known = {(touch.hand, touch.part, touch.body) for touch in touches if touch.hand >= 0}
    return [
        hand_touch(frame, meeting, int(c), ContactMode.COLLIDING)
        for meeting in meetings
        if meeting.body >= 0 and (meeting.hand, meeting.body) not in reaching
        for c in np.flatnonzero(meeting.nearest.gap < TOUCHING)
        if (meeting.hand, int(c), meeting.body) not in known
    ]


def hand_touch(frame: Frame, meeting: Meeting, part: int, mode: ContactMode) -> Touch:
    """A contact where the skin of a part of a hand is nearest to a body."""
    hand, near = frame.world.hands[meeting.hand], meeting.nearest
    links, now = frame.hands[meeting.hand].links, frame.bodies[meeting.body]
    link = int(hand.samples.link[near.row[part], 0])
    point, normal = near.point[part], near.normal[part]
    return Touch(
        body=meeting.body,
        hand=meeting.hand,
        part=part,
        link=link,
        local=links.rotation[link].T @ (point - links.position[link]),
        anchor=now.turn.T @ (point - near.gap[part] * normal - now.center),
        normal=-now.turn.T @ normal,
        friction=frame.world.bodies[meeting.body].body.friction,
        mode=mode,
    )


def lying_touches(frame: Frame, between: list[BodyMeeting]) -> list[Touch]:
    """Contacts of bodies with surfaces and with each other, found anew in every frame."""
    found = []
    for meeting in between:
        body, now = frame.world.bodies[meeting.body], frame.bodies[meeting.body]
        arms = body.corners[meeting.corner] @ now.turn.T
        near = np.flatnonzero(is_lowest(meeting.gap))
        near = near[carrying_corners(arms[near], meeting.normal[near], meeting.gap[near])]
        found += [_lying_touch(frame, meeting, n, ContactMode.STATIC) for n in near]
    return found


def arriving_touches(
    frame: Frame, between: list[BodyMeeting], velocity: Float[np.ndarray, " N"]
) -> list[Touch]:
    """Contacts of corners that would be in a surface or a body after a frame; they collide.

    Args:
        frame: States before it.
        between: Corners that are near.
        velocity: Velocities of all hands and bodies during the frame.
    """
    found = []
    world, bodies = frame.world, frame.bodies
    for meeting in between:
        body, now = world.bodies[meeting.body], bodies[meeting.body]
        arms = body.corners[meeting.corner] @ now.turn.T
        own = velocity[body.slice]
        moved = own[:3] + cross(own[3:], arms)
        if meeting.other >= 0:
            theirs = velocity[world.bodies[meeting.other].slice]
            reach = now.center + arms - bodies[meeting.other].center
            moved = moved - theirs[:3] - cross(theirs[3:], reach)
        ending = meeting.gap + frame.step * np.einsum("vi,vi->v", moved, meeting.normal)
        sunk = np.flatnonzero((ending < -_SUNK) & ~is_lowest(meeting.gap) & is_lowest(ending))
        sunk = sunk[carrying_corners(arms[sunk], meeting.normal[sunk], ending[sunk])]
        found += [_lying_touch(frame, meeting, n, ContactMode.COLLIDING) for n in sunk]
    return found


class NearCorners(NamedTuple):
    """Corners of one body near any surfaces."""

    corner: np.ndarray
    """(V,) rows of the body's corners."""
    surface: np.ndarray
    """(V,)"""
    gap: Float[np.ndarray, " V"]
    normal: Float[np.ndarray, "V 3"]


def joined_corners(meetings: list[BodyMeeting]) -> NearCorners:
    """All meetings of a body with surfaces as one."""
    return NearCorners(
        np.concatenate([meeting.corner for meeting in meetings]),
        np.concatenate([np.full(len(meeting.gap), meeting.surface) for meeting in meetings]),
        np.concatenate([meeting.gap for meeting in meetings]),
        np.concatenate([meeting.normal for meeting in meetings]),
    )


def _lying_touch(frame: Frame, meeting: BodyMeeting, n: int, mode: ContactMode) -> Touch:
    world, bodies = frame.world, frame.bodies
    body, now = world.bodies[meeting.body], bodies[meeting.body]
    corner, normal = body.corners[meeting.corner[n]], meeting.normal[n]
    place = now.center + now.turn @ corner - meeting.gap[n] * normal
    touch = Touch(body=meeting.body, anchor=corner, mode=mode)
    touch.moved = -now.turn.T @ now.velocity_at(place)
    if meeting.other < 0:
        touch.part = world.surface_number[meeting.surface]
        touch.local, touch.normal = place, normal
        touch.friction = float(world.surfaces.frictions[meeting.surface])
        return touch
    other, then = world.bodies[meeting.other], bodies[meeting.other]
    touch.other = meeting.other
    touch.moved += now.turn.T @ then.velocity_at(place)
    touch.local = then.turn.T @ (place - then.center)
    touch.normal = now.turn.T @ normal
    touch.friction = min(body.body.friction, other.body.friction)
    touch.mode = ContactMode.COLLIDING
    return touch
