"""Prices of the objectives of a frame."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from handwright.errors import InvalidValueError


@dataclass(frozen=True, slots=True)
class Settings:
    """Prices; ratios are what counts."""

    torque: float = 5e-3
    """Of a change of joint torques within a second, 1/(N m)^2: eq. 5."""
    keep: float = 1e8
    """Of a contact that comes apart, 1/m^2: eq. 6."""
    arm: float = 30.0
    """Of an arm that leaves its posture, 1/rad^2."""
    finger: float = 3.0
    """Of a finger that leaves its posture, 1/rad^2."""
    speed: float = 1e-2
    """Of velocities, s^2/rad^2."""
    force: float = 1e-4
    """Of force coefficients, 1/N^2."""
    sliding: float = 0.03
    """How much less a sliding contact is kept across its normal, a share."""

    def __post_init__(self) -> None:
        problems = [
            f"{item.name} is {getattr(self, item.name)}"
            for item in fields(self)
            if not (np.isfinite(getattr(self, item.name)) and getattr(self, item.name) > 0.0)
        ]
        if problems:
            raise InvalidValueError(
                "Settings: " + "; ".join(problems) + "; expected finite numbers above 0."
            )
