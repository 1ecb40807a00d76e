"""Forces over a motion: which contacts explain it, and what stands in the way if none do.

Contacts that touch are tried first, each with its own mode. Where they do not suffice, the same
contacts are tried as if none of them slid, then those that part without having met, then the near
ones as if they touched: if that would do, the cause is slip, an impact out of nothing, or a gap,
and is named so. Otherwise the motion itself is at fault. Bodies that touch each other are solved
for together. Where the forces ask more of a hand than it can give,
others that do not are looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.body import RigidBody
from handwright.core.contact import ContactMode
from handwright.core.tolerances import Tolerances
from handwright.evidence.certificate.dynamics import Wrench
from handwright.evidence.certificate.forces import (
    SLIDES,
    STICKS,
    YIELDS,
    ContactSet,
    Forces,
    ForceSolver,
    HandLimits,
    Loads,
)
from handwright.evidence.certificate.strength import HandStrength
from handwright.evidence.contacts.table import JudgedContacts
from handwright.math import rotation
from handwright.math.pose import Pose

# A contact with less than this share of the weight carries nothing.
CARRYING = 0.005


class BodyLoad(NamedTuple):
    """A body over a motion: what contacts must give it, and in what units."""

    wrench: Wrench
    weight: float
    """N."""
    gyration: float
    """m."""
    touching: float
    """Gap up to which contacts of the body touch, m."""


class Balance(NamedTuple):
    """Forces of all bodies over a motion."""

    force: Float[np.ndarray, "N 3"]
    """For each row of the contact table, on the body that is touched, N."""
    used: Bool[np.ndarray, " N"]
    """Rows that the forces were looked for on."""
    force_residual: Float[np.ndarray, "T B"]
    moment_residual: Float[np.ndarray, "T B"]
    failed: dict[tuple[int, int], frozenset[str]]
    """Names of the checks that fail, by frame and body; only where one does."""

    def failing(self, name: str) -> Bool[np.ndarray, " T"]:
        """Frames in which a check fails for any body."""
        fails = np.zeros(len(self.force_residual), dtype=bool)
        fails[[frame for (frame, _), names in self.failed.items() if name in names]] = True
        return fails


def weight_of(body: RigidBody, gravity: Float[np.ndarray, "3"]) -> float:
    """Unit of force, N; that of 1 m/s^2 in a world without gravity."""
    return body.mass * max(float(np.linalg.norm(gravity)), 1.0)


def balance(
    table: JudgedContacts, bodies: Sequence[BodyLoad], tolerances: Tolerances, hands: HandStrength
) -> Balance:
    """Finds forces for every frame.

    Args:
        table: Contacts of all bodies.
        bodies: What they need, in the order that the table numbers them in.
        tolerances: What is allowed.
        hands: What the hands can give.
    """
    if not bodies:
        none = np.zeros((hands.num_frames, 0))
        return Balance(np.zeros((0, 3)), np.zeros(0, dtype=bool), none, none, {})
    count, finder = len(bodies[0].wrench.force), _Finder(table, bodies, tolerances)
    starts = table.starts(count)
    for t in range(count):
        rows = np.arange(starts[t], starts[t + 1])
        for members in _groups(table.body[rows], table.other[rows], len(bodies)):
            mine = rows[np.isin(table.body[rows], members)] if len(bodies) > 1 else rows
            finder.explain(t, members, mine)
    for t in np.flatnonzero(hands.effort(finder.force).is_over).tolist():
        rows = np.arange(starts[t], starts[t + 1])
        rows = rows[finder.used[rows]]
        finder.spare(t, hands.limits(t, rows), rows)
    return finder.balance()


def _groups(
    body: Int[np.ndarray, " N"], other: Int[np.ndarray, " N"], count: int
) -> list[Int[np.ndarray, " K"]]:
    """Bodies that are near each other, together; each body in one group."""
    label = np.arange(count)
    for a, b in {(int(a), int(b)) for a, b in zip(body, other, strict=True) if b >= 0}:
        label[label == label[b]] = label[a]
    return [np.flatnonzero(label == one) for one in np.unique(label)]


class _Finder:
    """Forces found so far."""

    def __init__(
        self, table: JudgedContacts, bodies: Sequence[BodyLoad], tolerances: Tolerances
    ) -> None:
        count = len(bodies[0].wrench.force)
        self._table, self._tolerances, self._solver = table, tolerances, ForceSolver()
        self._force = np.stack([body.wrench.force for body in bodies], axis=1)
        self._moment = np.stack([body.wrench.moment for body in bodies], axis=1)
        self._center = np.stack([body.wrench.center for body in bodies], axis=1)
        self._weight = np.array([body.weight for body in bodies])
        self._gyration = np.array([body.gyration for body in bodies])
        speed = np.linalg.norm(table.velocity, axis=1, keepdims=True)
        self._slip = table.steady[:, None] * table.velocity / np.maximum(speed, 1e-12)
        self._hold = np.where(table.mode == int(ContactMode.SLIDING), SLIDES, STICKS)
        self._hold[table.is_yielding] = YIELDS
        # The entry at the end is for the number -1: no other body.
        touching = np.array([*(body.touching for body in bodies), np.inf])
        touching = np.minimum(touching[table.body], touching[table.other])
        self._near = (table.gap <= touching) | (table.impact >= 0)
        self._held_as = np.full(len(table.frame), STICKS)
        self.force = np.zeros((len(table.frame), 3))
        self.used = np.zeros(len(table.frame), dtype=bool)
        self.force_residual = np.zeros((count, len(bodies)))
        self.moment_residual = np.zeros((count, len(bodies)))
        self.failed: dict[tuple[int, int], frozenset[str]] = {}

    def balance(self) -> Balance:
        return Balance(
            self.force, self.used, self.force_residual, self.moment_residual, self.failed
        )

    def explain(self, t: int, members: np.ndarray, rows: np.ndarray) -> None:
        """Finds the forces of bodies that are near each other, or why there are none."""
        near, hold = self._near[rows], self._hold[rows]
        touching = near & self._table.may_push[rows]
        stick, everywhere = np.full_like(hold, STICKS), np.ones_like(near)
        attempts = [(touching, hold, frozenset[str]())]
        if (hold != stick)[touching].any():
            attempts.append((touching, stick, frozenset({"slip"})))
        if not touching[near].all():
            attempts.append((near, stick, frozenset({"impact"})))
        if not near.all():
            attempts.append((everywhere, hold, frozenset({"gap"})))
            if (hold != stick).any():
                attempts.append((everywhere, stick, frozenset({"gap", "slip"})))
        kept: tuple[np.ndarray, np.ndarray, Forces] | None = None
        blame: dict[int, frozenset[str]] = {}
        for chosen, holds, names in attempts:
            found = self._solve(t, members, rows[chosen], holds[chosen])
            reasons = _residual_reasons(found, self._tolerances)
            if kept is None:
                kept, blame = (chosen, holds, found), reasons
            if not reasons:
                kept = (chosen, holds, found)
                blame = dict.fromkeys(blame, names) if names else {}
                break
        assert kept is not None
        chosen, holds, found = kept
        self._keep(t, members, rows[chosen], found)
        self._held_as[rows[chosen]] = holds[chosen]
        for place, reasons_here in blame.items():
            self.failed[t, int(members[place])] = reasons_here

    def spare(self, t: int, limits: HandLimits, rows: np.ndarray) -> None:
        """Takes forces within the hands' limits, if they explain the motion as well."""
        members = np.arange(len(self._weight))
        found = self._solve(t, members, rows, self._held_as[rows], limits)
        for place, reasons in _residual_reasons(found, self._tolerances).items():
            if not reasons <= self.failed.get((t, place), frozenset()):
                return
        self._keep(t, members, rows, found)

    def _keep(self, t: int, members: np.ndarray, rows: np.ndarray, found: Forces) -> None:
        self.force[rows], self.used[rows] = found.force, True
        self.force_residual[t, members] = found.force_residual
        self.moment_residual[t, members] = found.moment_residual

    def _solve(
        self,
        t: int,
        members: np.ndarray,
        rows: np.ndarray,
        hold: np.ndarray,
        limits: HandLimits | None = None,
    ) -> Forces:
        table = self._table
        place = np.full(len(self._weight) + 1, -1)
        place[members] = np.arange(len(members))
        contacts = ContactSet(
            table.point[rows],
            table.normal[rows],
            table.friction[rows],
            hold,
            self._slip[rows],
            place[table.body[rows]],
            place[table.other[rows]],
        )
        loads = Loads(
            self._force[t, members],
            self._moment[t, members],
            self._center[t, members],
            self._weight[members],
            self._gyration[members],
        )
        return self._solver.solve(contacts, loads, limits)


def _residual_reasons(found: Forces, tolerances: Tolerances) -> dict[int, frozenset[str]]:
    """Names of the checks that fail, by body."""
    reasons: dict[int, frozenset[str]] = {}
    push = found.force_residual > tolerances.force_residual
    turn = found.moment_residual > tolerances.moment_residual
    # An untouched body that does not fall is one fault, however it turns.
    touched = len(found.force) > 0
    for body in np.flatnonzero(push | turn):
        names = {"force_residual"} if push[body] else set()
        if turn[body] and (touched or not push[body]):
            names.add("moment_residual")
        reasons[int(body)] = frozenset(names)
    return reasons


class Drift(NamedTuple):
    """How far the worst static contact of each body has slid since its episode began."""

    way: Float[np.ndarray, "T B"]
    """m."""
    row: Int[np.ndarray, "T B"]
    """A contact of the table that is of the part that has slid; -1 where none has."""


def static_drifts(
    table: JudgedContacts,
    carrying: Bool[np.ndarray, " N"],
    poses: Sequence[Pose],
    times: Float[np.ndarray, " T"],
    broken: Bool[np.ndarray, " T"],
) -> Drift:
    """How far the worst static contact of each body has slid since its episode began.

    Args:
        table: Contacts of all bodies.
        carrying: Rows that carry force.
        poses: (T,) poses of the bodies.
        times: s.
        broken: Frames in which no episode may continue.
    """
    drift, row = np.zeros((len(times), len(poses))), np.full((len(times), len(poses)), -1)
    static = carrying & (table.mode == int(ContactMode.STATIC)) & ~broken[table.frame]
    parts = int(table.part.max(initial=0)) + 1
    keys = (table.body * len(table.touchers) + table.toucher) * parts + table.part
    turn = np.array([rotation.to_matrix(pose.wxyz) for pose in poses])
    for key in np.unique(keys[static]):
        mine = np.flatnonzero(static & (keys == key))
        body = int(table.body[mine][0])
        local = np.einsum("nji,nj->ni", turn[body, table.frame[mine]], table.velocity[mine])
        frames, inverse = np.unique(table.frame[mine], return_inverse=True)
        mean = np.zeros((len(frames), 3))
        np.add.at(mean, inverse, local)
        mean /= np.bincount(inverse)[:, None]
        total = np.zeros(3)
        for n in range(1, len(frames)):
            t, before = frames[n], frames[n - 1]
            if t != before + 1:
                total = np.zeros(3)
                continue
            total = total + 0.5 * (mean[n] + mean[n - 1]) * (times[t] - times[before])
            way = float(np.linalg.norm(total))
            if way > drift[t, body]:
                drift[t, body], row[t, body] = way, mine[0]
    return Drift(drift, row)
