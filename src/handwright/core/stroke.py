"""Sliding of a body along its surroundings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError

LIGHT_FORCE = 0.05
"""That of a pen that hardly presses, N."""


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
    """A span of time in which a part of a body presses on a surface and slides along it.

    What presses is the part of the body's surface beneath ``point``, so the middle of a round tip
    stands for the tip however the body is held. Where the body goes meanwhile is for goals to say.
    """

    body: str
    """Name of a body of the problem."""
    point: Float[np.ndarray, "3"]
    """In the body's frame, m."""
    surface: int
    """Number of a surface of the surroundings."""
    start: float
    """s."""
    end: float
    """s."""
    force: float = LIGHT_FORCE
    """Least force along the normal, N."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = []
        if self.point.shape != (3,) or not np.isfinite(self.point).all():
            problems.append(
                f"point is {self.point.tolist()}, expected three finite numbers in metres"
            )
        if self.surface < 0:
            problems.append(f"surface is {self.surface}, expected 0 or more")
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start < self.end):
            problems.append(f"it runs from {self.start} to {self.end} s, expected start < end")
        if not (np.isfinite(self.force) and self.force >= 0.0):
            problems.append(f"force is {self.force} N, expected 0 or more")
        if problems:
            raise InvalidValueError(f"Stroke of '{self.body}': " + "; ".join(problems) + ".")
