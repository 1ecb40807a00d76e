"""Grasps as they are handed out: where a hand holds a body, or why it does not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.grasping.grip_styles import GripStyle
from handwright.math.pose import Pose

GAP = 2e-4
"""A handle this near the surface touches, m."""
DEPTH = 5e-4
"""Skin may be this deep in the body, the environment or other digits, m."""


@dataclass(frozen=True, slots=True, eq=False)
class GraspContact:
    """A point of the skin on a point of the body."""

    part: str
    """Name of the capsule under the skin."""
    capsule: int
    link: int
    hand_point: Float[np.ndarray, "3"]
    """Point of the skin in the frame of the link, m."""
    body_point: Float[np.ndarray, "3"]
    """Point of the surface in the frame of the body, m."""
    inward: Float[np.ndarray, "3"]
    """Unit normal into the body, in its frame."""
    force: Float[np.ndarray, "3"]
    """Force on the body in its frame while all contacts hold it against gravity, N."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True, eq=False)
class Grasp:
    """A hand that holds a body."""

    style: GripStyle
    q: Float[np.ndarray, " J"]
    """Joint values, rad."""
    root: Pose
    """Pose of the hand in the world."""
    contacts: tuple[GraspContact, ...]
    effort: float
    """Sum of normal forces under the worst disturbance of the style, in weights."""
    cost: float
    """Distance from the preferred posture, squared and weighted, and effort; lower is better."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


@dataclass(frozen=True, slots=True)
class NoGrasp:
    """Why a style does not hold a body."""

    reason: str
