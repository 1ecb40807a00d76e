"""When a hand may touch bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from handwright.errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class TouchSpan:
    """A span of time in which a hand may touch bodies.

    A hand that has spans may touch bodies only within them; a hand without may at any time.
    """

    hand: str
    """Name of a hand of the problem."""
    start: float
    """s."""
    end: float
    """s."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start < self.end):
            raise InvalidValueError(
                f"TouchSpan of '{self.hand}' runs from {self.start} to {self.end} s; "
                "expected start < end."
            )
