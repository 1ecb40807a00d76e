"""What has come of throws: how many did what they should, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from handwright.studio.live.throwing.aims import Goal


@dataclass(slots=True)
class Tally:
    """Counts of throws of one thing for one goal, and the last throw to a height."""

    of: tuple[tuple[str, int], Goal]
    """The thing with its half turns, and the goal."""
    throws: int = 0
    in_a_row: int = 0
    most_in_a_row: int = 0
    dropped: int = 0
    asked: float | None = None
    """Height of the last throw, m; None if it was not to a height."""
    reached: float | None = None
    """The same, as it came out, m."""

    def add(self, is_success: bool, asked: float | None, reached: float | None) -> None:
        """Counts a throw that is over.

        Args:
            is_success: Whether it did what it should, and was caught.
            asked: Height that was asked for, m, if one was.
            reached: Height that was reached then, m.
        """
        self.throws += 1
        self.in_a_row = self.in_a_row + 1 if is_success else 0
        self.most_in_a_row = max(self.most_in_a_row, self.in_a_row)
        self.asked, self.reached = asked, reached

    def drop(self) -> None:
        """Counts what has fallen."""
        self.dropped += 1
        self.in_a_row = 0
