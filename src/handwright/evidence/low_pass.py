"""The low-pass over recorded tracks, as everything that differentiates them takes it.

A recording trembles, and what trembles seems to slide, to hit and to race. With a cut-off given,
the needed wrench, slips, speeds of approach and the limits of speed all rest on the same Gaussian.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.math.pose import Pose

_WIDTHS = 4.0
"""The Gaussian is cut off after so many standard deviations."""


class LowPass(NamedTuple):
    """A Gaussian over the frames of a motion."""

    times: Float[np.ndarray, " T"]
    """s."""
    sigma: float
    """s; 0 leaves everything as it is."""

    @staticmethod
    def at(times: Float[np.ndarray, " T"], cutoff_hz: float | None) -> LowPass:
        """With half power at a frequency; None for a low-pass that does nothing."""
        if cutoff_hz is None:
            return LowPass(times, 0.0)
        return LowPass(times, math.sqrt(math.log(2.0)) / (2.0 * math.pi * cutoff_hz))

    @property
    def most_frames(self) -> int:
        """How many frames at most lie within its reach, to one side."""
        until = np.searchsorted(self.times, self.times + _WIDTHS * self.sigma)
        return int((until - np.arange(len(until))).max(initial=0))

    def weight(self, away: Float[np.ndarray, " N"]) -> Float[np.ndarray, " N"]:
        """Weights of what is so long before or after, s; the largest is 1."""
        share = np.exp(-0.5 * (away / self.sigma) ** 2)
        return np.where(np.abs(away) <= _WIDTHS * self.sigma, share, 0.0)

    def values(self, values: Float[np.ndarray, "T C"]) -> Float[np.ndarray, "T C"]:
        """Columns after the low-pass; what is not finite stays, and parts what is on its sides."""
        known = np.isfinite(values)
        if self.sigma == 0.0 or not known.any():
            return values
        index = np.arange(len(self.times))
        ends = [self.times - _WIDTHS * self.sigma, self.times + _WIDTHS * self.sigma]
        first, after = np.searchsorted(self.times, ends)
        most = np.minimum(index - first, after - 1 - index)
        start, end = runs(known)
        frame, column = np.nonzero(known)
        # A window cut off on one side would pull what it smooths to the other.
        sides = (most[frame], frame - start[frame, column], end[frame, column] - frame)
        reach = np.maximum(np.minimum.reduce(sides), 0)
        total, weight = np.zeros(len(frame)), np.zeros(len(frame))
        for shift in range(-int(reach.max()), int(reach.max()) + 1):
            rows = np.flatnonzero(np.abs(shift) <= reach)
            at = frame[rows] + shift
            share = np.exp(-0.5 * ((self.times[at] - self.times[frame[rows]]) / self.sigma) ** 2)
            total[rows] += share * values[at, column[rows]]
            weight[rows] += share
        out = values.copy()
        out[frame, column] = total / weight
        return out

    def poses(self, pose: Pose) -> Pose:
        """(T,) poses after the low-pass."""
        if self.sigma == 0.0:
            return pose
        wxyz = pose.wxyz.copy()
        flips = np.sign(np.einsum("ti,ti->t", wxyz[1:], wxyz[:-1]))
        wxyz[1:] *= np.cumprod(np.where(flips < 0, -1.0, 1.0))[:, None]
        both = self.values(np.concatenate([pose.position, wxyz], axis=1))
        return Pose.normalized(both[:, :3], both[:, 3:])


def runs(
    lasts: Bool[np.ndarray, "T C"],
) -> tuple[Int[np.ndarray, "T C"], Int[np.ndarray, "T C"]]:
    """First and last frame of the unbroken run that each frame of each column is in.

    Outside a run the first is after the last.
    """
    rows = np.arange(len(lasts))[:, None]
    first = np.maximum.accumulate(np.where(lasts, -1, rows), axis=0) + 1
    last = np.minimum.accumulate(np.where(lasts, len(lasts), rows)[::-1], axis=0)[::-1] - 1
    return first, last
