"""Timed poses of one thing as they come, and the same thing at even times.

Between poses that are near each other in time a thing follows a cubic Hermite curve with slopes of
the parabola through each pose and its neighbours, as tracks do that are resampled as a whole.
Across a gap it moves evenly; if the gap is longer than a limit, it stands still first. Before its
first pose and after its last one it stands still.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.kernels.decorators import compiled, inlined, kernel
from handwright.kernels.packed import Packed

SAME_MOMENT = 1e-3
"""Time stamps nearer to each other than this are of the same moment, s."""
LONGEST_CURVED = 0.05
"""Time between poses up to which a curve is laid through them, s."""
CAPACITY = 4096
"""Poses that a stream holds; when it is full, the oldest go."""
# Three numbers of a place and four of a quaternion wxyz.
_WIDTH = 7


class EvenPoses(NamedTuple):
    """A thing at even times."""

    rotation: Float[np.ndarray, "T 3 3"]
    """Maps the thing's frame to the world."""
    position: Float[np.ndarray, "T 3"]
    """m."""
    wxyz: Float[np.ndarray, "T 4"]
    """The rotation as unit quaternions."""


class _Samples(NamedTuple):
    times: np.ndarray
    """(CAPACITY,) s, increasing."""
    values: np.ndarray
    """(CAPACITY, 7) places (m) and quaternions wxyz, each on the side of the one before."""


class PoseStream:
    """Poses of one thing, in order of their times."""

    __slots__ = ("_count", "_packed", "_samples")

    def __init__(self) -> None:
        self._samples = _Samples(np.zeros(CAPACITY), np.zeros((CAPACITY, _WIDTH)))
        self._packed = Packed(self._samples)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Forgets all poses."""
        self._count = 0

    def add(self, time: float, pose: Float[np.ndarray, "7"]) -> bool:
        """Takes a pose; False if that moment is known already.

        Args:
            time: s.
            pose: Place (m) and unit quaternion wxyz.
        """
        times, values = self._samples
        at = int(np.searchsorted(times[: self._count], time))
        for near in (at - 1, at):
            if 0 <= near < self._count and abs(times[near] - time) < SAME_MOMENT:
                return False
        if self._count == CAPACITY:
            self._drop(1)
            at = max(at - 1, 0)
        times[at + 1 : self._count + 1] = times[at : self._count]
        values[at + 1 : self._count + 1] = values[at : self._count]
        times[at], values[at] = time, pose
        self._count += 1
        _align(values, max(at, 1), self._count)
        return True

    def forget(self, before: float) -> None:
        """Drops what no time from ``before`` on depends on, s."""
        times = self._samples.times
        # Two poses before it take part in the curve at that time.
        self._drop(max(int(np.searchsorted(times[: self._count], before)) - 2, 0))

    def _drop(self, count: int) -> None:
        if count:
            left = self._count - count
            for array in self._samples:
                array[:left] = array[count : self._count]
            self._count = left

    def is_held(self, time: float, longest_gap: float) -> bool:
        """Whether the thing stands still at a time for want of poses.

        Args:
            time: s.
            longest_gap: Longest time between two poses that is filled in, s.
        """
        times, count = self._samples.times, self._count
        after = int(np.searchsorted(times[:count], time))
        if after < count and times[after] - time < SAME_MOMENT:
            return False
        if after == 0:
            return True
        if after == count:
            return bool(time - times[after - 1] > longest_gap)
        return bool(times[after] - time > longest_gap)

    def at_even_times(
        self, first: float, step: float, count: int, *, longest_gap: float
    ) -> EvenPoses:
        """Where the thing is at even times.

        Args:
            first: The first of them, s.
            step: From each to the next, s.
            count: How many.
            longest_gap: Longest time between two poses that is filled in, s.
        """
        even = EvenPoses(np.zeros((count, 3, 3)), np.zeros((count, 3)), np.zeros((count, 4)))
        _resample(self._packed, self._count, (first, step, longest_gap), even)
        return even


@kernel
def _align(values: np.ndarray, begin: int, end: int) -> None:
    """Puts each quaternion on the side of the one before it, so that numbers can be joined."""
    for n in range(begin, end):
        dot = 0.0
        for i in range(3, _WIDTH):
            dot += values[n, i] * values[n - 1, i]
        if dot < 0.0:
            for i in range(3, _WIDTH):
                values[n, i] = -values[n, i]


@inlined
def _slope(samples: _Samples, count: int, n: int, i: int) -> float:
    """Of the parabola through a pose and its neighbours; of the chord at both ends."""
    times, values = samples.times, samples.values
    before = after = 0.0
    if n > 0:
        before = (values[n, i] - values[n - 1, i]) / (times[n] - times[n - 1])
    if n + 1 < count:
        after = (values[n + 1, i] - values[n, i]) / (times[n + 1] - times[n])
    if n == 0:
        return after
    if n + 1 == count:
        return before
    h, k = times[n] - times[n - 1], times[n + 1] - times[n]
    return (k * before + h * after) / (h + k)


@inlined
def _between(samples: _Samples, count: int, n: int, i: int, share: float) -> float:
    """One number at a share of the way from pose ``n`` to the next one."""
    start, end = samples.values[n, i], samples.values[n + 1, i]
    h = samples.times[n + 1] - samples.times[n]
    if h > LONGEST_CURVED:
        return start + share * (end - start)
    a, b = h * _slope(samples, count, n, i), h * _slope(samples, count, n + 1, i)
    step = end - start
    return start + share * (a + share * (3.0 * step - 2.0 * a - b + share * (a + b - 2.0 * step)))


@inlined
def _store(numbers: np.ndarray, row: int, even: EvenPoses) -> None:
    """Writes a place and a quaternion of any length as a row of poses."""
    for i in range(3):
        even.position[row, i] = numbers[i]
    w, x, y, z = numbers[3], numbers[4], numbers[5], numbers[6]
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / norm, x / norm, y / norm, z / norm
    even.wxyz[row, 0], even.wxyz[row, 1], even.wxyz[row, 2], even.wxyz[row, 3] = w, x, y, z
    rotation = even.rotation
    rotation[row, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    rotation[row, 0, 1] = 2.0 * (x * y - w * z)
    rotation[row, 0, 2] = 2.0 * (x * z + w * y)
    rotation[row, 1, 0] = 2.0 * (x * y + w * z)
    rotation[row, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    rotation[row, 1, 2] = 2.0 * (y * z - w * x)
    rotation[row, 2, 0] = 2.0 * (x * z - w * y)
    rotation[row, 2, 1] = 2.0 * (y * z + w * x)
    rotation[row, 2, 2] = 1.0 - 2.0 * (x * x + y * y)


@compiled
def _resample(
    samples: _Samples, count: int, clock: tuple[float, float, float], even: EvenPoses
) -> None:
    """Fills poses at even times; the clock is the first time, the step, and the longest gap."""
    first, step, longest_gap = clock
    row = np.zeros(_WIDTH)
    n = 0
    for m in range(even.position.shape[0]):
        time = first + m * step
        while n + 1 < count and samples.times[n + 1] <= time:
            n += 1
        for i in range(_WIDTH):
            row[i] = samples.values[n, i]
        if n + 1 < count and time > samples.times[n]:
            end = samples.times[n + 1]
            # In a long gap it stands still until there is just time enough to get to its end.
            span = min(end - samples.times[n], longest_gap)
            share = 1.0 - (end - time) / span
            if share > 0.0:
                for i in range(_WIDTH):
                    row[i] = _between(samples, count, n, i, share)
        _store(row, m, even)
