"""Contacts of a body with hands and surroundings, found from poses and shapes alone.

A hand gives at most one contact for each capsule: between the capsule and the exact mesh, or, where
the capsule does not touch, between the skin over it and the mesh. A surface of the surroundings
gives those of ``geometry.support``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.clip import Clip, HandMotion
from handwright.core.contact import ENVIRONMENT
from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.evidence.contacts.edges import side_contacts
from handwright.evidence.contacts.impacts import IMPACT_SPEED, REACHING, find_impacts
from handwright.evidence.contacts.probes import capsule_gaps
from handwright.evidence.contacts.skin_probe import skin_gaps
from handwright.evidence.contacts.slip import LinkMotion, SkinShear, Slips, across, material_slips
from handwright.evidence.contacts.table import (
    FoundContacts,
    JudgedContacts,
    contact_table,
    no_contacts,
)
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.support import FLAT, contacts_along
from handwright.hands.skin.build import skin_of
from handwright.kinematics.fk import link_poses, posed_capsules
from handwright.kinematics.skin.samples import CAPSULE_BULGE, vertex_capsules
from handwright.math.pose import Pose

# Between two frames an impact may happen this far from where the frames show the surfaces, m.
_IMPACT_REACH = 0.2


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
    fast = np.minimum(touching + 3.0 * np.maximum(_travel(start), _travel(end)), _IMPACT_REACH)
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
    # Skin reaches further than its capsule; the capsule's gap is the one that changes smoothly.
    bulge = 0.0 if hand.skin is None else CAPSULE_BULGE
    touches = touch_gap <= touching
    impacts = find_impacts(
        np.where(np.isfinite(gap), gap, unknown), times,
        touching=touching + bulge, letting_go=touches[:-1] & ~touches[1:],
    )  # fmt: skip
    frame, part = np.nonzero((touch_gap <= reach) | (impacts.number >= 0) & np.isfinite(gap))
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
    slips = material_slips(times, hand.links, pose, frame, capsules.link[part], place)
    thrown = _leaves_too_fast(hand, times, slips, frame, part, place, own_normal)
    thrown &= touches[frame, part] & ~np.pad(touches, ((0, 1), (0, 0)))[frame + 1, part]
    # In the frame after a push that cannot have been there is none either.
    after = np.minimum(frame[thrown] + 1, count - 1)
    impacts.may_push[frame[thrown], part[thrown]] = False
    impacts.may_push[after, part[thrown]] = False
    shear = _skin_shear(
        skin_stretch, touches, pose, times,
        frame[~is_side], part[~is_side], slips.mean[~is_side], own_normal[~is_side],
    )  # fmt: skip
    # One that moves over the edge rests on neither.
    beyond = shear.slips(slips.mean, frame, part, pose, times)
    rests = ~is_side | (np.linalg.norm(beyond, axis=1) <= static_speed)
    slips = _slips_of_skin(slips, shear, across(slips.mean, own_normal), frame, part, pose, times)
    beside = np.pad(touches, ((1, 1), (0, 0)))
    slips = slips.while_touching(beside[frame, part], beside[frame + 2, part]).rows(rests)
    found = FoundContacts(
        frame=frame[rests],
        part=part[rests],
        point=place[rests],
        normal=here.rotate(np.concatenate([inward, sides.normals]))[rests],
        gap=np.concatenate([apart, sides.gap])[rests],
        impact=impacts.number[frame, part][rests],
        may_push=impacts.may_push[frame, part][rests],
        friction=np.full(int(rests.sum()), body.friction),
    )
    table = contact_table(hand.name, found, slips, static_speed, own_normal[rests])
    return HandGaps(gap, depth, skin_depth, table, shear)


def _leaves_too_fast(
    hand: HandProbe,
    times: Float[np.ndarray, " T"],
    slips: Slips,
    frame: Int[np.ndarray, " N"],
    part: Int[np.ndarray, " N"],
    place: Float[np.ndarray, "N 3"],
    normal: Float[np.ndarray, "N 3"],
) -> Bool[np.ndarray, " N"]:
    """Whether a body goes away along the normal faster than the hand moved before or with it."""
    still = Pose(np.zeros((len(times), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1)))
    own = material_slips(times, hand.links, still, frame, hand.model.capsules.link[part], place)
    before, after = (np.einsum("ni,ni->n", v, normal) for v in (own.before, own.after))
    body = after - np.einsum("ni,ni->n", slips.after, normal)
    # A hand may still speed up within the step in which it lets go.
    lasts = np.diff(times, append=times[-1])[frame]
    allowed = IMPACT_SPEED + 0.5 * REACHING * lasts
    return np.asarray(body > np.maximum(np.maximum(before, after), 0.0) + allowed)


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


def _slips_of_skin(
    slips: Slips,
    shear: SkinShear,
    mean: Float[np.ndarray, "N 3"],
    frame: Int[np.ndarray, " N"],
    part: Int[np.ndarray, " N"],
    pose: Pose,
    times: Float[np.ndarray, " T"],
) -> Slips:
    """Slips less what the skin takes up; skin that gives way also takes up trembling."""
    slipped = shear.slips(mean, frame, part, pose, times)
    if shear.limit > 0.0:
        return Slips(slipped, slipped, slipped)
    return slips._replace(mean=slipped)


def environment_contacts(
    clip: Clip, name: str, *, reach: float, touching: float, static_speed: float
) -> tuple[JudgedContacts, Float[np.ndarray, " T"]]:
    """Contacts of a body with the surroundings, and how deep it is in them, m."""
    body, pose, times = clip.problem.bodies[name], clip.bodies[name], clip.times
    depth = np.zeros(len(times))
    rows: list[tuple[np.ndarray, ...]] = []
    is_touching = np.zeros((len(times) + 2, len(clip.problem.environment)), dtype=bool)
    for number, surface in enumerate(clip.problem.environment):
        found = contacts_along(surface, body, pose)
        least = np.array([contacts.distance for contacts in found])
        impacts = find_impacts(least[:, None], times, touching=touching)
        number_of, may_push = impacts.number[:, 0], impacts.may_push[:, 0]
        depth = np.maximum(depth, -least)
        for t in np.flatnonzero((least <= reach) | (number_of >= 0)):
            point, normal, gap, _ = found[t]
            near = gap <= max(reach, least[t] + FLAT)
            ones = np.ones(int(near.sum()), dtype=np.int64)
            rows.append(
                (t * ones, number * ones, point[near], normal[near], gap[near],
                 number_of[t] * ones, np.full(len(ones), may_push[t]), surface.friction * ones)
            )  # fmt: skip
        is_touching[1:-1, number] = least <= touching
    if not rows:
        return no_contacts(), depth
    found_all = FoundContacts(*(np.concatenate(column) for column in zip(*rows, strict=True)))
    frame, part = found_all.frame, found_all.part
    still = LinkMotion.standing(len(times))
    slips = material_slips(times, still, pose, frame, np.zeros_like(frame), found_all.point)
    slips = slips.while_touching(is_touching[frame, part], is_touching[frame + 2, part])
    return contact_table(ENVIRONMENT, found_all, slips, static_speed), depth


def _travel(place: Float[np.ndarray, "T C 3"]) -> Float[np.ndarray, "T C"]:
    """How far points move to the next or from the last frame, whichever is more, m."""
    step = np.linalg.norm(np.diff(place, axis=0), axis=-1)
    travel = np.zeros(place.shape[:2])
    travel[:-1] = step
    travel[1:] = np.maximum(travel[1:], step)
    return travel
