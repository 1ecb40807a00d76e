"""Settings of one attempt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AttemptSettings:
    """Shares and limits of iterations that every attempt of a method uses."""

    squeeze: float
    """Least force of a thumb that touches, in weights of the body."""
    friction: float
    """Share of the friction that may be used."""
    stage_iterations: int = 45
    """Most iterations of each stage before contact variables are rounded."""
    tight_iterations: int = 40
    """Most iterations with the first schedule."""
    fine_iterations: int = 60
    """Most iterations of each pass on fine keys."""
    repair_iterations: int = 20
    """Most iterations with a schedule that is tried instead."""
    max_repairs: int = 6
    """Most schedules that are tried instead."""
