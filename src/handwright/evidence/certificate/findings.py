"""What is found in a clip before any of it is judged: contacts, loads and forces of every body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.core.contact import ENVIRONMENT
from handwright.core.events import pushed
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.balance import (
    CARRYING,
    Balance,
    BodyLoad,
    Drift,
    balance,
    static_drifts,
    weight_of,
)
from handwright.evidence.certificate.dynamics import required_wrench
from handwright.evidence.certificate.given.body_parts import size_of
from handwright.evidence.certificate.measures.measure import Says, always
from handwright.evidence.certificate.strength import Effort, HandStrength
from handwright.evidence.contacts.body_contacts import body_contacts
from handwright.evidence.contacts.hand_contacts import (
    HandGaps,
    environment_contacts,
    hand_gaps,
)
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.evidence.contacts.slip import SkinShear
from handwright.evidence.contacts.table import (
    ContactRule,
    JudgedContacts,
    join_tables,
    no_contacts,
)
from handwright.geometry.distance.exact import ExactDistance


class Sunk(NamedTuple):
    """How deep one thing is in another."""

    bodies: tuple[str, ...]
    """Those of the two that are bodies."""
    depth: Float[np.ndarray, " T"]
    """m."""
    says: Says
    """What is in what in a frame, in words."""


class Findings(NamedTuple):
    """All bodies of a clip over its frames."""

    names: tuple[str, ...]
    """Bodies, in the order of the columns below."""
    table: JudgedContacts
    loads: dict[str, BodyLoad]
    balance: Balance
    margin: Float[np.ndarray, " N"]
    """Of each contact: 1 for a straight push, 0 on the cone's edge."""
    gap: Float[np.ndarray, "T B"]
    """Largest gap of a contact that carries force, m."""
    penetration: Float[np.ndarray, "T B"]
    """Deepest skin or body in the body, or body in the surroundings, m."""
    sunk: tuple[Sunk, ...]
    """The same by what is in the body."""
    drift: Drift
    """Largest sliding of a static contact since its episode began."""
    carrying: Bool[np.ndarray, " N"]
    """Contacts that carry force."""
    capsules: dict[str, tuple[str, ...]]
    """Names of the parts of each hand."""
    effort: Effort
    shears: dict[tuple[str, str], SkinShear]
    """Of the skin, by body and hand."""
    impact_rate: Float[np.ndarray, " T"]
    """Impacts of one body with the same thing in the second around a frame."""
    notes: tuple[str, ...]
    unknown_strength: tuple[str, ...]
    """Hands that touch something and whose strength is not known."""

    def toucher_name(self, row: int, body: int) -> str:
        """What touches a body in a contact, in words."""
        table = self.table
        if int(table.other[row]) == body:
            return f"'{self.names[table.body[row]]}'"
        return part_name(self.capsules, table.touchers[table.toucher[row]], int(table.part[row]))

    def pair(self, row: int) -> str:
        """What moves on what in a contact, in words."""
        body = int(self.table.body[row])
        sides = [self.toucher_name(row, body), f"'{self.names[body]}'"]
        is_around = self.table.touchers[self.table.toucher[row]] == ENVIRONMENT
        return " on ".join(sides[::-1] if is_around else sides)


def part_name(capsules: Mapping[str, tuple[str, ...]], toucher: str, part: int) -> str:
    """A part of a hand, a surface or a body in words."""
    if toucher == ENVIRONMENT:
        return f"surface {part} of the surroundings"
    names = capsules.get(toucher, ())
    return f"{toucher}.{names[part]}" if 0 <= part < len(names) else f"'{toucher}'"


def find(
    clip: Clip,
    hands: dict[str, HandProbe],
    exact: dict[str, ExactDistance],
    tolerances: Tolerances,
    near_jump: Bool[np.ndarray, " T"],
) -> Findings:
    """Looks at every body of a clip.

    Args:
        clip: The motion.
        hands: Its hands, posed.
        exact: Distances of its bodies.
        tolerances: What counts as touching.
        near_jump: Frames next to a leap, over which no contact lasts.
    """
    names = tuple(clip.bodies)
    depth = np.zeros((clip.num_frames, len(names)))
    tables = [no_contacts()]
    shears: dict[tuple[str, str], SkinShear] = {}
    sunk: list[Sunk] = []
    for number, name in enumerate(names):
        table, deep, skin = _touchers(clip, name, hands, exact[name], tolerances)
        shears |= {(name, hand): shear for hand, shear in skin.items()}
        depth[:, number] = np.max([one.depth for one in deep], axis=0)
        sunk += deep
        tables.append(table.of_body(number))
    for one, two in combinations(range(len(names)), 2):
        pair = [clip.problem.bodies[names[number]] for number in (one, two)]
        rule = _contact_rule(pair, tolerances)
        table, inside = body_contacts(clip, names[one], names[two], exact, rule)
        tables.append(table.of_body(one, two))
        depth[:, [one, two]] = np.maximum(depth[:, [one, two]], inside[:, None])
        text = f"'{names[one]}' and '{names[two]}' in each other"
        sunk.append(Sunk((names[one], names[two]), inside, always(text)))
    table = join_tables(tables)
    loads = {name: _load(clip, name, tolerances) for name in names}
    strength = HandStrength(clip, list(hands.values()), table, tolerances)
    found = balance(table, list(loads.values()), tolerances, strength)
    weight = np.array([load.weight for load in loads.values()])
    size = np.linalg.norm(found.force, axis=1)
    carrying = size > CARRYING * weight[table.body]
    return Findings(
        names=names,
        table=table,
        loads=loads,
        balance=found,
        margin=_friction_margins(table, found.force, size),
        gap=_widest_gaps(table, carrying, depth.shape, tolerances.gap),
        penetration=depth,
        sunk=tuple(sunk),
        carrying=carrying,
        capsules={name: hand.model.capsules.names for name, hand in hands.items()},
        drift=static_drifts(table, carrying, list(clip.bodies.values()), clip.times, near_jump),
        effort=strength.effort(found.force),
        shears=shears,
        impact_rate=_impact_rate(table, carrying, loads, clip.times),
        notes=tuple(_pushing(names, table, carrying)),
        unknown_strength=strength.unknown,
    )


def _touchers(
    clip: Clip,
    name: str,
    hands: dict[str, HandProbe],
    exact: ExactDistance,
    tolerances: Tolerances,
) -> tuple[JudgedContacts, list[Sunk], dict[str, SkinShear]]:
    """Contacts of a body with hands and surroundings, how deep any of it goes, and shears."""
    body, pose = clip.problem.bodies[name], clip.bodies[name]
    rule = _contact_rule([body], tolerances)
    gaps = {
        hand.name: hand_gaps(hand, body, pose, exact, clip.times, rule) for hand in hands.values()
    }
    around, inside = environment_contacts(clip, name, rule)
    table = join_tables([*(gap.contacts for gap in gaps.values()), around])
    sunk = [Sunk((name,), inside, always(f"'{name}' in the surroundings"))]
    for hand in hands.values():
        sunk.append(Sunk((name,), gaps[hand.name].skin_depth, _in_body(hand, gaps, name)))
    return table, sunk, {name: gap.shear for name, gap in gaps.items()}


def _in_body(hand: HandProbe, gaps: Mapping[str, HandGaps], body: str) -> Says:
    """Which part of a hand is deepest in a body."""
    capsule, names = gaps[hand.name].capsule, hand.model.capsules.names
    return lambda frame: f"{hand.name}.{names[int(capsule[frame].argmin())]} in '{body}'"


def _contact_rule(bodies: Sequence[RigidBody], tolerances: Tolerances) -> ContactRule:
    """What counts as a contact of one body, or of two."""
    return ContactRule(
        tolerances.contact_distance,
        min(size_limit(body, tolerances.gap, tolerances) for body in bodies),
        tolerances.static_speed,
        tolerances.skin_stretch,
        tolerances.smoothing_hz,
    )


def _load(clip: Clip, name: str, tolerances: Tolerances) -> BodyLoad:
    body, gravity = clip.problem.bodies[name], clip.problem.gravity
    wrench = required_wrench(
        body, clip.bodies[name], clip.times, gravity, smoothing_hz=tolerances.smoothing_hz
    )
    for frame, time in enumerate(clip.times if clip.problem.pushes else ()):
        # Contacts need not give what a push of the problem gives.
        given = pushed(
            clip.problem.pushes, name, time, clip.bodies[name][frame], wrench.center[frame]
        )
        wrench.force[frame] -= given[:3]
        wrench.moment[frame] -= given[3:]
    touching = size_limit(body, tolerances.gap, tolerances)
    return BodyLoad(wrench, weight_of(body, gravity), body.radius_of_gyration, touching)


def size_limit(
    body: RigidBody, limit: float, tolerances: Tolerances, *, is_thickness: bool = True
) -> float:
    """A limit of length, m, no more than a share of the body's size and of its thickness.

    Args:
        body: The body.
        limit: For bodies that are large enough, m.
        tolerances: What share of its size.
        is_thickness: Whether its thickness limits it, too; it does not where things move along it.
    """
    size = size_of(body)
    by_size = tolerances.size_share * size.length
    by_thickness = tolerances.thickness_share * size.thickness if is_thickness else by_size
    return min(limit, by_size, by_thickness)


def _friction_margins(
    table: JudgedContacts, force: Float[np.ndarray, "N 3"], size: Float[np.ndarray, " N"]
) -> Float[np.ndarray, " N"]:
    normal = np.einsum("ni,ni->n", force, table.normal)
    across = np.linalg.norm(force - normal[:, None] * table.normal, axis=1)
    limit = np.maximum(table.friction * normal, 1e-12)
    return np.where(size > 0.0, np.clip(1.0 - across / limit, 0.0, 1.0), 1.0)


def _widest_gaps(
    table: JudgedContacts,
    carrying: Bool[np.ndarray, " N"],
    shape: tuple[int, ...],
    allowed: float,
) -> Float[np.ndarray, "T B"]:
    widest = np.zeros(shape)
    # During an impact the frames may straddle the touch itself.
    gap = np.where(table.impact >= 0, np.minimum(table.gap, allowed), table.gap)
    for bodies in (table.body, table.other):
        rows = np.flatnonzero(carrying & (bodies >= 0))
        np.maximum.at(widest, (table.frame[rows], bodies[rows]), gap[rows])
    return widest


def _impact_rate(
    table: JudgedContacts,
    carrying: Bool[np.ndarray, " N"],
    loads: dict[str, BodyLoad],
    times: Float[np.ndarray, " T"],
) -> Float[np.ndarray, " T"]:
    """Impacts that carry force, in the second around each frame, of the busiest pair.

    A hand that hits what it touches anyway is not counted: it could press as well.
    """
    rate = np.zeros(len(times))
    touching = np.array([load.touching for load in loads.values()])
    is_hand = np.array([name not in (ENVIRONMENT, *loads) for name in table.touchers], dtype=bool)
    counts = carrying & (table.impact >= 0)
    rows = np.flatnonzero(counts)
    rows = rows[~is_hand[table.toucher[rows]] | (table.gap[rows] > touching[table.body[rows]])]
    keys = np.stack([table.body, table.toucher, table.part, table.impact], axis=1)[rows]
    kinds, first = np.unique(keys, axis=0, return_index=True)
    when = times[table.frame[rows[first]]]
    for pair in np.unique(kinds[:, :3], axis=0):
        mine = np.sort(when[(kinds[:, :3] == pair).all(axis=1)])
        near = np.searchsorted(mine, times + 0.5) - np.searchsorted(mine, times - 0.5)
        rate = np.maximum(rate, near)
    return rate


def _pushing(
    names: tuple[str, ...], table: JudgedContacts, carrying: Bool[np.ndarray, " N"]
) -> list[str]:
    """Which bodies push on each other, in words."""
    notes = []
    between = carrying & (table.other >= 0)
    for one, two in sorted(
        {(int(a), int(b)) for a, b in zip(table.body[between], table.other[between], strict=True)}
    ):
        mine = between & (table.body == one) & (table.other == two)
        frames = len(np.unique(table.frame[mine]))
        notes.append(
            f"{names[one]} and {names[two]} push on each other in {frames} frames, with the lesser "
            "of their frictions"
        )
    return notes
