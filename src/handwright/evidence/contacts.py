"""Contacts of a body with hands and surroundings, found from poses and shapes alone.

A hand gives at most one contact for each capsule: between the capsule and the exact mesh, or, where
the capsule does not touch, between the skin over it and the mesh. A surface of the surroundings
gives the lowest points of the body, and of a flat side the outermost ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import ConvexHull

from handwright.core.body import RigidBody
from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ENVIRONMENT, ContactMode
from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.core.surface import HalfSpace
from handwright.evidence.forces import tangents
from handwright.evidence.probes import capsule_gaps, surface_distance
from handwright.evidence.skin_probe import skin_gaps, vertex_capsules
from handwright.geometry.exact import ExactDistance
from handwright.hands.skin import skin_of
from handwright.kinematics import link_poses, posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose

# Points this much higher than the lowest one still belong to the side that a body lies on, m.
_FLAT = 2e-4
# Capsules this near may bring skin to the body, m.
_SKIN_OVER_CAPSULE = 0.008
# A contact that opens or closes faster than this is an impact, m/s.
_IMPACT_SPEED = 0.05
# Between two frames an impact may happen this far from where the frames show the surfaces, m.
_IMPACT_REACH = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class ContactTable:
    """Contacts of one body over a motion, ordered by frame."""

    touchers: tuple[str, ...]
    """Hands, then ``environment``."""
    frame: Int[np.ndarray, " N"]
    toucher: Int[np.ndarray, " N"]
    part: Int[np.ndarray, " N"]
    """Capsule of the hand, or surface of the surroundings."""
    point: Float[np.ndarray, "N 3"]
    """On the body's surface, in the world, m."""
    normal: Float[np.ndarray, "N 3"]
    """Unit length, into the body."""
    gap: Float[np.ndarray, " N"]
    """m; negative in penetration."""
    closing: Float[np.ndarray, " N"]
    """How much the gap changes to the next or from the last frame, m, if that is an impact."""
    velocity: Float[np.ndarray, "N 3"]
    """Of the toucher's material point over the body's, across the normal, m/s."""
    friction: Float[np.ndarray, " N"]
    mode: Int[np.ndarray, " N"]
    """Values of ``ContactMode``."""

    def rows(self, frame: int) -> slice:
        """The rows of one frame."""
        first, last = np.searchsorted(self.frame, [frame, frame + 1])
        return slice(int(first), int(last))


class HandProbe(NamedTuple):
    """A hand over a clip, posed once."""

    name: str
    model: HandModel
    motion: HandMotion
    skin: Skin | None
    owner: Int[np.ndarray, " V"]
    """Capsule under each vertex of the skin."""
    turns: Float[np.ndarray, "T L 3 3"]
    places: Float[np.ndarray, "T L 3"]


class HandGaps(NamedTuple):
    """How near a hand is to a body."""

    capsule: Float[np.ndarray, "T C"]
    """m; infinity where farther than asked for."""
    capsule_depth: Float[np.ndarray, " T"]
    """Deepest capsule, m."""
    skin_depth: Float[np.ndarray, " T"]
    """Deepest skin vertex, m; of hands without skin, the deepest capsule."""
    contacts: ContactTable


def probe_hand(clip: Clip, name: str) -> HandProbe:
    """Poses a hand of a clip."""
    model, motion = clip.problem.hands[name], clip.hands[name]
    skin = skin_of(model) if model.skin is not None and model.side != "none" else None
    owner = np.zeros(0, dtype=np.int64) if skin is None else vertex_capsules(model, skin)
    turns, places = link_poses(model, motion.q, motion.root)
    return HandProbe(name, model, motion, skin, owner, turns, places)


def hand_gaps(
    hand: HandProbe,
    body: RigidBody,
    pose: Pose,
    exact: ExactDistance,
    times: Float[np.ndarray, " T"],
    *,
    reach: float,
    touching: float,
    static_speed: float,
) -> HandGaps:
    """Distances and contacts between a hand and a body.

    Args:
        hand: The posed hand.
        body: Its friction is used.
        pose: (T,) poses of the body.
        exact: Distances of the body.
        times: s.
        reach: Contacts with larger gaps are left out, m.
        touching: Gap up to which the skin counts as touching where its capsule does not, m.
        static_speed: Sliding speeds up to this count as none, m/s.
    """
    count, capsules = len(times), hand.model.capsules
    world = posed_capsules(hand.model, hand.motion.q, hand.motion.root)
    back = pose.inverse()[:, None]
    start, end = back.apply(world.start), back.apply(world.end)
    shape = start.shape[:2]
    found = capsule_gaps(
        exact,
        start.reshape(-1, 3),
        end.reshape(-1, 3),
        np.tile(capsules.radius, count),
        reach=max(reach, _SKIN_OVER_CAPSULE, _IMPACT_REACH),
    )
    gap = found.gap.reshape(shape)
    point, outward = found.point.reshape(*shape, 3), found.outward.reshape(*shape, 3)
    depth = np.maximum(-gap, 0.0).max(axis=1)
    touch_gap, skin_depth = gap.copy(), depth
    if hand.skin is not None:
        skin = skin_gaps(
            hand.model, hand.skin, hand.owner, hand.motion.q, hand.motion.root, pose, exact,
            near=gap < _SKIN_OVER_CAPSULE, reach=touching,
        )  # fmt: skip
        skin_depth = skin.depth
        by_skin = (gap > touching) & (skin.gap <= touching)
        touch_gap = np.where(by_skin, skin.gap, gap)
        point = np.where(by_skin[..., None], skin.point, point)
        outward = np.where(by_skin[..., None], skin.outward, outward)
    closing = _closing(gap, times, _IMPACT_REACH)
    frame, part = np.nonzero((touch_gap <= reach) | (touch_gap <= touching + closing))
    here = pose[frame]
    table = _table(
        (hand.name,),
        frame,
        np.zeros_like(frame),
        part,
        here.apply(point[frame, part]),
        -here.rotate(outward[frame, part]),
        touch_gap[frame, part],
        closing[frame, part],
        np.full(len(frame), body.friction),
        relative_velocity(
            times,
            hand.turns,
            hand.places,
            pose,
            frame,
            capsules.link[part],
            here.apply(point[frame, part]),
        ),
        static_speed,
    )
    return HandGaps(gap, depth, skin_depth, table)


def environment_contacts(
    clip: Clip, name: str, *, reach: float, static_speed: float
) -> tuple[ContactTable, Float[np.ndarray, " T"]]:
    """Contacts of a body with the surroundings, and how deep it is in them, m."""
    body, pose, times = clip.problem.bodies[name], clip.bodies[name], clip.times
    depth = np.zeros(len(times))
    hull = body.vertices[ConvexHull(body.vertices).vertices]
    rows: list[tuple[np.ndarray, ...]] = []
    for number, surface in enumerate(clip.problem.environment):
        vertices = hull if isinstance(surface, HalfSpace) else body.vertices
        least = np.array([surface_distance(surface, one.apply(vertices))[0].min() for one in pose])
        closing = _closing(least[:, None], times, np.inf)[:, 0]
        found = []
        for t in np.flatnonzero(least <= reach + closing):
            world = pose[t].apply(vertices)
            distance, normal = surface_distance(surface, world)
            chosen = _supports(world, distance, normal)
            found.append((t, world[chosen], normal[chosen], distance[chosen]))
        depth = np.maximum(depth, -least)
        for t, point, normal, distance in found:
            ones = np.ones(len(point), dtype=np.int64)
            rows.append(
                (t * ones, number * ones, point, normal, distance, closing[t] * ones,
                 surface.friction * ones)
            )  # fmt: skip
    if not rows:
        rows.append((_NONE, _NONE, _NO_POINTS, _NO_POINTS, _NO_GAPS, _NO_GAPS, _NO_GAPS))
    frame, part, point, normal, gap, change, friction = (
        np.concatenate(column) for column in zip(*rows, strict=True)
    )
    still = np.broadcast_to(np.eye(3), (len(times), 1, 3, 3)), np.zeros((len(times), 1, 3))
    velocity = relative_velocity(times, *still, pose, frame, np.zeros_like(frame), point)
    table = _table(
        (ENVIRONMENT,), frame, np.zeros_like(frame), part, point, normal, gap, change, friction,
        velocity, static_speed,
    )  # fmt: skip
    return table, depth


_NONE = np.zeros(0, dtype=np.int64)
_NO_GAPS = np.zeros(0)
_NO_POINTS = np.zeros((0, 3))


def join_tables(tables: list[ContactTable]) -> ContactTable:
    """One table of the contacts of a body with all its touchers."""
    touchers = tuple(name for table in tables for name in table.touchers)
    shift = np.cumsum([0, *(len(table.touchers) for table in tables)])
    toucher = np.concatenate(
        [table.toucher + shift[i] for i, table in enumerate(tables)] or [_NONE]
    )
    frame = np.concatenate([table.frame for table in tables] or [_NONE])
    order = np.argsort(frame, kind="stable")

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(table, name) for table in tables])[order]

    return ContactTable(
        touchers,
        frame[order],
        toucher[order],
        *(column(name) for name in (
            "part", "point", "normal", "gap", "closing", "velocity", "friction", "mode"
        )),
    )  # fmt: skip


def relative_velocity(
    times: Float[np.ndarray, " T"],
    turns: Float[np.ndarray, "T L 3 3"],
    places: Float[np.ndarray, "T L 3"],
    body: Pose,
    frame: Int[np.ndarray, " N"],
    link: Int[np.ndarray, " N"],
    point: Float[np.ndarray, "N 3"],
) -> Float[np.ndarray, "N 3"]:
    """Velocity in the world of a link's material point over the body's at the same place, m/s.

    The point that is fixed to the link is followed through the frames before and after in the
    body's frame; at the ends of the motion through one of them.
    """
    if len(frame) == 0 or len(times) < 2:
        return np.zeros((len(frame), 3))
    local = np.einsum("nji,nj->ni", turns[frame, link], point - places[frame, link])
    before, after = np.maximum(frame - 1, 0), np.minimum(frame + 1, len(times) - 1)
    turn = rotation.to_matrix(body.wxyz)
    ends = []
    for t in (before, after):
        world = np.einsum("nij,nj->ni", turns[t, link], local) + places[t, link]
        ends.append(np.einsum("nji,nj->ni", turn[t], world - body.position[t]))
    velocity = (ends[1] - ends[0]) / (times[after] - times[before])[:, None]
    return np.einsum("nij,nj->ni", turn[frame], velocity)


def _closing(
    gap: Float[np.ndarray, "T C"], times: Float[np.ndarray, " T"], reach: float
) -> Float[np.ndarray, "T C"]:
    """Largest change of each gap to a neighbouring frame, m; 0 unless it is an impact."""
    change = np.zeros(gap.shape)
    if len(times) < 2:
        return change
    bounded = np.minimum(gap, reach)
    step = np.abs(np.diff(bounded, axis=0))
    step[step <= _IMPACT_SPEED * np.diff(times)[:, None]] = 0.0
    change[:-1] = step
    change[1:] = np.maximum(change[1:], step)
    return change


def _supports(world: np.ndarray, distance: np.ndarray, normal: np.ndarray) -> Int[np.ndarray, " K"]:
    """The lowest vertex and, of those on its level, the outermost in eight directions."""
    lowest = int(distance.argmin())
    level = np.flatnonzero(distance <= distance[lowest] + _FLAT)
    first, second = tangents(normal[lowest][None])
    angle = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False)[:, None]
    directions = np.cos(angle) * first + np.sin(angle) * second
    outermost = (world[level] @ directions.T).argmax(axis=0)
    return np.unique(np.append(level[outermost], lowest))


def _table(
    touchers: tuple[str, ...],
    frame: np.ndarray,
    toucher: np.ndarray,
    part: np.ndarray,
    point: np.ndarray,
    normal: np.ndarray,
    gap: np.ndarray,
    closing: np.ndarray,
    friction: np.ndarray,
    velocity: np.ndarray,
    static_speed: float,
) -> ContactTable:
    across = velocity - np.einsum("ni,ni->n", velocity, normal)[:, None] * normal
    slides = np.linalg.norm(across, axis=1) > static_speed
    mode = np.where(slides, int(ContactMode.SLIDING), int(ContactMode.STATIC))
    mode = np.where(closing > 0.0, int(ContactMode.COLLIDING), mode)
    order = np.argsort(frame, kind="stable")
    return ContactTable(
        touchers, frame[order], toucher[order], part[order], point[order], normal[order],
        gap[order], closing[order], across[order], friction[order], mode[order],
    )  # fmt: skip
