"""A prop that is moved by wishes: hands reach for it, carry it there, put it down and retreat.

What comes out, wrists and prop 60 times a second, is what a tracker would see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.errors import UnknownNameError
from handwright.learning.data.activities import waiting_place, yawed
from handwright.learning.data.play import Play
from handwright.learning.data.stage import TABLE_HEIGHT
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.neural.sensing.motion import RATE
from handwright.studio.live.fingers.choosing import best_hold, comfortable_yaw, nearest_hold
from handwright.studio.live.fingers.follower import Follower
from handwright.studio.live.fingers.props import HandledProp
from handwright.studio.live.fingers.reaching import ReachingHand

_UP = np.array([0.0, 0.0, 1.0])
LOWEST = np.array([-0.30, -0.12, TABLE_HEIGHT])
"""Corner of the space in which a prop may be wished, m."""
HIGHEST = np.array([0.30, 0.28, TABLE_HEIGHT + 0.40])
"""The opposite corner, m."""
# Where the prop is at first, to the side of the hand that takes it, m.
_START = np.array([0.06, 0.08])
_NO_ROOM = "There is no room for the other hand."


@dataclass(frozen=True, slots=True, eq=False)
class Tracked:
    """What a tracker sees at one moment."""

    time: float
    """s."""
    wrists: dict[str, Pose]
    """By hand, in the world."""
    body: Pose
    """In the world."""


class Handling:
    """Hands, a prop, and where it should go."""

    def __init__(self, prop: HandledProp, sides: Sequence[str]) -> None:
        """The prop stands on the table, and hands wait near it.

        Args:
            prop: What is there.
            sides: Of the hands; the first takes the prop where none is named.
        """
        self.prop, self.time, self.note = prop, 0.0, ""
        self._coming: HandledProp | None = None
        self._is_wanted = dict.fromkeys(sides, False)
        self._is_put_down = False
        # Where a hand waits is left to chance, the same each time.
        self._chance = Play(np.random.default_rng(0), {})
        start = self._standing(_START * [1.0 if sides[0] == "right" else -1.0, 1.0])
        self._follower = Follower(start)
        self._goal = self.wish = start
        """Where the carrier goes, and where the user wants it."""
        self.hands = {}
        for side in sides:
            hold = best_hold(prop, side, start)
            place = start if hold is None else start @ hold.wrist
            self.hands[side] = ReachingHand(side, waiting_place(self._chance, side, place))

    def take(self, side: str | None = None) -> None:
        """Asks a hand to take the prop."""
        self._is_wanted[self._side(side)] = True

    def let_go(self, side: str | None = None) -> None:
        """Asks a hand to let go; the last one puts the prop down first."""
        self._is_wanted[self._side(side)] = False

    def move(
        self,
        *,
        place: Float[np.ndarray, "3"] | None = None,
        shift: Float[np.ndarray, "3"] | None = None,
        turn: Float[np.ndarray, "3"] | None = None,
    ) -> None:
        """Wishes the prop elsewhere; a hand takes it for that, if none does.

        Args:
            place: In the world, m.
            shift: From where it was wished before, m.
            turn: Rotation vector in the world, rad.
        """
        if not any(self._is_wanted.values()):
            self.take()
        position = self.wish.position if place is None else place
        position = position if shift is None else position + shift
        wxyz = self.wish.wxyz
        if turn is not None:
            wxyz = rotation.multiply(rotation.exp(turn), wxyz)
        self.wish = self._kept_in(Pose.normalized(position, wxyz))

    def swap(self, prop: HandledProp) -> None:
        """Puts another prop in the place of the present one, as soon as no hand is under way."""
        self._coming = prop

    @property
    def next_prop(self) -> HandledProp:
        """The prop that is there, or that is about to be."""
        return self._coming or self.prop

    def step(self) -> Tracked:
        """Goes on by a frame."""
        self._swap_now()
        for side, hand in self.hands.items():
            self._act(side, hand)
        if self._holders() and not self._is_put_down:
            self._goal = self.wish
        carrier = self._follower.step(self._goal, 1.0 / RATE)
        carrier = self._above_table(carrier)
        wrists = {side: hand.wrist(self.time, carrier) for side, hand in self.hands.items()}
        seen = Tracked(self.time, wrists, carrier @ self.prop.rest)
        self.time += 1.0 / RATE
        return seen

    def _act(self, side: str, hand: ReachingHand) -> None:
        carrier, now = self._follower.pose, self.time
        if hand.phase == "away" and self._is_wanted[side]:
            hold = best_hold(self.prop, side, carrier, self._other(side))
            if hold is None:
                self._is_wanted[side], self.note = False, _NO_ROOM
            else:
                hand.reach(now, carrier, hold)
                self.note = ""
        elif hand.phase == "holding" and self._is_wanted[side]:
            self._is_put_down = False
        elif hand.phase == "holding":
            self._part(side, hand)

    def _part(self, side: str, hand: ReachingHand) -> None:
        """A hand parts from the prop: the last one once the prop stands, another one at once."""
        assert hand.hold is not None
        carrier = self._follower.pose
        others = [(name, other) for name, other in self.hands.items() if name != side]
        if any(self._is_wanted[name] and other.phase != "holding" for name, other in others):
            return  # The other hand is about to take it over.
        is_last = self._holders() == [side]
        if is_last and not self._is_put_down:
            self._is_put_down = True
            self._goal = self.wish = self._standing(carrier.position[:2], carrier)
        elif not is_last or self._follower.is_at(self._goal):
            place = waiting_place(self._chance, side, carrier @ hand.hold.wrist)
            hand.leave(self.time, carrier, place)
            self._is_put_down = False

    def _swap_now(self) -> None:
        is_busy = any(
            hand.is_under_way or hand.phase in ("reaching", "leaving")
            for hand in self.hands.values()
        )
        if self._coming is None or is_busy:
            return
        self.prop, self._coming = self._coming, None
        holders = self._holders()
        if not holders:
            start = self._standing(self._follower.pose.position[:2])
            self._follower, self._goal, self.wish = Follower(start), start, start
        kept: ReachingHand | None = None
        for side in holders:
            hand = self.hands[side]
            assert hand.hold is not None
            hold = nearest_hold(self.prop, side, hand.hold.wrist, kept)
            if hold is None:
                self._is_wanted[side], self.note = False, _NO_ROOM
                continue
            hand.shift(self.time, hold)
            kept = hand
        self.wish = self._kept_in(self.wish)

    def _holders(self) -> list[str]:
        return [side for side, hand in self.hands.items() if hand.phase == "holding"]

    def _other(self, side: str) -> ReachingHand | None:
        others = [hand for name, hand in self.hands.items() if name != side]
        return next((hand for hand in others if hand.hold is not None), None)

    def _side(self, side: str | None) -> str:
        if side is None:
            return next(iter(self._is_wanted))
        if side not in self._is_wanted:
            raise UnknownNameError("hand", side, self._is_wanted)
        return side

    def _standing(self, place: Float[np.ndarray, "2"], now: Pose | None = None) -> Pose:
        """The prop upright on the table: headed as it is now, or so that a hand takes it well."""
        position = np.array([*place, TABLE_HEIGHT + self.prop.height])
        if now is None:
            return comfortable_yaw(self.prop, next(iter(self._is_wanted)), position)
        ahead = now.rotate([1.0, 0.0, 0.0])
        return Pose(position, yawed(float(np.arctan2(ahead[1], ahead[0]))))

    def _kept_in(self, wish: Pose) -> Pose:
        """A wish within reach, with neither the prop nor the hands that hold it in the table."""
        position = np.clip(wish.position, LOWEST, HIGHEST)
        position[2] = max(position[2], TABLE_HEIGHT - self._depth(wish))
        return Pose(position, wish.wxyz)

    def _depth(self, carrier: Pose) -> float:
        """How far down prop and hands go from the carrier's origin, m; negative."""
        up = carrier.inverse().rotate(_UP)
        depth = self.prop.lowest(up)
        for hand in self.hands.values():
            if hand.hold is not None:
                points, radius = hand.points
                # As low as it was when the prop stood, a hand may be again.
                stood = min(0.0, float((points[:, 2] - radius).min()) + self.prop.height)
                depth = min(depth, float((points @ up - radius).min()) - stood)
        return depth

    def _above_table(self, carrier: Pose) -> Pose:
        """The carrier as it is, or as high as it takes for the prop to stay out of the table."""
        least = TABLE_HEIGHT - self.prop.lowest(carrier.inverse().rotate(_UP))
        if carrier.position[2] >= least:
            return carrier
        return Pose(np.array([*carrier.position[:2], least]), carrier.wxyz)
