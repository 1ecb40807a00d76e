"""Contacts between two bodies, found from poses and shapes alone.

Points spread over the surface of each body are held against the exact mesh of the other. A normal
must lead straight out of the one and straight into the other: at a rim only one of the directions
does. Of the contacts that touch, a few that lie as far from each other as possible stand for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.evidence.contacts.impacts import find_impacts
from handwright.evidence.contacts.slip import (
    LinkMotion,
    Smoothing,
    material_slips,
    smoothed_slips,
)
from handwright.evidence.contacts.table import (
    ContactRule,
    FoundContacts,
    JudgedContacts,
    contact_table,
)
from handwright.geometry.distance.exact import ExactDistance
from handwright.math.pose import Pose

# Distance between the points on a body's surface, as a share of its size, and at least, m.
_SPACING = 0.05
_LEAST_SPACING = 0.003
_MOST_CONTACTS = 16
# Points this much farther away than the nearest belong to the same side, m.
_FLAT = 2e-4


# How far to step along a normal to see whether it is one, m, and what share of it must be gained.
_STEP = 5e-4
_LEAST_COSINE = 0.9


class _Near(NamedTuple):
    """Points of one body near another, frame by frame, in the world."""

    frame: Int[np.ndarray, " N"]
    sample: Float[np.ndarray, "N 3"]
    facing: Float[np.ndarray, "N 3"]
    """Normal of the face that the point is on, out of its body."""
    closest: Float[np.ndarray, "N 3"]
    outward: Float[np.ndarray, "N 3"]
    """Out of the body that the points come near."""
    gap: Float[np.ndarray, " N"]


def body_contacts(
    clip: Clip,
    first: str,
    second: str,
    exact: dict[str, ExactDistance],
    rule: ContactRule,
) -> tuple[JudgedContacts, Float[np.ndarray, " T"]]:
    """Contacts at which the second body pushes on the first, and how deep they overlap, m.

    Args:
        clip: The motion.
        first: The body whose surface the contacts are on.
        second: The body that touches it.
        exact: Distances of both.
        rule: What counts as a contact.
    """
    bodies, poses, times = clip.problem.bodies, clip.bodies, clip.times
    reach, touching, low_pass = rule.reach, rule.touching, rule.low_pass(times)
    one, two = poses[first], poses[second]
    here = _near_points(exact[first], bodies[second], one, two, reach=reach, touching=touching)
    there = _near_points(exact[second], bodies[first], two, one, reach=reach, touching=touching)
    frame = np.concatenate([here.frame, there.frame])
    point = np.concatenate([here.closest, there.sample])
    opposite = np.concatenate([here.sample, there.closest])
    normal, is_normal = _settled_normals(
        clip, (first, second), exact, frame, point, opposite,
        np.concatenate([-here.outward, there.outward]),
        np.concatenate([here.facing, -there.facing]),
    )  # fmt: skip
    gap = np.concatenate([here.gap, there.gap])
    least = np.full(len(times), np.nan)
    np.fmin.at(least, frame, gap)
    impacts = find_impacts(
        low_pass.values(least[:, None]), times, touching=touching, is_fixed=False
    )
    size = float(np.ptp(bodies[first].bounds, axis=0).max())
    chosen = np.concatenate(
        [np.zeros(0, dtype=np.int64)]
        + [
            _spread(np.flatnonzero((frame == t) & is_normal), point / size, normal, gap, touching)
            for t in np.flatnonzero((least <= reach) | (impacts.number[:, 0] >= 0))
        ]
    )
    frame, point, normal, gap = frame[chosen], point[chosen], normal[chosen], gap[chosen]
    links = LinkMotion.of_body(two)
    friction = min(bodies[first].friction, bodies[second].friction)
    found = FoundContacts(
        frame=frame,
        part=np.zeros_like(frame),
        point=point,
        normal=normal,
        gap=gap,
        impact=impacts.number[frame, 0],
        may_push=impacts.may_push[frame, 0],
        friction=np.full(len(frame), friction),
    )
    none = np.zeros_like(frame)
    touches = least[:, None] <= touching
    smoothing = Smoothing.while_touching(low_pass, touches, frame, none)
    slips = material_slips(times, links, one, frame, none, point)
    slips = slips.or_slower(smoothed_slips(slips, smoothing, links, one, frame, none, point))
    beside = np.pad(least <= touching, 1)
    slips = slips.while_touching(beside[frame], beside[frame + 2])
    table = contact_table(second, found, slips, rule.static_speed)
    return table, np.maximum(-np.nan_to_num(least, nan=0.0), 0.0)


def _settled_normals(
    clip: Clip,
    names: tuple[str, str],
    exact: dict[str, ExactDistance],
    frame: Int[np.ndarray, " N"],
    point: Float[np.ndarray, "N 3"],
    opposite: Float[np.ndarray, "N 3"],
    *candidates: Float[np.ndarray, "N 3"],
) -> tuple[Float[np.ndarray, "N 3"], Bool[np.ndarray, " N"]]:
    """For each contact the first candidate that is a normal of both surfaces, and if there is one.

    Args:
        clip: The motion.
        names: The bodies.
        exact: Distances of both.
        frame: Of each contact.
        point: On the first body, in the world, m.
        opposite: On the second.
        candidates: Unit directions into the first body.
    """
    normal, found = candidates[0].copy(), np.zeros(len(frame), dtype=bool)
    for candidate in candidates:
        rows = np.flatnonzero(~found)
        good = np.ones(len(rows), dtype=bool)
        for name, start, sign in ((names[0], point, -1.0), (names[1], opposite, 1.0)):
            back = clip.bodies[name][frame[rows]].inverse()
            here = exact[name].signed_distance(back.apply(start[rows]))[0]
            step = start[rows] + sign * _STEP * candidate[rows]
            there = exact[name].signed_distance(back.apply(step))[0]
            good &= there - here >= _LEAST_COSINE * _STEP
        normal[rows[good]], found[rows[good]] = candidate[rows[good]], True
    return normal, found


def surface_samples(
    body: RigidBody,
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Points in a grid over each face of a body, in its frame, and the normals of the faces."""
    spacing = max(_SPACING * float(np.ptp(body.bounds, axis=0).max()), _LEAST_SPACING)
    corners = body.vertices[body.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    pieces = np.maximum(np.ceil(longest / spacing).astype(int), 1)
    points, normals = [], []
    for count in np.unique(pieces):
        i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
        inside = i + j <= count
        share = np.stack([i[inside], j[inside], count - i[inside] - j[inside]], axis=1) / count
        mine = pieces == count
        points.append(np.einsum("gk,fki->fgi", share, corners[mine]).reshape(-1, 3))
        normals.append(np.repeat(normal[mine], len(share), axis=0))
    every, facing = np.concatenate(points), np.concatenate(normals)
    # Faces that are nearly one plane share their points; others may differ in the normal.
    key = np.concatenate([np.round(every, 7), np.round(2.0 * facing)], axis=1)
    _, index = np.unique(key, axis=0, return_index=True)
    return every[index], facing[index]


def _near_points(
    exact: ExactDistance,
    body: RigidBody,
    pose: Pose,
    moving: Pose,
    *,
    reach: float,
    touching: float,
) -> _Near:
    """Points on a moving body that are within reach of the one at ``pose``."""
    samples, facing = surface_samples(body)
    local = pose.inverse() @ moving
    low, high = body.bounds
    side = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T
    corners = local[:, None].apply(low + side * (high - low))
    travel = np.zeros(len(corners) + 1)
    travel[1:-1] = np.linalg.norm(np.diff(corners, axis=0), axis=-1).max(axis=-1)
    known, moved = np.zeros(len(samples)), np.full(len(samples), np.inf)
    rows: list[tuple[np.ndarray, ...]] = []
    for t in range(len(corners)):
        moved += travel[t]
        # An impact brings a body here from as far as it travels from frame to frame.
        looked = max(reach, touching + 2.0 * float(max(travel[t], travel[t + 1])))
        due = np.flatnonzero(known - moved <= looked)
        if due.size == 0:
            continue
        place = local[t].apply(samples[due])
        distance, closest, _, outward = exact.signed_distance(place)
        known[due], moved[due] = distance, 0.0
        near = distance <= looked
        rows.append(
            (
                np.full(near.sum(), t),
                pose[t].apply(place[near]),
                moving[t].rotate(facing[due[near]]),
                pose[t].apply(closest[near]),
                pose[t].rotate(outward[near]),
                distance[near],
            )
        )
    if not rows:
        none = np.zeros((0, 3))
        return _Near(np.zeros(0, dtype=np.int64), none, none, none, none, np.zeros(0))
    return _Near(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _spread(
    rows: Int[np.ndarray, " N"],
    point: np.ndarray,
    normal: np.ndarray,
    gap: np.ndarray,
    touching: float,
) -> Int[np.ndarray, " K"]:
    """Rows that touch, or else the nearest ones, as far from each other as possible."""
    if rows.size == 0:
        return rows
    nearest = rows[gap[rows].argmin()]
    rows = rows[gap[rows] <= max(touching, gap[nearest] + _FLAT)]
    place = np.concatenate([point[rows], normal[rows]], axis=1)
    chosen = [int(np.flatnonzero(rows == nearest)[0])]
    distance = np.linalg.norm(place - place[chosen[0]], axis=1)
    while len(chosen) < min(_MOST_CONTACTS, len(rows)):
        farthest = int(distance.argmax())
        if distance[farthest] < 1e-3:
            break
        chosen.append(farthest)
        distance = np.minimum(distance, np.linalg.norm(place - place[farthest], axis=1))
    return rows[chosen]
