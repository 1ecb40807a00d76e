"""Beginnings of paths that a search returns to, instead of looking for a first grasp again.

With a guide most of what differs between paths is not wanted, and what leads far took long to find.
A search that has gone back to its root therefore goes on from a frame that it had reached: one far
along, unless it has set out from about there often already and must look for another way earlier.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from handwright.methods.sampling.search.workspace import Path

# Frames that a beginning must be ahead of another one to be set out from once more often.
_FRAMES_A_VISIT = 1.0
# Beginnings that differ by fewer frames are about the same.
_APART = 3
# Number of beginnings of about the same length that are kept, the latest ones.
_ALIKE = 4


class _Beginning(NamedTuple):
    """Rows of a path up to a frame."""

    frame: int
    rows: list[np.ndarray]


class Beginnings:
    """Beginnings of paths by their lengths, and how often the search set out from each length."""

    def __init__(self) -> None:
        self._known: dict[int, list[_Beginning]] = {}
        self._visits: Counter[int] = Counter()
        self._since = 0

    def is_new(self, frame: int) -> bool:
        """Whether a frame is farther than where the search set out last, and worth keeping."""
        return frame >= self._since + _APART

    def add(self, path: Path, frame: int) -> None:
        """Keeps a path up to a frame."""
        self._since = frame
        alike = self._known.setdefault(frame // _APART, [])
        alike.insert(0, _Beginning(frame, [column[: frame + 1].copy() for column in path]))
        del alike[_ALIKE:]

    def forget(self, frame: int) -> None:
        """Drops what leads beyond a frame in which a smooth motion failed."""
        for length in [length for length in self._known if length >= frame // _APART]:
            del self._known[length]

    def begin_anew(self) -> None:
        """Tells that the search sets out from a new first grasp."""
        self._since = 0

    def restore(self, path: Path) -> int:
        """Writes the most promising beginning to a path; its frame, or -1 for a new first grasp."""
        best = max([*self._known, 0], key=self._worth)
        self.begin_anew()
        self._visits[best] += 1
        if best == 0:
            return -1
        # Each of those that are alike in turn.
        alike = self._known[best]
        chosen = alike[self._visits[best] % len(alike)]
        self._since = chosen.frame
        for column, rows in zip(path, chosen.rows, strict=True):
            column[: chosen.frame + 1] = rows
        return chosen.frame

    def _worth(self, length: int) -> float:
        return _APART * length - _FRAMES_A_VISIT * self._visits[length]
