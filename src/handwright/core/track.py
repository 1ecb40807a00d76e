"""Where something is over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError, refuse
from handwright.math import rotation
from handwright.math.pose import Pose

FARTHEST = 1e7
"""Largest coordinate of a place, m."""
SHORTEST_STEP = 1e-5
"""Least time between two frames, s: what is nearer cannot be told from the same moment."""
LATEST = 1e7
"""Largest time, s, either way; beyond it steps would lose their digits."""


def time_problems(times: Float[np.ndarray, " T"]) -> list[str]:
    """What is wrong with a time axis; empty if nothing is."""
    if times.ndim != 1 or len(times) < 1:
        return [f"times have shape {times.shape}, expected (T,) with at least one"]
    if not np.isfinite(times).all():
        return ["times hold NaN or infinity"]
    if float(np.abs(times).max()) > LATEST:
        return [f"times reach {float(np.abs(times).max()):.3g} s, expected at most {LATEST:g}"]
    steps = np.diff(times)
    if np.any((steps > 0) & (steps < SHORTEST_STEP)):
        return [
            f"times are {float(steps.min()):.3g} s apart, expected at least {SHORTEST_STEP:g} s"
        ]
    if np.any(steps <= 0):
        return [f"times do not increase at index {int(np.argmax(steps <= 0)) + 1}"]
    return []


def place_problems(what: str, pose: Pose) -> list[str]:
    """Says so if something is farther away than can be reckoned with."""
    # Not "above", so that NaN is a problem too.
    if (np.abs(pose.position) <= FARTHEST).all():
        return []
    return [f"{what} is more than {FARTHEST:g} m away"]


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Poses of a wrist, a body or a surface in the world over time."""

    times: Float[np.ndarray, " T"]
    """s, increasing."""
    pose: Pose
    """(T,) poses that map the thing's frame to the world."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        problems = time_problems(self.times)
        if self.pose.shape != self.times.shape:
            problems.append(f"{self.pose.shape} poses for {self.times.shape} times")
        problems += place_problems("it", self.pose)
        refuse("Track", problems)

    def __repr__(self) -> str:
        return f"Track({len(self)} frames, {self.times[0]:g} to {self.times[-1]:g} s)"

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        """S."""
        return float(self.times[-1] - self.times[0])

    def at(self, times: Float[np.ndarray, " N"]) -> Pose:
        """Poses at other times, between the recorded ones: straight lines and shortest turns.

        Args:
            times: s, none outside the track.
        """
        times = np.asarray(times, dtype=np.float64)
        slack = 1e-9 * max(1.0, self.duration)
        if times.size and (
            times.min() < self.times[0] - slack or times.max() > self.times[-1] + slack
        ):
            raise InvalidValueError(
                f"Track runs from {self.times[0]:g} to {self.times[-1]:g} s; asked for "
                f"{times.min():g} to {times.max():g} s. Ask for times within it."
            )
        if len(self) == 1:
            return self.pose[np.zeros(len(times), dtype=np.int64)]
        after = np.clip(np.searchsorted(self.times, times), 1, len(self) - 1)
        span = self.times[after] - self.times[after - 1]
        share = np.clip((times - self.times[after - 1]) / span, 0.0, 1.0)
        return self.pose[after - 1].interpolate(self.pose[after], share)

    def resampled(self, times: Float[np.ndarray, " N"]) -> Track:
        """The same motion at other times."""
        return Track(times, self.at(times))

    def moved(self, world: Pose) -> Track:
        """The same motion after a rigid motion of the world."""
        return Track(self.times, world @ self.pose)


def still(pose: Pose, times: Float[np.ndarray, " T"]) -> Track:
    """A track that stays at one pose."""
    count = len(times)
    return Track(
        times,
        Pose(
            np.tile(pose.position, (count, 1)), np.tile(rotation.normalize(pose.wxyz), (count, 1))
        ),
    )
