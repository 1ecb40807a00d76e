"""What should be true of a body or a hand, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError, refuse
from handwright.math import rotation

XYZ = "xyz"


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A point of a body or of a hand, with the axes that go with it."""

    owner: str
    """Name of a hand or a body of the problem."""
    frame: str | None = None
    """Named frame of a hand, such as ``index_tip``; None for the wrist or the body itself."""
    point: Float[np.ndarray, "3"] | None = None
    """Offset in that frame, m; the frame's origin if None."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        if self.point is not None and (
            self.point.shape != (3,) or not np.isfinite(self.point).all()
        ):
            raise InvalidValueError(
                f"Feature of '{self.owner}': point is {self.point.tolist()}; "
                "expected three finite numbers in metres."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """A feature at a place, turned in some way, moving at some rate, or all of it, for a time."""

    feature: Feature
    start: float
    """s."""
    end: float
    """s; equal to ``start`` for a moment."""
    position: Float[np.ndarray, "3"] | None = None
    """m; None if the place does not matter."""
    wxyz: Float[np.ndarray, "4"] | None = None
    """Orientation; None if it does not matter."""
    relative_to: str | None = None
    """Body whose frame the place and orientation are given in; None for the world."""
    weight: float = 1.0
    spin: Float[np.ndarray, "3"] | None = None
    """rad/s, in the axes of the world or of ``relative_to``, from ``start`` to ``end``; with
    ``wxyz`` that is the orientation at ``start``. None if it does not matter, or ``wxyz`` stays."""
    velocity: Float[np.ndarray, "3"] | None = None
    """m/s, in the same axes, from ``start`` to ``end``; with ``position`` that is the place at
    ``start``. None if it does not matter, or ``position`` stays."""
    axes: str = XYZ
    """Which coordinates of ``position`` and ``velocity`` matter: ``z`` for the height alone."""
    axis: Float[np.ndarray, "3"] | None = None
    """Direction in the feature's own axes: it is to point where ``wxyz`` would have it, and turns
    about it are free. None if the whole orientation matters."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = []
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start <= self.end):
            problems.append(f"it runs from {self.start} to {self.end} s, expected start <= end")
        if not self.asks:
            problems.append(
                "it asks for nothing: give a position, an orientation, a velocity or a spin"
            )
        if self.position is not None and (
            self.position.shape != (3,) or not np.isfinite(self.position).all()
        ):
            problems.append("position must be three finite numbers in metres")
        if self.wxyz is not None and (
            self.wxyz.shape != (4,) or abs(float(np.linalg.norm(self.wxyz)) - 1.0) > 1e-6
        ):
            problems.append("wxyz must be a unit quaternion")
        for name, unit in (("spin", "rad/s"), ("velocity", "m/s")):
            rate = getattr(self, name)
            if rate is not None and (rate.shape != (3,) or not np.isfinite(rate).all()):
                problems.append(f"{name} must be three finite numbers in {unit}")
        problems += self._axis_problems()
        if not (np.isfinite(self.weight) and self.weight > 0):
            problems.append(f"weight is {self.weight}, expected above zero")
        refuse(f"Goal for '{self.feature.owner}'", problems)

    def _axis_problems(self) -> list[str]:
        problems = []
        if not self.axes or sorted(set(self.axes)) != sorted(self.axes) or set(self.axes) - {*XYZ}:
            problems.append(f"axes is '{self.axes}', expected some of the letters x, y and z")
        elif self.axes != XYZ and self.position is None and self.velocity is None:
            problems.append(f"axes is '{self.axes}', which needs a position or a velocity")
        if self.axis is not None:
            if self.axis.shape != (3,) or not np.isfinite(self.axis).all() or not self.axis.any():
                problems.append("axis must be three finite numbers, a direction")
            if self.wxyz is None:
                problems.append("axis needs wxyz, the orientation that says where it points")
            if self.spin is not None:
                problems.append("axis leaves turns free and spin does not: give one of them")
        return problems

    @property
    def asks(self) -> tuple[str, ...]:
        """Names of what it asks for, of position, wxyz, velocity and spin."""
        names = ("position", "wxyz", "velocity", "spin")
        return tuple(name for name in names if getattr(self, name) is not None)

    @property
    def matters(self) -> Bool[np.ndarray, "3"]:
        """Which coordinates of places and velocities matter."""
        return np.array([name in self.axes for name in XYZ])

    def position_at(self, times: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 3"]:
        """Places wanted at times within the goal, s; it must ask for a position."""
        if self.position is None:
            raise InvalidValueError(
                f"Goal for '{self.feature.owner}' asks for {' and '.join(self.asks)} only; "
                "expected one with position."
            )
        velocity = np.zeros(3) if self.velocity is None else self.velocity
        since = np.asarray(times, dtype=np.float64)[:, None] - self.start
        return np.asarray(self.position + since * velocity)

    def wxyz_at(self, times: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 4"]:
        """Orientations wanted at times within the goal, s; it must ask for an orientation."""
        if self.wxyz is None:
            raise InvalidValueError(
                f"Goal for '{self.feature.owner}' asks for {' and '.join(self.asks)} only; "
                "expected one with wxyz."
            )
        times = np.asarray(times, dtype=np.float64)
        spin = np.zeros(3) if self.spin is None else self.spin
        return rotation.multiply(rotation.exp((times - self.start)[:, None] * spin), self.wxyz)

    def at_end(self) -> Goal:
        """What it asks for at its last moment."""
        last = np.array([self.end])
        return replace(
            self,
            start=self.end,
            position=None if self.position is None else self.position_at(last)[0],
            wxyz=None if self.wxyz is None else self.wxyz_at(last)[0],
        )


def lasting_goals(goals: Sequence[Goal]) -> list[Goal]:
    """The last goals of every feature, those of them that something at rest can go on meeting."""
    ends: dict[tuple[str, str | None], float] = {}
    for goal in goals:
        key = goal.feature.owner, goal.feature.frame
        ends[key] = max(goal.end, ends.get(key, goal.end))
    return [
        goal
        for goal in goals
        if goal.end >= ends[goal.feature.owner, goal.feature.frame]
        and not np.any(goal.velocity)
        and not np.any(goal.spin)
    ]


def is_same_goal(one: Goal, other: Goal) -> bool:
    """Whether two goals ask for the same; who asks anew in every frame makes new ones."""
    return one is other or all(
        _is_same(getattr(a, item.name), getattr(b, item.name))
        for a, b in ((one, other), (one.feature, other.feature))
        for item in fields(a)
        if item.name != "feature"
    )


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one is other or (type(one) is type(other) and one == other))
