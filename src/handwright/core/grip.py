"""How a hand takes a body, and what it believes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError


@dataclass(frozen=True, slots=True, eq=False)
class Grip:
    """A hand reaches for a body in some style and holds it from a moment on."""

    hand: str
    """Name of a hand of the problem."""
    body: str
    """Name of a body of the problem."""
    style: str
    """Name of a grip style, such as ``precision``."""
    start: float = 0.0
    """When the hand sets out, s."""
    held: float = 0.0
    """When it holds the body, s; equal to ``start`` for a hand that begins with it in its grip."""
    at: Float[np.ndarray, "3"] | None = None
    """Where on the body the middle of the grip is wanted, in its frame, m; anywhere if None."""
    believed_mass: float = 1.0
    """Mass that the hand expects, as a share of the true one."""
    believed_friction: float = 1.0
    """Friction that the hand expects, as a share of the true one."""
    response: float = 0.75
    """How fast muscles give up what they expected when something else happens: the share that goes
    in a frame of 1/30 s; 0 for never."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = []
        if self.at is not None and (self.at.shape != (3,) or not np.isfinite(self.at).all()):
            problems.append(f"at is {self.at.tolist()}, expected three finite numbers in metres")
        if not (np.isfinite(self.start) and np.isfinite(self.held) and self.start <= self.held):
            problems.append(
                f"it starts at {self.start} and holds from {self.held} s, expected start <= held"
            )
        for name in ("believed_mass", "believed_friction"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                problems.append(f"{name} is {value}, expected a share above 0")
        if not 0.0 <= self.response <= 1.0:
            problems.append(f"response is {self.response}, expected 0 to 1")
        if problems:
            raise InvalidValueError(
                f"Grip of '{self.hand}' on '{self.body}': " + "; ".join(problems) + "."
            )
