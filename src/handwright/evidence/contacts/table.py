"""Contacts of bodies over a motion as one table, and what mode each has."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.contact import ContactMode
from handwright.evidence.contacts.slip import Slips, across
from handwright.evidence.low_pass import LowPass

TREMBLING = 4.0
"""A contact that moves faster than this many times the static speed in a single step slides, even
if it comes back in the next one: the mean over both would not show it."""


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
    impact: Int[np.ndarray, " N"]
    """Number of the impact beside the frame, of its toucher and part; -1 for none."""
    may_push: Bool[np.ndarray, " N"]
    """Whether the sides can push: not if they part without having met."""
    friction: Float[np.ndarray, " N"]
    velocity: Float[np.ndarray, "N 3"]
    """Of the toucher's material point over the body's, across the normal, m/s."""
    steady: Float[np.ndarray, " N"]
    """Share of its friction that a sliding contact keeps: 0 where it slides one way before the
    frame and as fast the other way after it."""
    mode: Int[np.ndarray, " N"]
    """Values of ``ContactMode``."""

    @property
    def is_yielding(self) -> Bool[np.ndarray, " N"]:
        """Whether friction is against the slip and up to its limit: impacts that slide."""
        moves = np.linalg.norm(self.velocity, axis=1) > 0.0
        return (self.mode == int(ContactMode.COLLIDING)) & moves

    def starts(self, num_frames: int) -> Int[np.ndarray, " S"]:
        """Row at which each frame begins, and the number of rows."""
        return np.searchsorted(self.frame, np.arange(num_frames + 1))

    def of_body(self, body: int, other: int = -1) -> JudgedContacts:
        """The same contacts as those of a body, by number, and of the one that touches it."""
        return replace(
            self, body=np.full(len(self.frame), body), other=np.full(len(self.frame), other)
        )


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
    smoothing_hz: float | None = None
    """Cut-off of the low-pass under which motion is looked at, Hz; None for none."""

    def low_pass(self, times: Float[np.ndarray, " T"]) -> LowPass:
        """The low-pass over a motion with these frames."""
        return LowPass.at(times, self.smoothing_hz)


class FoundContacts(NamedTuple):
    """Contacts of a body with one toucher, in any order; see ``JudgedContacts`` for the columns."""

    frame: Int[np.ndarray, " N"]
    part: Int[np.ndarray, " N"]
    point: Float[np.ndarray, "N 3"]
    normal: Float[np.ndarray, "N 3"]
    gap: Float[np.ndarray, " N"]
    impact: Int[np.ndarray, " N"]
    may_push: Bool[np.ndarray, " N"]
    friction: Float[np.ndarray, " N"]


def no_contacts() -> JudgedContacts:
    """A table without rows."""
    whole, number, flag = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=bool)
    point = np.zeros((0, 3))
    return JudgedContacts(
        (), whole, whole, whole, whole, whole, point, point, number, whole, flag, number, point,
        number, whole,
    )  # fmt: skip


def contact_table(
    toucher: str,
    found: FoundContacts,
    slips: Slips,
    static_speed: float,
    own_normal: Float[np.ndarray, "N 3"] | None = None,
) -> JudgedContacts:
    """Contacts of body 0 with one toucher as a table.

    Sliding is taken across ``own_normal``, the normals by default: a face beside an edge is touched
    by the material of the edge's own contact.
    """
    normal = found.normal if own_normal is None else own_normal
    sliding, before, after = (across(velocity, normal) for velocity in slips)
    speed, came, goes = (np.linalg.norm(v, axis=1) for v in (sliding, before, after))
    trembles = np.maximum(came, goes) > TREMBLING * static_speed
    slides = (speed > static_speed) | trembles
    both = before / np.maximum(came, 1e-12)[:, None] + after / np.maximum(goes, 1e-12)[:, None]
    goes_on = np.minimum(came, goes) > static_speed
    steady = np.where(goes_on, 0.5 * np.linalg.norm(both, axis=1), 1.0)
    mode = np.where(slides, int(ContactMode.SLIDING), int(ContactMode.STATIC))
    mode = np.where(found.impact >= 0, int(ContactMode.COLLIDING), mode)
    # What sticks in an impact may take any force in its cone.
    sliding = np.where(((found.impact >= 0) & ~slides)[:, None], 0.0, sliding)
    none = np.zeros(len(found.frame), dtype=np.int64)
    table = JudgedContacts(
        (toucher,), body=none, other=none - 1, toucher=none, velocity=sliding, steady=steady,
        mode=mode, **found._asdict(),
    )  # fmt: skip
    return join_tables([table])


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
