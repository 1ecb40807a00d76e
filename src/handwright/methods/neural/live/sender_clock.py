"""Which time stamps are believed: the sender's clock as the receiver knows it."""

from __future__ import annotations

from typing import Literal

from handwright.methods.neural.live.pose_stream import SAME_MOMENT

Arrival = Literal["first", "next", "earlier", "astray", "jump"]
NUM_AGREEING = 8
"""Messages in a row that have to agree on another time before they are believed."""
# How fast the least delay may grow, s/s: clocks drift apart by less.
_DRIFT = 1e-3


class SenderClock:
    """Follows the time stamps of messages; knows how much later messages come at the soonest."""

    is_running: bool
    """Whether a first message has come."""
    newest: float
    """Largest time stamp, s."""

    def __init__(self, longest_silence: float) -> None:
        """Knows nothing yet.

        Args:
            longest_silence: How far a stamp may be ahead of the newest and be believed, s.
        """
        self._longest_silence = longest_silence
        self.forget()

    def forget(self) -> None:
        """Waits for a first message."""
        self.is_running, self.newest = False, 0.0
        self._offset = self._heard = 0.0
        self._doubts, self._doubtful = 0, 0.0

    def admit(self, stamp: float, arrival: float) -> Arrival:
        """What a message is by its time stamp; those astray are not to be used.

        Args:
            stamp: By the sender's clock, s.
            arrival: By the receiver's clock, s.
        """
        if not self.is_running:
            self._begin(stamp, arrival)
            return "first"
        ahead = stamp - self.newest
        if -SAME_MOMENT < ahead <= self._longest_silence:
            self._doubts = 0
            self.newest = max(self.newest, stamp)
            drifted = self._offset + _DRIFT * max(arrival - self._heard, 0.0)
            self._offset, self._heard = min(arrival - stamp, drifted), arrival
            return "next"
        follows = 0.0 <= stamp - self._doubtful <= self._longest_silence
        self._doubts = self._doubts + 1 if self._doubts and follows else 1
        self._doubtful = stamp
        if self._doubts >= NUM_AGREEING:
            self._begin(stamp, arrival)
            return "jump"
        if -self._longest_silence <= ahead < 0.0:
            self._heard = arrival
            return "earlier"
        return "astray"

    def _begin(self, stamp: float, arrival: float) -> None:
        self.is_running, self.newest, self._doubts = True, stamp, 0
        self._offset, self._heard = arrival - stamp, arrival

    def is_silent(self, now: float) -> bool:
        """Whether messages came, and then none for too long.

        Args:
            now: By the receiver's clock, s.
        """
        return self.is_running and now - self._heard > self._longest_silence

    def sent_by(self, now: float) -> float:
        """Time by the sender's clock of a message that would come now if it came at once, s.

        Args:
            now: By the receiver's clock, s.
        """
        return now - self._offset


class LostMessages:
    """Tells how many messages never came, by the usual time between two of them."""

    _SETTLING = 30
    """Messages after which the usual time is known."""
    _FRESH = 0.05
    """Share of a new time between messages in the usual one."""

    def __init__(self) -> None:
        self._stamps: list[float] = []
        self._usual, self._known = 0.0, 0

    def add(self, stamp: float) -> None:
        """Notes the time stamp of a message, s."""
        at = len(self._stamps)
        while at and self._stamps[at - 1] > stamp:
            at -= 1
        if at == 0 or stamp - self._stamps[at - 1] >= SAME_MOMENT:
            self._stamps.insert(at, stamp)

    def settle(self, before: float) -> int:
        """How many are missing among those before a time, after which no more are taken, s."""
        lost = done = 0
        while done + 1 < len(self._stamps) and self._stamps[done + 1] < before:
            step = self._stamps[done + 1] - self._stamps[done]
            done += 1
            self._known += 1
            if self._known == 1:
                self._usual = step
            elif self._known > self._SETTLING:
                lost += max(round(step / self._usual) - 1, 0)
            self._usual += self._FRESH * (min(step, 2.0 * self._usual) - self._usual)
        del self._stamps[:done]
        return lost

    def restart(self) -> None:
        """Forgets stamps that are not settled; what a new clock says cannot be compared."""
        self._stamps.clear()
