"""What an artist may ask of the search: strategies, quiet fingers, regions, joints, pins, grips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from handwright.errors import InvalidValueError
from handwright.geometry.regions.parts import BODY_PARTS, BodyPart

Strategy = Literal["mixed", "static", "slide", "relocate"]
Grip = Literal["any", "power", "precision"]
Hold = Literal["anywhere", "handle", "inside", "outside"]

RELOCATION_TIME = 0.17
"""Least time of a digit's way to another contact at the usual pace, s."""
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
        problems = [*_digit_problems(self.digits), *_span_problems(self.start, self.end)]
        if self.strategy not in CHANCES:
            problems.append(f"strategy is {self.strategy!r}, expected one of {', '.join(CHANCES)}")
        _refuse("Preference", problems)


@dataclass(frozen=True, slots=True)
class NoContact:
    """Digits that must not press on the body over some time; they may rest beside it."""

    digits: tuple[str, ...]
    """One or more names such as ``little``, or ``left.little`` with two hands."""
    start: float | None = None
    """s; from the first frame on if None."""
    end: float | None = None
    """s; to the last frame if None."""

    def __post_init__(self) -> None:
        problems = [*_digit_problems(self.digits), *_span_problems(self.start, self.end)]
        if len(self.digits) == 0:
            problems.append("digits is empty, expected one name or more")
        _refuse("NoContact", problems)


@dataclass(frozen=True, slots=True)
class Ball:
    """A region of a body: what of its surface lies in a ball."""

    center: tuple[float, float, float]
    """In the body's frame, m."""
    radius: float
    """m."""

    def __post_init__(self) -> None:
        problems = _point_problems("center", self.center)
        if not (np.isfinite(self.radius) and self.radius > 0.0):
            problems.append(f"radius is {self.radius}, expected a finite number above 0 in m")
        _refuse(type(self).__name__, problems)
        # Regions are kept by their balls, and lists could not be looked up.
        object.__setattr__(self, "center", tuple(float(x) for x in self.center))


@dataclass(frozen=True, slots=True)
class ForbiddenBall(Ball):
    """A region of a body that no guiding point may lie in."""


@dataclass(frozen=True, slots=True)
class GraspRegion:
    """Where digits shall hold a body; a digit with several may use any of them."""

    where: BodyPart | Ball
    """``handle``, ``inside`` or ``outside``, found from its shape, or a ``Ball``."""
    digits: tuple[str, ...] = ()
    """Names such as ``thumb``, or ``left.thumb`` with two hands; all if empty."""
    body: str | None = None
    """Whichever is held if None."""

    def __post_init__(self) -> None:
        problems = _digit_problems(self.digits)
        is_part = isinstance(self.where, str) and self.where in BODY_PARTS
        if type(self.where) is not Ball and not is_part:
            known = ", ".join(BODY_PARTS)
            problems.append(f"where is {self.where!r}, expected one of {known}, or a Ball")
        _refuse("GraspRegion", problems)


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

    def __post_init__(self) -> None:
        problems = _span_problems(self.start, self.end)
        if not np.isfinite(self.angle):
            problems.append(f"angle is {self.angle}, expected a finite number in rad")
        _refuse(f"FixedJoint of {self.joint!r}", problems)


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
        problems = _point_problems("point", self.point)
        if self.start is None:
            problems.append("start is None, expected a time in s; 0 for as early as can be")
        else:
            problems += _span_problems(self.start, self.end)
        _refuse(f"Pin of {self.digit!r}", problems)


def _digit_problems(digits: tuple[str, ...]) -> list[str]:
    # A string is a sequence of letters, each of which would be taken for a digit.
    return [f"digits is {digits!r}, expected a tuple: ({digits!r},)"] * isinstance(digits, str)


def _span_problems(start: float | None, end: float | None) -> list[str]:
    problems = [
        f"{name} is {value} s, expected a finite number"
        for name, value in (("start", start), ("end", end))
        if value is not None and not np.isfinite(value)
    ]
    if not problems and start is not None and end is not None and end < start:
        problems.append(f"end is {end:g} s, expected {start:g} s (start) or later")
    return problems


def _point_problems(name: str, point: tuple[float, float, float]) -> list[str]:
    is_good = len(point) == 3 and bool(np.isfinite(point).all())
    return [] if is_good else [f"{name} is {point}, expected three finite numbers in m"]


def _refuse(what: str, problems: list[str]) -> None:
    if problems:
        raise InvalidValueError(f"{what}: " + "; ".join(problems) + ".")


def frames_within(
    times: Float[np.ndarray, " T"], start: float | None, end: float | None
) -> Bool[np.ndarray, " T"]:
    """Which frames lie in a span that may be open on either side."""
    after = np.ones(len(times), dtype=bool) if start is None else times >= start
    before = np.ones(len(times), dtype=bool) if end is None else times <= end
    return after & before
