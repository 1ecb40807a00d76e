"""Paths of things and of wrists: moves from rest to rest that may overlap, and ways between places.

A thing is carried along a path; a wrist is at one place after another, each of which may itself
move, as the side of a thing does that somebody carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.learning.data.curves import minimum_jerk
from handwright.math import rotation
from handwright.math.pose import Pose


def _zero() -> Float[np.ndarray, "3"]:
    return np.zeros(3)


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A change of pose from rest to rest."""

    start: float
    """s."""
    end: float
    """s."""
    shift: Float[np.ndarray, "3"] = field(default_factory=_zero)
    """m."""
    turn: Float[np.ndarray, "3"] = field(default_factory=_zero)
    """Rotation vector in the axes of the parent, rad."""
    arc: Float[np.ndarray, "3"] = field(default_factory=_zero)
    """How far the middle of the way lies off the straight line, m."""
    skew: float = 0.0
    """Above 0 the fastest moment comes early."""
    lead: float = 0.0
    """Share of the time by which the turn is ahead of the shift, from 0 to 0.5."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


class Path:
    """A pose that goes through moves; what it comes to is known while it grows.

    Args:
        start: Where it begins.
    """

    def __init__(self, start: Pose) -> None:
        self.start, self.end = start, start
        self.moves: list[Move] = []

    def add(self, move: Move) -> None:
        """Goes on with a move, which may begin before others are over."""
        self.moves.append(move)
        self.end = Pose.normalized(
            self.end.position + move.shift,
            rotation.multiply(rotation.exp(move.turn), self.end.wxyz),
        )

    def turn_to(self, wxyz: Float[np.ndarray, "4"]) -> Float[np.ndarray, "3"]:
        """The turn that leads from where it ends to an orientation, the shorter way, rad."""
        return rotation.log(rotation.multiply(wxyz, rotation.conjugate(self.end.wxyz)))

    def at(self, times: Float[np.ndarray, " T"]) -> Pose:
        """(T,) poses."""
        position = np.tile(self.start.position, (len(times), 1))
        wxyz = np.tile(self.start.wxyz, (len(times), 1))
        for move in self.moves:
            share = minimum_jerk(times, move.start, move.end, move.skew)
            early = (1.0 - move.lead) * move.end + move.lead * move.start
            ahead = minimum_jerk(times, move.start, early, move.skew)
            off = 4.0 * share * (1.0 - share)
            position = position + share[:, None] * move.shift + off[:, None] * move.arc
            wxyz = rotation.multiply(rotation.exp(ahead[:, None] * move.turn), wxyz)
        return Pose.normalized(position, wxyz)


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """How a wrist goes from one place to the next."""

    start: float
    """s."""
    end: float
    """s."""
    leaving: Float[np.ndarray, "3"] = field(default_factory=_zero)
    """How far it swerves when it sets out, in the wrist's frame at the first place, m."""
    arriving: Float[np.ndarray, "3"] = field(default_factory=_zero)
    """How far it swerves before it arrives, in the wrist's frame at the second place, m."""
    skew: float = 0.0
    """Above 0 the fastest moment comes early."""
    lead: float = 0.2
    """Share of the time by which the turn is ahead of the shift, from 0 to 0.5."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


# Polynomials of the share of the way that are 1 at their largest, at a quarter and at three
# quarters of it.
_SWERVE = 256.0 / 27.0


def wrist_track(
    times: Float[np.ndarray, " T"], places: Sequence[Pose], ways: Sequence[Way]
) -> Pose:
    """(T,) poses of a wrist that is at one place after the other.

    Args:
        times: s.
        places: One or more, each of (T,) poses, since places move.
        ways: From each to the next, in the order of their times.
    """
    now = places[0]
    for (place, nearby), way in zip(_pairs(places), ways, strict=True):
        share = minimum_jerk(times, way.start, way.end, way.skew)
        turned = minimum_jerk(
            times, way.start, (1.0 - way.lead) * way.end + way.lead * way.start, way.skew
        )
        leaving = rotation.rotate(place.wxyz, way.leaving)
        arriving = rotation.rotate(nearby.wxyz, way.arriving)
        out = (_SWERVE * share * (1.0 - share) ** 3)[:, None]
        back = (_SWERVE * share**3 * (1.0 - share))[:, None]
        before = times < way.start
        turn = rotation.log(rotation.multiply(nearby.wxyz, rotation.conjugate(place.wxyz)))
        pose = Pose.normalized(
            place.position
            + share[:, None] * (nearby.position - place.position)
            + out * leaving
            + back * arriving,
            rotation.multiply(rotation.exp(turned[:, None] * turn), place.wxyz),
        )
        now = Pose(
            np.where(before[:, None], now.position, pose.position),
            np.where(before[:, None], now.wxyz, pose.wxyz),
        )
    return now


def _pairs(places: Sequence[Pose]) -> list[tuple[Pose, Pose]]:
    return list(zip(places[:-1], places[1:], strict=True))
