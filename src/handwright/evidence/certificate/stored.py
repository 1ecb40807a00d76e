"""Contacts and forces that a method stored with its clip, held against poses and shapes.

A stored force counts only where its contact is: on the body, and on the hand, surface or body that
it names. In an impact it may be off these by as much as they approach from frame to frame. A clip
has forces at all contacts or at none: one left out (NaN) among others is a fault. Forces are held
against the needed wrench in all frames with contacts; less strictly in the first and the last,
whose rates are extrapolated from the frames beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT, ContactMode, ContactTrack
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.balance import BodyLoad
from handwright.evidence.certificate.findings import part_name
from handwright.evidence.contacts.edges import ANOTHER_FACE
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.impacts import IMPACT_SPEED
from handwright.evidence.contacts.slip import (
    LinkMotion,
    SkinShear,
    Smoothing,
    across,
    material_slips,
    smoothed_slips,
)
from handwright.evidence.contacts.table import TREMBLING
from handwright.evidence.low_pass import LowPass
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.kinematics.fk import posed_capsules

# A normal is one if going against it leads away from the body by this share of the way; at edges
# any direction between those of the two sides does.
_LEAST_COSINE = 0.5
_STEP = 5e-4
_NO_FORCE = 1e-6
# The skin stands out from its capsules by up to so much, between the fingers, m.
_SKIN_OVER_CAPSULE = 0.015


class StoredFindings(NamedTuple):
    """What the stored contacts claim that is not so, by frame."""

    has_forces: bool
    cone_excess: Float[np.ndarray, " T"]
    """Largest excess of a force over its cone, as a share of the cone's width; 0 if none."""
    residual: Float[np.ndarray, " T"]
    """Part of the needed wrench that the forces leave, over weight and weight x gyration; the
    larger of the two, of the worst body, and at least the misplaced forces over the weight;
    NaN where no forces are judged."""
    static_slip: Float[np.ndarray, " T"]
    """Largest sliding speed of a contact that is called static or rolling, m/s."""
    num_misplaced: int
    """Forces at contacts that are not there."""
    is_incomplete: Bool[np.ndarray, " T"]
    """Whether a contact has no finite force, while others of the clip have."""
    num_missing: int
    """Contacts without a finite force, in a clip that has forces."""
    digit_force: Float[np.ndarray, " T"]
    """Largest sum of the stored forces of one digit, N."""
    misplaced: Float[np.ndarray, " T"]
    """Sum of the forces at contacts that are not there, over the weight of the worst body."""
    cone_of: dict[int, str]
    """By frame, the contact whose force is most outside its cone, in words."""
    static_of: dict[int, str]
    """By frame, the contact that is called static and slides fastest, in words."""
    left_by: dict[int, str]
    """By frame, the body whose forces leave most, in words."""


def judge_stored(
    clip: Clip,
    hands: Mapping[str, HandProbe],
    exact: Mapping[str, ExactDistance],
    loads: Mapping[str, BodyLoad],
    shears: Mapping[tuple[str, str], SkinShear],
    tolerances: Tolerances,
) -> StoredFindings:
    """Checks the clip's own contacts: modes, friction cones, and what the forces add up to."""
    contacts, count = clip.contacts, clip.num_frames
    excess, slip = np.zeros(count), np.zeros(count)
    capsules = {name: hand.model.capsules.names for name, hand in hands.items()}
    cone_of: dict[int, str] = {}
    static_of: dict[int, str] = {}
    left_by: dict[int, str] = {}

    def note_worst(
        worst: np.ndarray, names: dict[int, str], some: np.ndarray, value: np.ndarray
    ) -> None:
        """Takes over larger values, with the contacts that they are of."""
        larger = np.flatnonzero(value > worst[contacts.frame[some]])
        for row, size in zip(some[larger], value[larger], strict=True):
            frame = int(contacts.frame[row])
            if size > worst[frame]:
                toucher = contacts.touchers[contacts.toucher[row]]
                part = part_name(capsules, toucher, int(contacts.part[row]))
                worst[frame] = size
                names[frame] = f"{part} on '{contacts.bodies[contacts.body[row]]}'"

    size = np.linalg.norm(contacts.force, axis=1)
    has_force = np.isfinite(size)
    is_there = np.zeros(len(contacts), dtype=bool)
    for body in set(contacts.bodies) & set(exact):
        rows = np.flatnonzero(contacts.body == contacts.bodies.index(body))
        gap = np.full(len(rows), tolerances.gap)
        for toucher in np.unique(contacts.toucher[rows]):
            mine = contacts.toucher[rows] == toucher
            name = contacts.touchers[toucher]
            gap[mine] += _impact_travel(clip, body, name, rows[mine], hands)
        on_body, along = _on_body(clip, body, rows, exact[body], gap)
        pushes = rows[has_force[rows] & (size[rows] > _NO_FORCE * loads[body].weight)]
        wrong = pushes[np.isin(pushes, rows[~along])]
        over = cone_excess(clip, body, pushes)
        over[np.isin(pushes, wrong)] = 1.0
        note_worst(excess, cone_of, pushes, over)
        for toucher in np.unique(contacts.toucher[rows]):
            name = contacts.touchers[toucher]
            mine = contacts.toucher[rows] == toucher
            some = rows[mine]
            near = _on_toucher(clip, name, some, hands, exact, gap[mine])
            is_there[some] = on_body[mine] & near
            creep = static_slip(
                clip, body, name, some, hands, shears.get((body, name)),
                smoothing_hz=tolerances.smoothing_hz,
            )  # fmt: skip
            note_worst(slip, static_of, some, creep)
    misplaced = has_force & (size > 0.0) & ~is_there
    force = np.where((has_force & is_there)[:, None], contacts.force, 0.0)
    residual, astray = np.full(count, np.nan), np.zeros(count)
    for body, load in loads.items():
        lost = np.zeros(count)
        mine = misplaced & np.isin(contacts.body, _number(contacts.bodies, body))
        np.add.at(lost, contacts.frame[mine], size[mine] / load.weight)
        left = _residual(contacts, body, force, has_force, load, count)
        # A force that acts on nothing is wrong even where none is needed; NaN stays NaN.
        total = np.maximum(left, lost)
        for frame in np.flatnonzero(total > np.nan_to_num(residual)):
            left_by[int(frame)] = f"forces on '{body}' do not add up to what it needs"
        residual = np.fmax(residual, total)
        astray = np.maximum(astray, lost)
    # Without this a single NaN would spare its whole frame the question what its forces add up to.
    missing = ~has_force & has_force.any()
    incomplete = np.zeros(count, dtype=bool)
    incomplete[contacts.frame[missing]] = True
    return StoredFindings(
        bool(has_force.any()), excess, residual, slip, int(misplaced.sum()),
        incomplete, int(missing.sum()), _digit_force(clip, hands, np.where(has_force, size, 0.0)),
        astray, cone_of, static_of, left_by,
    )  # fmt: skip


def _digit_force(
    clip: Clip, hands: Mapping[str, HandProbe], size: Float[np.ndarray, " N"]
) -> Float[np.ndarray, " T"]:
    contacts = clip.contacts
    most = np.zeros(clip.num_frames)
    for toucher, name in enumerate(contacts.touchers):
        if name not in hands:
            continue
        model = hands[name].model
        rows = np.flatnonzero(contacts.toucher == toucher)
        part = contacts.part[rows]
        rows = rows[(part >= 0) & (part < len(model.capsules))]
        total = np.zeros((clip.num_frames, len(model.digits) + 1))
        # The last column is the palm's, whose number is -1; it is the arm that limits it.
        digit = model.capsules.digit[contacts.part[rows]]
        np.add.at(total, (contacts.frame[rows], digit), size[rows])
        most = np.maximum(most, total[:, :-1].max(axis=1, initial=0.0))
    return most


def _number(names: tuple[str, ...], name: str) -> list[int]:
    return [names.index(name)] if name in names else []


def _on_body(
    clip: Clip,
    body: str,
    rows: Int[np.ndarray, " N"],
    exact: ExactDistance,
    gap: Float[np.ndarray, " N"],
) -> tuple[Bool[np.ndarray, " N"], Bool[np.ndarray, " N"]]:
    """Whether contacts lie on the body's surface, and whether their normals go into it."""
    contacts = clip.contacts
    pose = clip.bodies[body][contacts.frame[rows]].inverse()
    point = pose.apply(contacts.point[rows])
    back = pose.apply(contacts.point[rows] - _STEP * contacts.normal[rows])
    here, there = exact.signed_distance(point)[0], exact.signed_distance(back)[0]
    return np.abs(here) <= gap, there - here >= _LEAST_COSINE * _STEP


def _on_toucher(
    clip: Clip,
    name: str,
    rows: Int[np.ndarray, " N"],
    hands: Mapping[str, HandProbe],
    exact: Mapping[str, ExactDistance],
    gap: Float[np.ndarray, " N"],
) -> Bool[np.ndarray, " N"]:
    """Whether contacts lie on the hand, surface or body that they name."""
    contacts = clip.contacts
    frame, part, point = contacts.frame[rows], contacts.part[rows], contacts.point[rows]
    near = np.zeros(len(rows), dtype=bool)
    if name == ENVIRONMENT:
        for number, surface in enumerate(clip.problem.environment):
            mine = part == number
            near[mine] = np.abs(surface_distance(surface, point[mine])[0]) <= gap[mine]
    elif name in hands:
        hand = hands[name]
        mine = np.flatnonzero((part >= 0) & (part < len(hand.model.capsules)))
        posed = posed_capsules(hand.model, hand.motion.q, hand.motion.root)
        start, end = posed.start[frame[mine], part[mine]], posed.end[frame[mine], part[mine]]
        along = end - start
        length = np.maximum(np.einsum("ni,ni->n", along, along), 1e-18)
        share = np.clip(np.einsum("ni,ni->n", point[mine] - start, along) / length, 0.0, 1.0)
        off = np.linalg.norm(point[mine] - start - share[:, None] * along, axis=1)
        near[mine] = off - posed.radius[part[mine]] <= _SKIN_OVER_CAPSULE + gap[mine]
    elif name in exact:
        local = clip.bodies[name][frame].inverse().apply(point)
        near = np.abs(exact[name].signed_distance(local)[0]) <= gap
    return near


def cone_excess(clip: Clip, body: str, rows: Int[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
    """Excess of stored forces over their cones, as shares of the cones' widths; 0 if none."""
    contacts, bodies = clip.contacts, clip.problem.bodies
    names = [contacts.touchers[toucher] for toucher in contacts.toucher[rows]]
    surfaces = clip.problem.environment
    friction = np.full(len(rows), bodies[body].friction)
    for n, (name, part) in enumerate(zip(names, contacts.part[rows], strict=True)):
        if name == ENVIRONMENT and 0 <= part < len(surfaces):
            friction[n] = surfaces[part].friction
        elif name in bodies:
            friction[n] = min(friction[n], bodies[name].friction)
    force, direction = contacts.force[rows], contacts.normal[rows]
    normal = np.einsum("ni,ni->n", force, direction)
    across = np.linalg.norm(force - normal[:, None] * direction, axis=1)
    width = np.maximum(friction, 1e-3) * np.linalg.norm(force, axis=1)
    return np.maximum((across - friction * normal) / width, 0.0)


def static_slip(
    clip: Clip,
    body: str,
    name: str,
    rows: Int[np.ndarray, " N"],
    hands: Mapping[str, HandProbe],
    shear: SkinShear | None = None,
    *,
    smoothing_hz: float | None = None,
) -> Float[np.ndarray, " N"]:
    """Sliding speeds of contacts that are called static or rolling, m/s; 0 for the others.

    Less what the skin of a hand makes up for, if ``shear`` is given, and under the low-pass for
    recorded tracks, if its cut-off is.
    """
    contacts = clip.contacts
    frame, point, normal = contacts.frame[rows], contacts.point[rows], contacts.normal[rows]
    links, link = _moving_links(clip, name, rows, hands)
    sticks = np.isin(contacts.mode[rows], [int(ContactMode.STATIC), int(ContactMode.ROLLING)])
    # Where the same contact is in the frame before and after.
    kinds, kind = np.unique(contacts.part[rows], return_inverse=True)
    is_there = np.zeros((clip.num_frames + 2, len(kinds)), dtype=bool)
    is_there[frame[sticks] + 1, kind[sticks]] = True
    low_pass = LowPass.at(clip.times, smoothing_hz)
    smoothing = Smoothing.while_touching(low_pass, is_there[1:-1], frame, kind)
    slips = material_slips(clip.times, links, clip.bodies[body], frame, link, point)
    if shear is None or shear.limit <= 0.0:
        smooth = smoothed_slips(slips, smoothing, links, clip.bodies[body], frame, link, point)
        slips = slips.or_slower(smooth)
    velocity = slips.mean
    slip = across(velocity, normal)
    if shear is not None and shear.limit > 0.0:
        part, pose = np.clip(contacts.part[rows], 0, shear.touches.shape[1] - 1), clip.bodies[body]
        own = pose[frame].rotate(shear.normal[frame, part])
        # A face beside an edge is touched by skin that is stretched along the contact's own; it is
        # rested on by skin that moves over neither.
        is_beside = np.einsum("ni,ni->n", own, normal) < ANOTHER_FACE
        given = shear.touches[frame, part] & is_beside
        slip = shear.slips(np.where(given[:, None], velocity, slip), frame, part, pose, clip.times)
    speed = np.linalg.norm(slip, axis=1)
    if shear is None or shear.limit <= 0.0:
        # What is there on both sides must not move to and fro either.
        slips = slips.while_touching(is_there[frame, kind], is_there[frame + 2, kind])
        for way in (slips.before, slips.after):
            speed = np.maximum(speed, np.linalg.norm(across(way, normal), axis=1) / TREMBLING)
    return np.where(sticks, speed, 0.0)


def _impact_travel(
    clip: Clip,
    body: str,
    name: str,
    rows: Int[np.ndarray, " N"],
    hands: Mapping[str, HandProbe],
) -> Float[np.ndarray, " N"]:
    """How far off a colliding contact may be seen, m: as far as its sides approach in a step.

    Between two frames an impact may happen elsewhere than where the frames show it. The word of
    the clip is not enough for one: the step must be as fast as an impact.
    """
    contacts, times, pose = clip.contacts, clip.times, clip.bodies[body]
    frame = contacts.frame[rows]
    (rotations, positions), link = _moving_links(clip, name, rows, hands)
    fixed = contacts.point[rows] - positions[frame, link]
    fixed = np.einsum("nji,nj->ni", rotations[frame, link], fixed)
    here = pose[frame].inverse()
    start, normal = here.apply(contacts.point[rows]), here.rotate(contacts.normal[rows])
    travel = np.zeros(len(rows))
    for t in (np.maximum(frame - 1, 0), np.minimum(frame + 1, len(times) - 1)):
        world = np.einsum("nij,nj->ni", rotations[t, link], fixed) + positions[t, link]
        step = np.abs(np.einsum("ni,ni->n", pose[t].inverse().apply(world) - start, normal))
        is_impact = step > IMPACT_SPEED * np.abs(times[t] - times[frame])
        travel = np.maximum(travel, np.where(is_impact, step, 0.0))
    return np.where(contacts.mode[rows] == int(ContactMode.COLLIDING), travel, 0.0)


def _moving_links(
    clip: Clip, name: str, rows: Int[np.ndarray, " N"], hands: Mapping[str, HandProbe]
) -> tuple[LinkMotion, Int[np.ndarray, " N"]]:
    """Poses of what touches, and which of its links each contact is on."""
    link = np.zeros(len(rows), dtype=np.int64)
    if name in hands:
        hand = hands[name]
        part = np.clip(clip.contacts.part[rows], 0, len(hand.model.capsules) - 1)
        return hand.links, hand.model.capsules.link[part]
    if name in clip.bodies:
        return LinkMotion.of_body(clip.bodies[name]), link
    return LinkMotion.standing(clip.num_frames), link


def rows_of(contacts: ContactTrack, body: str) -> list[tuple[Int[np.ndarray, " N"], float]]:
    """Contacts in which something pushes on a body, and those in which it pushes on another.

    Each with the sign of the listed force on the body.
    """
    return [
        (np.flatnonzero(column == names.index(body)), sign)
        for sign, names, column in (
            (1.0, contacts.bodies, contacts.body),
            (-1.0, contacts.touchers, contacts.toucher),
        )
        if body in names
    ]


def listed_wrench(
    contacts: ContactTrack,
    body: str,
    force: Float[np.ndarray, "N 3"],
    center: Float[np.ndarray, "T 3"],
) -> tuple[Float[np.ndarray, "T 3"], Float[np.ndarray, "T 3"]]:
    """Force, N, and moment, N m, that contacts give a body in each frame.

    Args:
        contacts: Of the clip.
        body: Name.
        force: Of the contacts, N.
        center: The body's centre of mass, m.
    """
    pushed, turned = np.zeros_like(center), np.zeros_like(center)
    for rows, sign in rows_of(contacts, body):
        frame = contacts.frame[rows]
        arm = contacts.point[rows] - center[frame]
        np.add.at(pushed, frame, sign * force[rows])
        np.add.at(turned, frame, sign * np.cross(arm, force[rows]))
    return pushed, turned


def _residual(
    contacts: ContactTrack,
    body: str,
    force: Float[np.ndarray, "N 3"],
    has_force: Bool[np.ndarray, " N"],
    load: BodyLoad,
    count: int,
) -> Float[np.ndarray, " T"]:
    """What the forces on a body leave of the wrench it needs; NaN where they are not judged."""
    listed = listed_wrench(contacts, body, force, load.wrench.center)
    known, total = np.zeros(count), np.zeros(count)
    for rows, _ in rows_of(contacts, body):
        np.add.at(total, contacts.frame[rows], 1.0)
        np.add.at(known, contacts.frame[rows], has_force[rows])
    left = np.maximum(
        np.linalg.norm(load.wrench.force - listed[0], axis=1) / load.weight,
        np.linalg.norm(load.wrench.moment - listed[1], axis=1) / (load.weight * load.gyration),
    )
    judged = (total > 0.0) & (known == total)
    return np.where(judged, left, np.nan)
