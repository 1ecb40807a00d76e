"""What live fingers give: one moment of the hands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.math.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class LiveHand:
    """A hand at one moment."""

    wrist: Pose
    """Of the wrist frame in the world: where the given track has it at this moment."""
    q: Float[np.ndarray, " J"]
    """Joint values, rad."""
    touching: tuple[str, ...]
    """Names of the digits whose skin is at the object, and ``palm``."""
    is_held: bool
    """Whether its wrist stands still because there were no poses of it."""


@dataclass(frozen=True, slots=True, eq=False)
class LiveFrame:
    """All hands at one moment, on an even clock of 60 frames a second."""

    time: float
    """By the sender's clock, s."""
    hands: Mapping[str, LiveHand]
    """Those that are tracked, by name."""
    object_pose: Pose
    """In the world."""
    is_held: bool
    """Whether a wrist or the object stands still because there were no poses of it."""
    seconds: float
    """Time that computing took, s."""
