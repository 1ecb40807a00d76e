"""What was corrected, in numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.math import rotation

Part = Literal["mended", "smoothed", "wrist"]
_SAME = 1e-9
"""Moves and turns below this come from rounding, m and rad."""


@dataclass(frozen=True, slots=True)
class Correction:
    """How far one part of the correction has moved one track, over the frames of the problem."""

    name: str
    """Of the hand or body."""
    part: Part
    shift: float
    """Largest, m: of the wrist, or of the body's centre of mass."""
    turn: float
    """Largest, rad."""
    frames: int
    """How many frames it has moved."""

    def __str__(self) -> str:
        words = {"mended": "mended", "smoothed": "smoothed", "wrist": "wrist moved"}
        return (
            f"'{self.name}' {words[self.part]} by at most {_upwards(1e3 * self.shift)} mm and "
            f"{_upwards(math.degrees(self.turn))} degrees in {self.frames} frames"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """A problem with corrected tracks, and what was corrected."""

    problem: Problem
    """The same problem on the corrected tracks."""
    given: Problem
    """The problem as it was given, with its raw tracks."""
    corrections: tuple[Correction, ...]
    """One for each track and part that has moved it, in the order in which they were made."""

    def __str__(self) -> str:
        return "; ".join(map(str, self.corrections)) or "nothing was corrected"


def _upwards(value: float) -> str:
    """A number with one decimal that is not below it, but for a thousandth."""
    return f"{max(math.ceil(10.0 * value - 1e-2), 0) / 10.0:.1f}"


def correction(
    problem: Problem, name: str, part: Part, before: Track, after: Track
) -> Correction | None:
    """How far a track was moved; None if it was not.

    Args:
        problem: Its frames count.
        name: Of the hand or body.
        part: What has moved it.
        before: The track as it was.
        after: As it is now.
    """
    center = center_of(problem, name)
    one, two = before.at(problem.times), after.at(problem.times)
    shift = np.linalg.norm(two.apply(center) - one.apply(center), axis=1)
    turn = np.asarray(rotation.angle(one.wxyz, two.wxyz))
    moved = (shift > _SAME) | (turn > _SAME)
    if not moved.any():
        return None
    return Correction(name, part, float(shift.max()), float(turn.max()), int(moved.sum()))


def center_of(problem: Problem, name: str) -> Float[np.ndarray, "3"]:
    """The point whose move counts, in its own frame, m: centre of mass of a body, or the wrist."""
    return problem.bodies[name].center if name in problem.bodies else np.zeros(3)
