"""What an artist may ask of the search: strategies, quiet fingers, regions, joints, pins, grips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from handwright.errors import InvalidValueError

Strategy = Literal["mixed", "static", "slide", "relocate"]
Grip = Literal["any", "power", "precision"]
GRIPS: tuple[Grip, ...] = ("any", "power", "precision")

# Probabilities of sliding, of relocating and of coming to the body from the air, for each chance
# that the forces give. Digits that are needed come all the same.
CHANCES: dict[str, tuple[float, float, float]] = {
    "mixed": (0.25, 0.15, 0.15),
    "static": (0.0, 0.0, 0.0),
    "slide": (1.0, 0.0, 0.15),
    "relocate": (0.0, 0.9, 0.15),
}


@dataclass(frozen=True, slots=True)
class Preference:
    """A strategy for some digits over some time."""

    strategy: Strategy
    digits: tuple[str, ...] = ()
    """Names such as ``index``, or ``left.index`` with two hands; all if empty."""
    start: float | None = None
    """s; from the first frame on if None."""
    end: float | None = None
    """s; to the last frame if None."""

    def __post_init__(self) -> None:
        if self.strategy not in CHANCES:
            raise InvalidValueError(
                f"Preference: strategy is {self.strategy!r}; expected one of {', '.join(CHANCES)}."
            )


@dataclass(frozen=True, slots=True)
class KeepOff:
    """Digits that must not press on the body over some time; they may rest beside it."""

    digits: tuple[str, ...]
    start: float | None = None
    """s; from the first frame on if None."""
    end: float | None = None
    """s; to the last frame if None."""


@dataclass(frozen=True, slots=True)
class ForbiddenBall:
    """A region of a body that no guiding point may lie in."""

    center: tuple[float, float, float]
    """In the body's frame, m."""
    radius: float
    """m."""


@dataclass(frozen=True, slots=True)
class FixedJoint:
    """A joint that keeps an angle over some time."""

    hand: str
    joint: str
    angle: float
    """rad."""
    start: float | None = None
    """s; from the first frame on if None."""
    end: float | None = None
    """s; to the last frame if None."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A digit that must touch a body at a point over some time, and neither slides nor leaves."""

    digit: str
    """A name such as ``index``, or ``left.index`` with two hands."""
    point: tuple[float, float, float]
    """In the body's frame, on its surface or near it, m."""
    start: float
    """s; a pin that starts before the body is held starts when it is."""
    end: float | None = None
    """s; as long as the digit can reach the point if None."""

    def __post_init__(self) -> None:
        problems = []
        if len(self.point) != 3 or not np.isfinite(self.point).all():
            problems.append(f"point is {self.point}, expected three finite numbers in m")
        if self.end is not None and self.end < self.start:
            problems.append(f"end is {self.end:g} s, expected {self.start:g} s (start) or later")
        if problems:
            raise InvalidValueError(f"Pin of {self.digit!r}: " + "; ".join(problems) + ".")


def frames_within(
    times: Float[np.ndarray, " T"], start: float | None, end: float | None
) -> Bool[np.ndarray, " T"]:
    """Which frames lie in a span that may be open on either side."""
    after = np.ones(len(times), dtype=bool) if start is None else times >= start
    before = np.ones(len(times), dtype=bool) if end is None else times <= end
    return after & before
