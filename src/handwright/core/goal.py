"""What should be true of a body or a hand, and when."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError
from handwright.math import rotation


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
    """A feature at a place, turned in some way, or both, during a span of time."""

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
    """rad/s, in the axes of the world or of ``relative_to``: the orientation is ``wxyz`` at
    ``start`` and turns at this constant rate until ``end``; None if it stays."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = []
        if not (np.isfinite(self.start) and np.isfinite(self.end) and self.start <= self.end):
            problems.append(f"it runs from {self.start} to {self.end} s, expected start <= end")
        if self.position is None and self.wxyz is None:
            problems.append("it asks for nothing: give a position, an orientation, or both")
        if self.position is not None and (
            self.position.shape != (3,) or not np.isfinite(self.position).all()
        ):
            problems.append("position must be three finite numbers in metres")
        if self.wxyz is not None and (
            self.wxyz.shape != (4,) or abs(float(np.linalg.norm(self.wxyz)) - 1.0) > 1e-6
        ):
            problems.append("wxyz must be a unit quaternion")
        if self.spin is not None:
            problems += self._spin_problems(self.spin)
        if not (np.isfinite(self.weight) and self.weight > 0):
            problems.append(f"weight is {self.weight}, expected above zero")
        if problems:
            raise InvalidValueError(
                f"Goal for '{self.feature.owner}': " + "; ".join(problems) + "."
            )

    def _spin_problems(self, spin: Float[np.ndarray, "3"]) -> list[str]:
        problems = []
        if spin.shape != (3,) or not np.isfinite(spin).all():
            problems.append("spin must be three finite numbers in rad/s")
        if self.wxyz is None:
            problems.append("spin needs wxyz, the orientation that it starts from")
        if not self.start < self.end:
            problems.append("spin needs a span of time, with start < end")
        return problems

    def wxyz_at(self, times: Float[np.ndarray, " N"]) -> Float[np.ndarray, "N 4"]:
        """Orientations wanted at times within the goal, s; it must ask for an orientation."""
        if self.wxyz is None:
            raise InvalidValueError(
                f"Goal for '{self.feature.owner}' asks for a position only; expected one with wxyz."
            )
        times = np.asarray(times, dtype=np.float64)
        spin = np.zeros(3) if self.spin is None else self.spin
        return rotation.multiply(rotation.exp((times - self.start)[:, None] * spin), self.wxyz)


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
