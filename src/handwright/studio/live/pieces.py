"""What is recorded of live motion: frames, each with what it belongs to, as pieces to be clips."""

from __future__ import annotations

from itertools import groupby
from typing import Generic, TypeVar

from handwright.errors import InvalidValueError

MOST_SECONDS = 600.0
"""That are recorded at most, s."""
_Key = TypeVar("_Key")
_Frame = TypeVar("_Frame")


class Pieces(Generic[_Key, _Frame]):
    """Frames in their order; neighbours that belong to the same are a piece."""

    def __init__(self, rate: float) -> None:
        """Nothing yet.

        Args:
            rate: Frames a second.
        """
        self._rate = rate
        self._frames: list[tuple[_Key, _Frame]] = []

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self._frames) / self._rate

    def add(self, key: _Key, frame: _Frame) -> None:
        """Keeps a frame; those after the longest time are left out."""
        if self.seconds < MOST_SECONDS:
            self._frames.append((key, frame))

    def long_ones(self, least: int, what: str) -> list[tuple[_Key, list[_Frame]]]:
        """Pieces that are worth a clip; raises if there are none.

        Args:
            least: Frames that such a piece has.
            what: Of such a piece, after the time that it must last.
        """
        pieces = [
            (key, [frame for _, frame in rows])
            for key, rows in groupby(self._frames, key=lambda row: row[0])
        ]
        found = [(key, frames) for key, frames in pieces if len(frames) >= least]
        if not found:
            raise InvalidValueError(
                f"The recording is {self.seconds:.2f} s long; expected "
                f"{least / self._rate:.2f} s or more {what}. Record for longer."
            )
        return found
