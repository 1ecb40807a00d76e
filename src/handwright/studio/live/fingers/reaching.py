"""A wrist that waits, reaches for a prop, goes along with it, and retreats."""

from __future__ import annotations

from typing import Literal

import numpy as np
from jaxtyping import Float

from handwright.kinematics import posed_capsules
from handwright.learning.data.holds import Hold
from handwright.learning.data.paths import Way, wrist_track
from handwright.learning.data.stage import hand_model
from handwright.math.pose import Pose

Phase = Literal["away", "reaching", "holding", "leaving"]
# How long the way to a prop takes, and back: s, and s for each metre.
_REACH, _RETREAT = (0.42, 1.35), (0.38, 1.25)
# How long digits take to close before the prop moves, s.
_CLOSING = 0.32
# How far a wrist swerves on its way: back, and out over the back of the hand, m.
_ARRIVING, _LEAVING = (-0.025, 0.0, 0.03), (-0.03, 0.0, 0.03)
# How long a hand takes to another hold of a prop that was swapped in it, s.
_SHIFTING = 0.5


class ReachingHand:
    """One hand; its places are in the world, or in the carrier of the prop."""

    def __init__(self, side: str, place: Pose) -> None:
        """Waits.

        Args:
            side: ``right`` or ``left``.
            place: Of its wrist in the world.
        """
        self.side = side
        self.phase: Phase = "away"
        self.hold: Hold | None = None
        """How it holds the prop, or is about to."""
        self._places = (place, place)
        self._is_carried = (False, False)
        """Whether each place is in the carrier."""
        self._way: Way | None = None
        self._until = 0.0
        """When the phase is over, s."""

    @property
    def is_under_way(self) -> bool:
        """Whether it is between two places."""
        return self._way is not None

    @property
    def points(self) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, " N"]]:
        """Ends and radii of its bones while it holds, in the carrier, m."""
        assert self.hold is not None
        return hold_points(self.side, self.hold)

    def reach(self, now: float, carrier: Pose, hold: Hold) -> None:
        """Sets out for a hold."""
        distance = self._distance(now, carrier, (carrier @ hold.wrist).position)
        way = Way(now, now + _lasting(_REACH, distance), arriving=np.array(_ARRIVING), skew=0.12)
        self._set_out(hold.wrist, True, way)
        self.hold, self.phase, self._until = hold, "reaching", way.end + _CLOSING

    def leave(self, now: float, carrier: Pose, place: Pose) -> None:
        """Lets go and retreats to a place in the world."""
        distance = self._distance(now, carrier, place.position)
        way = Way(now, now + _lasting(_RETREAT, distance), leaving=np.array(_LEAVING))
        self._set_out(place, False, way)
        self.phase, self._until = "leaving", way.end

    def shift(self, now: float, hold: Hold) -> None:
        """Goes over to a hold of another prop, which is in the hand already."""
        self._set_out(hold.wrist, True, Way(now, now + _SHIFTING))
        self.hold = hold

    def wrist(self, now: float, carrier: Pose) -> Pose:
        """Where the wrist is at a time, s; its phase goes on with the time."""
        first, last = (
            carrier @ place if is_carried else place
            for place, is_carried in zip(self._places, self._is_carried, strict=True)
        )
        if self._way is None:
            found = last
        else:
            found = wrist_track(np.array([now]), [first[None], last[None]], [self._way])[0]
            if now >= self._way.end:
                self._way = None
        if now >= self._until and self.phase in ("reaching", "leaving"):
            if self.phase == "leaving":
                self.hold = None
            self.phase = "holding" if self.phase == "reaching" else "away"
        return found

    def _distance(self, now: float, carrier: Pose, place: Float[np.ndarray, "3"]) -> float:
        return float(np.linalg.norm(self.wrist(now, carrier).position - place))

    def _set_out(self, place: Pose, is_carried: bool, way: Way) -> None:
        self._places = (self._places[1], place)
        self._is_carried = (self._is_carried[1], is_carried)
        self._way = way


def hold_points(side: str, hold: Hold) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, " N"]]:
    """Points along the bones of a hand that holds, in the carrier, and how thick it is there, m."""
    capsules = posed_capsules(hand_model(side), hold.q, hold.wrist)
    shares = np.linspace(0.0, 1.0, 4)[:, None, None]
    points = capsules.start + shares * (capsules.end - capsules.start)
    return points.reshape(-1, 3), np.tile(capsules.radius, len(shares))


def _lasting(pace: tuple[float, float], distance: float) -> float:
    return pace[0] + pace[1] * distance
