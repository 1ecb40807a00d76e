"""Counts of a search."""

from __future__ import annotations

from dataclasses import dataclass, field

from handwright.methods.sampling.search.frame import CROSSED, MISSED, PENETRATING, UNBALANCED


@dataclass(slots=True)
class SearchTally:
    """What a search has done so far."""

    frames: int = 0
    """Number of frames that were tried."""
    dead_ends: int = 0
    causes: dict[int, int] = field(
        default_factory=lambda: {MISSED: 0, PENETRATING: 0, CROSSED: 0, UNBALANCED: 0}
    )
    """Number of dead ends by what failed."""
    grasps: int = 0
    """Number of first grasps that were drawn."""
    furthest: int = -1
    """Latest frame that failed."""

    def add_dead_end(self, frame: int, cause: int | None) -> None:
        """Counts a dead end; no cause if there was no first grasp."""
        self.dead_ends += 1
        self.furthest = max(self.furthest, frame)
        if cause is not None:
            self.causes[cause] += 1

    def main_cause(self) -> int | None:
        """The commonest cause, or None if no frame after the first was reached."""
        worst = max(self.causes, key=lambda cause: self.causes[cause])
        return worst if self.causes[worst] else None
