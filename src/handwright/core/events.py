"""What happens in a problem besides tracks and goals: touches, grips, strokes, pushes, tosses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError, refuse
from handwright.math.pose import Pose

LIGHT_FORCE = 0.05
"""Force of a pen that hardly presses, N."""
# A frame at the very end of a push does not feel it any more, whatever rounding says, s.
_END_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class TouchSpan:
    """A span of time in which a hand may touch bodies.

    A hand that has spans may touch bodies only within them; a hand without may at any time.
    """

    hand: str
    """Name of a hand of the problem."""
    start: float
    """s."""
    end: float
    """s."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start < self.end):
            raise InvalidValueError(
                f"TouchSpan of '{self.hand}' runs from {self.start} to {self.end} s; "
                "expected start < end."
            )


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
        refuse(f"Grip of '{self.hand}' on '{self.body}'", problems)


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
    """A span of time in which a part of a body presses on a surface and slides along it.

    What presses is the part of the body's surface beneath ``point``, so the middle of a round tip
    stands for the tip however the body is held. Where the body goes meanwhile is for goals to say.
    """

    body: str
    """Name of a body of the problem."""
    point: Float[np.ndarray, "3"]
    """In the body's frame, m."""
    surface: int
    """Number of a surface of the surroundings."""
    start: float
    """s."""
    end: float
    """s."""
    force: float = LIGHT_FORCE
    """Least force along the normal, N."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = []
        if self.point.shape != (3,) or not np.isfinite(self.point).all():
            problems.append(
                f"point is {self.point.tolist()}, expected three finite numbers in metres"
            )
        if self.surface < 0:
            problems.append(f"surface is {self.surface}, expected 0 or more")
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start < self.end):
            problems.append(f"it runs from {self.start} to {self.end} s, expected start < end")
        if not (np.isfinite(self.force) and self.force >= 0.0):
            problems.append(f"force is {self.force} N, expected 0 or more")
        refuse(f"Stroke of '{self.body}'", problems)


@dataclass(frozen=True, slots=True)
class Toss:
    """A hand throws a body and catches it again: up to a height, or at a box and back.

    Tosses of a problem follow one another, each as soon as the hand is ready.
    """

    hand: str
    """Name of a hand of the problem, one with an arm."""
    body: str
    """Name of a body of the problem."""
    height: float | None = None
    """How high the body's centre goes above the hollow of the palm that holds it, m."""
    surface: int | None = None
    """Number of the box, among the surroundings, that it shall hit."""

    def __post_init__(self) -> None:
        problems = []
        if (self.height is None) == (self.surface is None):
            problems.append("it has both a height and a surface, or neither; expected one of them")
        if self.height is not None and not (np.isfinite(self.height) and self.height > 0.0):
            problems.append(f"height is {self.height} m, expected a finite number above 0")
        if self.surface is not None and self.surface < 0:
            problems.append(f"surface is {self.surface}, expected 0 or more")
        refuse(f"Toss of '{self.body}'", problems)


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
        refuse(f"Push on '{self.body}'", problems)

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
