"""Contacts of a body with hands and surroundings, found from poses and shapes alone.

A hand gives at most one contact for each capsule: between the capsule and the exact mesh, or, where
the capsule does not touch, between the skin over it and the mesh. A surface of the surroundings
gives those of ``geometry.support``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT
from handwright.evidence.contacts.capsule_slips import CapsuleSlips
from handwright.evidence.contacts.edges import side_contacts
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.impacts import find_impacts
from handwright.evidence.contacts.probes import capsule_gaps
from handwright.evidence.contacts.skin_probe import skin_gaps
from handwright.evidence.contacts.slip import (
    LinkMotion,
    SkinShear,
    Slips,
    Smoothing,
    material_slips,
    smoothed_slips,
)
from handwright.evidence.contacts.table import (
    ContactRule,
    FoundContacts,
    JudgedContacts,
    contact_table,
    no_contacts,
)
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.support import FLAT, contacts_along
from handwright.kinematics.fk import posed_capsules
from handwright.kinematics.skin.samples import CAPSULE_BULGE
from handwright.math.pose import Pose

# Between two frames an impact may happen this far from where the frames show the surfaces, m.
_IMPACT_REACH = 0.2


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
    reach, touching = rule.reach, rule.touching
    low_pass = rule.low_pass(times)
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
        low_pass.values(np.where(np.isfinite(gap), gap, unknown)), times,
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
    smoothing = Smoothing.while_touching(low_pass, touches, frame, part)
    rubbing = CapsuleSlips.of(hand, pose, times, frame, part, place, own_normal, smoothing)
    thrown = rubbing.leaves_too_fast()
    thrown &= touches[frame, part] & ~np.pad(touches, ((0, 1), (0, 0)))[frame + 1, part]
    # In the frame after a push that cannot have been there is none either.
    after = np.minimum(frame[thrown] + 1, count - 1)
    impacts.may_push[frame[thrown], part[thrown]] = False
    impacts.may_push[after, part[thrown]] = False
    shear = rubbing.rows(~is_side).shear(touches, rule.skin_stretch)
    slips, beyond = _slips_and_beyond(rubbing, shear)
    if (smooth := rubbing.smoothed()) is not None:
        gives = smooth.rows(~is_side).shear(touches, rule.skin_stretch)
        slower, less = _slips_and_beyond(smooth, gives)
        slips, beyond = slips.or_slower(slower), np.minimum(beyond, less)
    # One that moves over the edge rests on neither.
    rests = ~is_side | (beyond <= rule.static_speed)
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
    table = contact_table(hand.name, found, slips, rule.static_speed, own_normal[rests])
    return HandGaps(gap, depth, skin_depth, table, shear)


def _slips_and_beyond(
    rubbing: CapsuleSlips, shear: SkinShear
) -> tuple[Slips, Float[np.ndarray, " N"]]:
    """Slips along the contacts beyond what the skin takes up, and in any direction, m/s."""
    beyond = shear.slips(
        rubbing.slips.mean, rubbing.frame, rubbing.part, rubbing.pose, rubbing.times
    )
    return rubbing.beyond_skin(shear), np.linalg.norm(beyond, axis=1)


def environment_contacts(
    clip: Clip, name: str, rule: ContactRule
) -> tuple[JudgedContacts, Float[np.ndarray, " T"]]:
    """Contacts of a body with the surroundings, and how deep it is in them, m."""
    body, pose, times = clip.problem.bodies[name], clip.bodies[name], clip.times
    reach, touching, low_pass = rule.reach, rule.touching, rule.low_pass(times)
    depth = np.zeros(len(times))
    rows: list[tuple[np.ndarray, ...]] = []
    is_touching = np.zeros((len(times) + 2, len(clip.problem.environment)), dtype=bool)
    for number, surface in enumerate(clip.problem.environment):
        found = contacts_along(surface, body, pose)
        least = np.array([contacts.distance for contacts in found])
        impacts = find_impacts(low_pass.values(least[:, None]), times, touching=touching)
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
    smoothing = Smoothing.while_touching(low_pass, is_touching[1:-1], frame, part)
    still, none = LinkMotion.standing(len(times)), np.zeros_like(frame)
    slips = material_slips(times, still, pose, frame, none, found_all.point)
    smooth = smoothed_slips(slips, smoothing, still, pose, frame, none, found_all.point)
    slips = slips.or_slower(smooth)
    slips = slips.while_touching(is_touching[frame, part], is_touching[frame + 2, part])
    return contact_table(ENVIRONMENT, found_all, slips, rule.static_speed), depth


def _travel(place: Float[np.ndarray, "T C 3"]) -> Float[np.ndarray, "T C"]:
    """How far points move to the next or from the last frame, whichever is more, m."""
    step = np.linalg.norm(np.diff(place, axis=0), axis=-1)
    travel = np.zeros(place.shape[:2])
    travel[:-1] = step
    travel[1:] = np.maximum(travel[1:], step)
    return travel
