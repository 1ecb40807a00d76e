"""A motion while it is thought out: things on their paths, hands at their places, and the time.

Each hand has a clock of its own, so that two hands can work side by side. A thing is where its
carrier and the turn within the hand put it: ``world = carrier @ turn @ rest``. Wrists hold on to
the carrier, so that a turn moves the thing within the hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.learning.data.curves import variations, window
from handwright.learning.data.holds import Hold, mirrored
from handwright.learning.data.paths import Path, Way, wrist_track
from handwright.learning.data.shapes import Kind, Thing
from handwright.learning.data.stage import TABLE_HEIGHT
from handwright.math import rotation
from handwright.math.pose import Pose

FPS = 60.0
"""Frames a second of every motion."""
# Slow variation of a thing in the air, m and rad, and of a wrist against what it holds, rad.
_SWAY, _LEAN, _LOOSE = 0.005, 0.05, 0.025
# The same where the palm lies on the thing, which leaves it little room.
_SNUG = 0.008
# Sides from which a round thing is taken.
_ROUND = 8
_SNUG_GRIPS = ("wrap", "handle")


@dataclass(slots=True, eq=False)
class Prop:
    """A thing that is handled."""

    kind: Kind
    thing: Thing
    holds: list[Hold]
    """By the right hand."""
    carrier: Path
    turn: Path = field(default_factory=lambda: Path(Pose.identity()))
    """Of the thing within the hand, in the axes of the carrier."""
    aloft: list[tuple[float, float]] = field(default_factory=list)
    """When it is in the air, s; the last one may be open."""

    @property
    def body(self) -> RigidBody:
        """The body itself."""
        return self.thing.body()

    @property
    def bounds(self) -> Float[np.ndarray, "2 3"]:
        """Lowest and highest corner of the thing as it lies or stands, m."""
        points = self.thing.rest[None].apply(self.body.vertices)
        return np.stack([points.min(axis=0), points.max(axis=0)])

    @property
    def height(self) -> float:
        """Of the origin of the body when it lies or stands on the table, m."""
        return TABLE_HEIGHT - float(self.bounds[0, 2])

    @property
    def is_aloft(self) -> bool:
        """Whether it is in the air at the end of its path."""
        return bool(self.aloft) and np.isinf(self.aloft[-1][1])

    def holds_by(self, side: str) -> list[Hold]:
        """All holds by a hand."""
        if side == "right":
            return self.holds
        return [mirrored(hold, self.kind.mirror) for hold in self.holds]

    def holds_around(self, side: str) -> list[Hold]:
        """All holds by a hand from every side that its symmetry allows."""
        count = 2 if self.thing.lies else self.kind.fold or _ROUND
        turns = [rotation.exp(2.0 * np.pi * np.array([0.0, 0.0, k / count])) for k in range(count)]
        return [
            replace(hold, wrist=Pose(np.zeros(3), turn) @ hold.wrist)
            for hold in self.holds_by(side)
            for turn in turns
        ]


@dataclass(slots=True, eq=False)
class Station:
    """A place of a wrist."""

    place: Pose
    """In the world, or in the carrier of a thing."""
    prop: str | None = None
    """Name of that thing."""
    looseness: float = 0.0
    """Slow variation of the wrist against the thing, rad."""
    since: float = 0.0
    """s; when the digits have closed."""
    until: float = np.inf
    """s; when they open."""
    posture: Float[np.ndarray, " J"] | None = None
    """Joint values of the hold that the place belongs to, rad."""


@dataclass(slots=True, eq=False)
class Actor:
    """A hand."""

    stations: list[Station]
    ways: list[Way] = field(default_factory=list)
    clock: float = 0.0
    """s; when it is free to go on."""
    hold: Hold | None = None
    """How it holds a thing, if it does."""


class Play:
    """What happens, in the order in which it was thought out.

    Args:
        rng: For everything that is left to chance.
        props: Things by name.
    """

    def __init__(self, rng: np.random.Generator, props: dict[str, Prop]) -> None:
        self.rng, self.props = rng, props
        self.actors: dict[str, Actor] = {}
        self.labels: list[tuple[float, str]] = []

    def draw(self, low: float, high: float) -> float:
        """A number between two others."""
        return float(self.rng.uniform(low, high))

    def label(self, time: float, activity: str) -> None:
        """Says what is done from a time on, s."""
        self.labels.append((time, activity))

    def wait(self, side: str, low: float, high: float) -> None:
        """Lets a hand pause for a time between two others, s."""
        self.actors[side].clock += self.draw(low, high)

    def wrist_at(self, side: str) -> Pose:
        """Where a hand's wrist is at last."""
        station = self.actors[side].stations[-1]
        if station.prop is None:
            return station.place
        return self.props[station.prop].carrier.end @ station.place

    def held(self) -> dict[str, str]:
        """Name of the thing that each hand takes first."""
        return {
            side: next(station.prop for station in actor.stations if station.prop is not None)
            for side, actor in self.actors.items()
        }

    def duration(self) -> float:
        """When all clocks have run out, s."""
        return max(actor.clock for actor in self.actors.values())

    def times(self) -> Float[np.ndarray, " T"]:
        """Frames, s."""
        return np.arange(int(np.ceil(self.duration() * FPS)) + 1) / FPS

    def tracks(self) -> dict[str, Pose]:
        """(T,) poses of all things and wrists, with their slow variation."""
        times = self.times()
        carriers, poses = {}, {}
        for name, prop in self.props.items():
            carriers[name] = self._swaying(prop, times)
            poses[name] = carriers[name] @ prop.turn.at(times) @ prop.thing.rest
        for side, actor in self.actors.items():
            places = [self._place(station, carriers, times) for station in actor.stations]
            poses[side] = wrist_track(times, places, actor.ways)
        return poses

    def _swaying(self, prop: Prop, times: Float[np.ndarray, " T"]) -> Pose:
        pose = prop.carrier.at(times)
        free = np.zeros(len(times))
        for start, end in prop.aloft:
            free += window(times, start + 0.15, min(end, times[-1] + 1.0) - 0.15, 0.35)
        sway = free[:, None] * variations(self.rng, times, _SWAY)
        lean = free[:, None] * variations(self.rng, times, _LEAN)
        wxyz = rotation.multiply(rotation.exp(lean), pose.wxyz)
        return Pose.normalized(pose.position + sway, wxyz)

    def _place(
        self, station: Station, carriers: dict[str, Pose], times: Float[np.ndarray, " T"]
    ) -> Pose:
        if station.prop is None:
            drift = variations(self.rng, times, _SWAY)
            turn = rotation.exp(variations(self.rng, times, _LEAN))
            return Pose.normalized(
                station.place.position + drift, rotation.multiply(turn, station.place.wxyz)
            )
        held = window(times, station.since, min(station.until, times[-1] + 1.0), 0.3)
        turn = rotation.exp(held[:, None] * variations(self.rng, times, station.looseness))
        # About the middle of the hand, where the thing is, not about the wrist.
        pivot = np.array([0.09, 0.0, -0.04])
        own = Pose.normalized(pivot - rotation.rotate(turn, pivot), turn)
        return carriers[station.prop] @ station.place @ own

    def activities(self) -> list[str]:
        """What is done in each frame."""
        times, labels = self.times(), sorted(self.labels, key=lambda label: label[0])
        starts = np.array([start for start, _ in labels])
        index = np.maximum(np.searchsorted(starts, times + 1e-9, side="right") - 1, 0)
        return [labels[i][1] for i in index.tolist()]


def looseness(hold: Hold) -> float:
    """Slow variation of a wrist against what it holds, rad."""
    return _SNUG if hold.grip in _SNUG_GRIPS else _LOOSE
