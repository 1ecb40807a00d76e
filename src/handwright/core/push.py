"""Forces on bodies that no contact of the scene gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError
from handwright.math.pose import Pose

# A frame at the very end of a push does not feel it any more, whatever rounding says, s.
_END_SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Push:
    """A steady force on a point of a body for a while."""

    body: str
    start: float
    """s."""
    end: float
    """s; the frame at the end does not feel it any more."""
    point: Float[np.ndarray, "3"]
    """In the body's frame, m."""
    force: Float[np.ndarray, "3"]
    """In the world, N."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = []
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start <= self.end):
            problems.append(f"it runs from {self.start} to {self.end} s, expected start <= end")
        for name, unit in (("point", "metres"), ("force", "newtons")):
            value = getattr(self, name)
            if value.shape != (3,) or not np.isfinite(value).all():
                problems.append(
                    f"{name} is {value.tolist()}, expected three finite numbers in {unit}"
                )
        if problems:
            raise InvalidValueError(f"Push on '{self.body}': " + "; ".join(problems) + ".")

    def is_on(self, time: float) -> bool:
        """Whether a frame at a time, s, feels it."""
        return bool(self.start - _END_SLACK <= time < self.end - _END_SLACK)


def pushed(
    pushes: Iterable[Push], body: str, time: float, pose: Pose, center: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "6"]:
    """Force (N) and moment (N m) about the centre of mass that pushes give a body at a time.

    Args:
        pushes: Of any bodies.
        body: Name of the body.
        time: s.
        pose: Of the body, a single one.
        center: Centre of mass in the world, m.
    """
    wrench = np.zeros(6)
    for push in pushes:
        if push.body == body and push.is_on(time):
            wrench[:3] += push.force
            wrench[3:] += np.cross(pose.apply(push.point) - center, push.force)
    return wrench
