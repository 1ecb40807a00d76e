"""Contacts of a body with hands and surroundings, found from poses and shapes alone.

A hand gives at most one contact for each capsule: between the capsule and the exact mesh, or, where
the capsule does not touch, between the skin over it and the mesh. A surface of the surroundings
gives those of ``geometry.support``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ENVIRONMENT, ContactMode
from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.evidence.contacts.edges import side_contacts
from handwright.evidence.contacts.probes import capsule_gaps
from handwright.evidence.contacts.skin_probe import skin_gaps
from handwright.evidence.contacts.slip import LinkMotion, SkinShear, across, material_velocity
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.support import contacts_along
from handwright.hands.skin.build import skin_of
from handwright.kinematics.fk import link_poses, posed_capsules
from handwright.kinematics.skin.samples import CAPSULE_BULGE, vertex_capsules
from handwright.math.pose import Pose

# A contact that opens or closes faster than this is an impact, m/s.
IMPACT_SPEED = 0.05
# Between two frames an impact may happen this far from where the frames show the surfaces, m.
_IMPACT_REACH = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class JudgedContacts:
    """Contacts of bodies over a motion, ordered by frame."""

    touchers: tuple[str, ...]
    """Hands, ``environment``, bodies."""
    frame: Int[np.ndarray, " N"]
    body: Int[np.ndarray, " N"]
    """The body that is touched, by its place among the clip's."""
    other: Int[np.ndarray, " N"]
    """The body that touches, or -1 for hands and surroundings."""
    toucher: Int[np.ndarray, " N"]
    part: Int[np.ndarray, " N"]
    """Capsule of the hand, or surface of the surroundings; 0 for a body."""
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

    def starts(self, num_frames: int) -> Int[np.ndarray, " S"]:
        """Row at which each frame begins, and the number of rows."""
        return np.searchsorted(self.frame, np.arange(num_frames + 1))

    def of_body(self, body: int, other: int = -1) -> JudgedContacts:
        """The same contacts as those of a body, by number, and of the one that touches it."""
        return replace(
            self, body=np.full(len(self.frame), body), other=np.full(len(self.frame), other)
        )


class HandProbe(NamedTuple):
    """A hand over a clip, posed once."""

    name: str
    model: HandModel
    motion: HandMotion
    skin: Skin | None
    owner: Int[np.ndarray, " V"]
    """Capsule under each vertex of the skin."""
    links: LinkMotion


class HandGaps(NamedTuple):
    """How near a hand is to a body."""

    capsule: Float[np.ndarray, "T C"]
    """m; infinity where farther than asked for."""
    capsule_depth: Float[np.ndarray, " T"]
    """Deepest capsule, m."""
    skin_depth: Float[np.ndarray, " T"]
    """Deepest skin vertex, or capsule beyond what it stands out from the skin, m; of hands without
    skin, the deepest capsule."""
    contacts: JudgedContacts
    shear: SkinShear


def probe_hand(clip: Clip, name: str) -> HandProbe:
    """Poses a hand of a clip."""
    model, motion = clip.problem.hands[name], clip.hands[name]
    skin, owner = _skin_over_capsules(model)
    links = LinkMotion(*link_poses(model, motion.q, motion.root))
    return HandProbe(name, model, motion, skin, owner, links)


@lru_cache(maxsize=8)
def _skin_over_capsules(model: HandModel) -> tuple[Skin | None, Int[np.ndarray, " V"]]:
    """The skin and the capsule under each of its vertices, kept for judging many clips."""
    if model.skin is None or model.side == "none":
        return None, np.zeros(0, dtype=np.int64)
    skin = skin_of(model)
    return skin, vertex_capsules(model, skin)


class ContactRule(NamedTuple):
    """What counts as a contact, and as a sliding one."""

    reach: float
    """Contacts with larger gaps are left out, m."""
    touching: float
    """Gap up to which surfaces count as touching, m."""
    static_speed: float
    """Sliding speeds up to this count as none, m/s."""
    skin_stretch: float = 0.0
    """How far skin gives way before it slides, m."""


def hand_gaps(
    hand: HandProbe,
    body: RigidBody,
    pose: Pose,
    exact: ExactDistance,
    times: Float[np.ndarray, " T"],
    rule: ContactRule,
) -> HandGaps:
    """Distances and contacts between a hand and a body.

    Args:
        hand: The posed hand.
        body: Its friction is used.
        pose: (T,) poses of the body.
        exact: Distances of the body.
        times: Times of the frames, s.
        rule: What counts as a contact.
    """
    reach, touching, static_speed, skin_stretch = rule
    count, capsules = len(times), hand.model.capsules
    world = posed_capsules(hand.model, hand.motion.q, hand.motion.root)
    back = pose.inverse()[:, None]
    start, end = back.apply(world.start), back.apply(world.end)
    shape = start.shape[:2]
    # An impact moves a capsule to the body from as far as it travels from frame to frame.
    fast = np.minimum(touching + 2.0 * np.maximum(_travel(start), _travel(end)), _IMPACT_REACH)
    looked = np.maximum(fast, reach)
    nearest = capsule_gaps(
        exact,
        start.reshape(-1, 3),
        end.reshape(-1, 3),
        np.tile(capsules.radius, count),
        reach=looked.ravel(),
    )
    gap = nearest.gap.reshape(shape)
    point, outward = nearest.point.reshape(*shape, 3), nearest.outward.reshape(*shape, 3)
    depth = np.maximum(-gap, 0.0).max(axis=1)
    touch_gap, skin_depth = gap.copy(), depth
    if hand.skin is not None:
        skin = skin_gaps(
            hand.model, hand.skin, hand.owner, hand.motion.q, hand.motion.root, pose, exact,
            reach=touching,
        )  # fmt: skip
        # Skin is never deeper in a thin wall or a thin bar than half of it; the flesh under it is.
        skin_depth = np.maximum(skin.depth, depth - CAPSULE_BULGE)
        by_skin = (gap > touching) & (skin.gap <= touching)
        touch_gap = np.where(by_skin, skin.gap, gap)
        point = np.where(by_skin[..., None], skin.point, point)
        outward = np.where(by_skin[..., None], skin.outward, outward)
    unknown = np.where(looked >= _IMPACT_REACH, _IMPACT_REACH, np.nan)
    closing = closing_steps(np.where(np.isfinite(gap), gap, unknown), times)
    frame, part = np.nonzero((touch_gap <= reach) | (touch_gap <= touching + closing))
    place, inward, apart = point[frame, part], -outward[frame, part], touch_gap[frame, part]
    # At an edge a finger touches the faces on both sides.
    near = np.flatnonzero(apart <= touching)
    sides = side_contacts(place[near], inward[near], apart[near], exact, touching=touching)
    rows = np.concatenate([np.arange(len(frame)), near[sides.owner]])
    is_side = np.repeat([False, True], [len(frame), len(sides.owner)])
    own_normal = pose[frame[rows]].rotate(inward[rows])
    frame, part = frame[rows], part[rows]
    here = pose[frame]
    place = here.apply(np.concatenate([place, sides.points]))
    velocity = material_velocity(times, hand.links, pose, frame, capsules.link[part], place)
    shear = _skin_shear(
        skin_stretch, touch_gap <= touching, pose, times,
        frame[~is_side], part[~is_side], velocity[~is_side], own_normal[~is_side],
    )  # fmt: skip
    # One that moves over the edge rests on neither.
    beyond = shear.slips(velocity, frame, part, pose, times)
    rests = ~is_side | (np.linalg.norm(beyond, axis=1) <= static_speed)
    slip = shear.slips(across(velocity, own_normal), frame, part, pose, times)
    found = FoundContacts(
        frame=frame[rests],
        part=part[rests],
        point=place[rests],
        normal=here.rotate(np.concatenate([inward, sides.normals]))[rests],
        gap=np.concatenate([apart, sides.gap])[rests],
        closing=closing[frame, part][rests],
        friction=np.full(int(rests.sum()), body.friction),
        velocity=slip[rests],
    )
    table = contact_table(hand.name, found, static_speed, own_normal[rests])
    return HandGaps(gap, depth, skin_depth, table, shear)


def _skin_shear(
    limit: float,
    touches: Bool[np.ndarray, "T C"],
    pose: Pose,
    times: Float[np.ndarray, " T"],
    frame: Int[np.ndarray, " N"],
    part: Int[np.ndarray, " N"],
    velocity: Float[np.ndarray, "N 3"],
    normal: Float[np.ndarray, "N 3"],
) -> SkinShear:
    """Shear of the capsules' own contacts; ``velocity`` and ``normal`` are in the world."""
    back = pose.inverse()[frame]
    moving, facing = np.zeros((*touches.shape, 3)), np.zeros((*touches.shape, 3))
    moving[frame, part] = back.rotate(across(velocity, normal))
    facing[frame, part] = back.rotate(normal)
    return SkinShear.along(moving, facing, touches, times, limit)


def environment_contacts(
    clip: Clip, name: str, *, reach: float, static_speed: float
) -> tuple[JudgedContacts, Float[np.ndarray, " T"]]:
    """Contacts of a body with the surroundings, and how deep it is in them, m."""
    body, pose, times = clip.problem.bodies[name], clip.bodies[name], clip.times
    depth = np.zeros(len(times))
    rows: list[tuple[np.ndarray, ...]] = []
    for number, surface in enumerate(clip.problem.environment):
        found = contacts_along(surface, body, pose)
        least = np.array([contacts.distance for contacts in found])
        closing = closing_steps(least[:, None], times)[:, 0]
        depth = np.maximum(depth, -least)
        for t in np.flatnonzero(least <= reach + closing):
            point, normal, gap, _ = found[t]
            near = gap <= reach + closing[t]
            ones = np.ones(int(near.sum()), dtype=np.int64)
            rows.append(
                (t * ones, number * ones, point[near], normal[near], gap[near],
                 closing[t] * ones, surface.friction * ones)
            )  # fmt: skip
    if not rows:
        rows.append((_NONE, _NONE, _NO_POINTS, _NO_POINTS, _NO_GAPS, _NO_GAPS, _NO_GAPS))
    frame, part, point, normal, gap, change, friction = (
        np.concatenate(column) for column in zip(*rows, strict=True)
    )
    still = LinkMotion.standing(len(times))
    velocity = material_velocity(times, still, pose, frame, np.zeros_like(frame), point)
    touching = FoundContacts(frame, part, point, normal, gap, change, friction, velocity)
    return contact_table(ENVIRONMENT, touching, static_speed), depth


_NONE = np.zeros(0, dtype=np.int64)
_NO_GAPS = np.zeros(0)
_NO_POINTS = np.zeros((0, 3))


def no_contacts() -> JudgedContacts:
    """A table without rows."""
    return JudgedContacts(
        (), _NONE, _NONE, _NONE, _NONE, _NONE, _NO_POINTS, _NO_POINTS, _NO_GAPS, _NO_GAPS,
        _NO_POINTS, _NO_GAPS, _NONE,
    )  # fmt: skip


def join_tables(tables: list[JudgedContacts]) -> JudgedContacts:
    """One table of all contacts."""
    touchers = tuple(dict.fromkeys(name for table in tables for name in table.touchers))
    number = {name: index for index, name in enumerate(touchers)}
    columns = {
        item.name: np.concatenate([getattr(table, item.name) for table in tables])
        for item in fields(JudgedContacts)
        if item.name != "touchers"
    }
    columns["toucher"] = np.concatenate(
        [np.array([number[n] for n in t.touchers], dtype=np.int64)[t.toucher] for t in tables]
    )
    order = np.argsort(columns["frame"], kind="stable")
    return JudgedContacts(touchers, **{name: column[order] for name, column in columns.items()})


def _travel(place: Float[np.ndarray, "T C 3"]) -> Float[np.ndarray, "T C"]:
    """How far points move to the next or from the last frame, whichever is more, m."""
    step = np.linalg.norm(np.diff(place, axis=0), axis=-1)
    travel = np.zeros(place.shape[:2])
    travel[:-1] = step
    travel[1:] = np.maximum(travel[1:], step)
    return travel


def closing_steps(
    gap: Float[np.ndarray, "T C"], times: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "T C"]:
    """Largest change of each gap to a neighbouring frame, m; 0 unless it is an impact.

    A gap that is not known is NaN, and no impact.
    """
    change = np.zeros(gap.shape)
    if len(times) < 2:
        return change
    step = np.nan_to_num(np.abs(np.diff(gap, axis=0)), nan=0.0)
    step[step <= IMPACT_SPEED * np.diff(times)[:, None]] = 0.0
    change[:-1] = step
    change[1:] = np.maximum(change[1:], step)
    return change


class FoundContacts(NamedTuple):
    """Contacts of a body with one toucher, in any order; see ``JudgedContacts`` for the columns."""

    frame: Int[np.ndarray, " N"]
    part: Int[np.ndarray, " N"]
    point: Float[np.ndarray, "N 3"]
    normal: Float[np.ndarray, "N 3"]
    gap: Float[np.ndarray, " N"]
    closing: Float[np.ndarray, " N"]
    friction: Float[np.ndarray, " N"]
    velocity: Float[np.ndarray, "N 3"]
    """Of the toucher's material point over the body's, in the world, m/s."""


def contact_table(
    toucher: str,
    found: FoundContacts,
    static_speed: float,
    own_normal: Float[np.ndarray, "N 3"] | None = None,
) -> JudgedContacts:
    """Contacts of body 0 with one toucher as a table.

    Sliding is taken across ``own_normal``, the normals by default: a face beside an edge is touched
    by the material of the edge's own contact.
    """
    frame, part, point, normal, gap, closing, friction, velocity = found
    sliding = across(velocity, normal if own_normal is None else own_normal)
    slides = np.linalg.norm(sliding, axis=1) > static_speed
    mode = np.where(slides, int(ContactMode.SLIDING), int(ContactMode.STATIC))
    mode = np.where(closing > 0.0, int(ContactMode.COLLIDING), mode)
    none = np.zeros(len(frame), dtype=np.int64)
    table = JudgedContacts(
        (toucher,), frame, none, none - 1, none, part, point, normal, gap, closing, sliding,
        friction, mode,
    )  # fmt: skip
    return join_tables([table])
