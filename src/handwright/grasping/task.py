"""What a grasp is asked for: the hand, the body, and what the grasp has to reckon with."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.frozen import read_only_copy
from handwright.core.hand import HandModel
from handwright.core.problem import standard_gravity
from handwright.core.surface import Surface
from handwright.errors import InvalidValueError
from handwright.grasping.grip_styles import GripStyle
from handwright.math.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class GraspOptions:
    """What a grasp has to reckon with; the defaults suit most bodies."""

    gravity: Float[np.ndarray, "3"] = field(default_factory=standard_gravity)
    """m/s^2."""
    friction: float | None = None
    """Coulomb coefficient that the hand counts on; the body's if None."""
    near: Float[np.ndarray, "3"] | None = None
    """Where on the body the grip should be, in its frame, m; its centre of mass if None."""
    destinations: tuple[Pose, ...] = ()
    """Poses in the world to which the body will be carried: an arm takes it so that it can."""
    num_starts: int = 24
    """Start poses that are tried, and as many again, twice, if none of them leads to a grasp."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gravity", read_only_copy(self.gravity))
        if self.near is not None:
            object.__setattr__(self, "near", read_only_copy(self.near))
        object.__setattr__(self, "destinations", tuple(self.destinations))
        problems = []
        if self.gravity.shape != (3,) or not np.isfinite(self.gravity).all():
            problems.append(f"gravity is {self.gravity}; expected three finite numbers in m/s^2")
        if self.friction is not None and not 0.0 < self.friction < np.inf:
            problems.append(f"friction is {self.friction}; expected a positive number, or None")
        if self.near is not None and (self.near.shape != (3,) or not np.isfinite(self.near).all()):
            problems.append(f"near is {self.near}; expected a point on the body in m, or None")
        if self.num_starts < 1:
            problems.append(f"num_starts is {self.num_starts}; expected at least 1")
        if problems:
            raise InvalidValueError("GraspOptions: " + "; ".join(problems) + ".")


@dataclass(frozen=True, slots=True, eq=False)
class GraspTask:
    """One question to the planner."""

    hand: HandModel
    body: RigidBody
    style: GripStyle
    pose: Pose
    """Pose of the body in the world."""
    root: Pose | None
    """Pose of the hand's root in the world; None for a bare hand, which may go anywhere."""
    environment: tuple[Surface, ...]
    options: GraspOptions

    @property
    def has_arm(self) -> bool:
        """Whether the hand hangs on an arm whose root stays."""
        return self.hand.wrist_link != 0

    @property
    def friction(self) -> float:
        """Coulomb coefficient that the hand counts on."""
        known = self.options.friction
        return self.body.friction if known is None else known
