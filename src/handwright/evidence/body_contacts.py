"""Contacts between two bodies, found from poses and shapes alone.

Points spread over the surface of each body are held against the exact mesh of the other. Of those
that touch, a few that lie as far from each other as possible stand for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.evidence.contacts import (
    ContactTable,
    closing_steps,
    contact_table,
    relative_velocity,
)
from handwright.geometry.exact import ExactDistance
from handwright.math import rotation
from handwright.math.pose import Pose

# Distance between the points on a body's surface, as a share of its size, and at least, m.
_SPACING = 0.05
_LEAST_SPACING = 0.003
_MOST_CONTACTS = 16
# Points this much farther away than the nearest belong to the same side, m.
_FLAT = 2e-4


class _Near(NamedTuple):
    """Points of one body near another, frame by frame, in the world."""

    frame: Int[np.ndarray, " N"]
    sample: Float[np.ndarray, "N 3"]
    closest: Float[np.ndarray, "N 3"]
    outward: Float[np.ndarray, "N 3"]
    """Out of the body that the points come near."""
    gap: Float[np.ndarray, " N"]


def body_contacts(
    clip: Clip,
    first: str,
    second: str,
    exact: dict[str, ExactDistance],
    *,
    reach: float,
    touching: float,
    static_speed: float,
) -> tuple[ContactTable, Float[np.ndarray, " T"]]:
    """Contacts at which the second body pushes on the first, and how deep they overlap, m.

    Args:
        clip: The motion.
        first: The body whose surface the contacts are on.
        second: The body that touches it.
        exact: Distances of both.
        reach: Contacts with larger gaps are left out, m.
        touching: Gap up to which points touch, m.
        static_speed: Sliding speeds up to this count as none, m/s.
    """
    bodies, poses, times = clip.problem.bodies, clip.bodies, clip.times
    one, two = poses[first], poses[second]
    here = _near_points(exact[first], bodies[second], one, two, reach=reach, touching=touching)
    there = _near_points(exact[second], bodies[first], two, one, reach=reach, touching=touching)
    frame = np.concatenate([here.frame, there.frame])
    point = np.concatenate([here.closest, there.sample])
    normal = np.concatenate([-here.outward, there.outward])
    gap = np.concatenate([here.gap, there.gap])
    least = np.full(len(times), np.nan)
    np.fmin.at(least, frame, gap)
    closing = closing_steps(least[:, None], times)[:, 0]
    size = float(np.ptp(bodies[first].bounds, axis=0).max())
    chosen = np.concatenate(
        [np.zeros(0, dtype=np.int64)]
        + [
            _spread(np.flatnonzero(frame == t), point / size, normal, gap, touching)
            for t in np.flatnonzero(least <= reach + closing)
        ]
    )
    frame, point, normal, gap = frame[chosen], point[chosen], normal[chosen], gap[chosen]
    moving = rotation.to_matrix(two.wxyz)[:, None], two.position[:, None]
    friction = min(bodies[first].friction, bodies[second].friction)
    table = contact_table(
        second,
        frame,
        np.zeros_like(frame),
        point,
        normal,
        gap,
        closing[frame],
        np.full(len(frame), friction),
        relative_velocity(times, *moving, one, frame, np.zeros_like(frame), point),
        static_speed,
    )
    return table, np.maximum(-np.nan_to_num(least, nan=0.0), 0.0)


def surface_samples(body: RigidBody) -> Float[np.ndarray, "N 3"]:
    """Points on the surface of a body, in its frame: corners, and a grid over each large face."""
    spacing = max(_SPACING * float(np.ptp(body.bounds, axis=0).max()), _LEAST_SPACING)
    corners = body.vertices[body.faces]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    pieces = np.ceil(longest / spacing).astype(int)
    found = [body.vertices]
    for count in np.unique(pieces[pieces > 1]):
        i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
        inside = i + j <= count
        share = np.stack([i[inside], j[inside], count - i[inside] - j[inside]], axis=1) / count
        found.append(np.einsum("gk,fki->fgi", share, corners[pieces == count]).reshape(-1, 3))
    points = np.concatenate(found)
    _, index = np.unique(np.round(points, 7), axis=0, return_index=True)
    return points[index]


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
    samples = surface_samples(body)
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
                pose[t].apply(closest[near]),
                pose[t].rotate(outward[near]),
                distance[near],
            )
        )
    if not rows:
        none = np.zeros((0, 3))
        return _Near(np.zeros(0, dtype=np.int64), none, none, none, np.zeros(0))
    return _Near(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _spread(
    rows: Int[np.ndarray, " N"],
    point: np.ndarray,
    normal: np.ndarray,
    gap: np.ndarray,
    touching: float,
) -> Int[np.ndarray, " K"]:
    """Rows that touch, or else the nearest ones, as far from each other as possible."""
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
