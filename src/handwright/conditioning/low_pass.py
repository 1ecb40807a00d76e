"""A low-pass over all tracks of a problem that may move no pose farther than its bounds.

Each value is that of a straight line fitted to its neighbours with the weights of a Gaussian, and
what the fit leaves is passed through the same fit once more ("twicing"): slow motion then passes
nearly unchanged, where a Gaussian alone cuts corners. With g(f) the share of a wave of frequency f
that one fit keeps, both keep 2 g - g^2, half of the power at the cut-off.

Where the low-pass would move any track farther than the bounds, all tracks are blended back to what
was given, together, so that hands keep their places on what they hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.track import Track
from handwright.math import rotation
from handwright.math.pose import Pose

# The Gaussian is cut off after so many standard deviations.
_WIDTHS = 4.0
# Time over which tracks are blended back to what was given, s.
_BLEND = 0.15


class Bounds(NamedTuple):
    """How far the low-pass may move and turn a pose."""

    shift: float
    """m."""
    turn: float
    """rad."""


def smoothing_width(cutoff_hz: float) -> float:
    """Standard deviation, s, of the Gaussian with which half of the power is left at a cut-off."""
    kept = 1.0 - math.sqrt(1.0 - math.sqrt(0.5))
    return math.sqrt(-2.0 * math.log(kept)) / (2.0 * math.pi * cutoff_hz)


def smoothed(
    tracks: Mapping[str, Track],
    centers: Mapping[str, Float[np.ndarray, "3"]],
    left: Mapping[str, Bool[np.ndarray, " T"]],
    cutoff_hz: float,
    bounds: Bounds,
) -> dict[str, Track]:
    """Tracks after the low-pass.

    Args:
        tracks: By name.
        centers: Point of each whose path is smoothed and bounded, in its own frame, m.
        left: Frames of each in which everything is left as it is.
        cutoff_hz: Frequency at which half of the power is left.
        bounds: For all of them.
    """
    sigma = smoothing_width(cutoff_hz)
    smooth = {name: _low_pass(track, centers[name], sigma) for name, track in tracks.items()}
    far = [
        track.times[left[name] | _is_beyond(track.pose, smooth[name], centers[name], bounds)]
        for name, track in tracks.items()
    ]
    fixed = np.unique(np.concatenate(far)) if far else np.zeros(0)
    return {
        name: _blended(track, smooth[name], centers[name], _weights(track.times, fixed))
        for name, track in tracks.items()
    }


def _is_beyond(
    given: Pose, smooth: Pose, center: Float[np.ndarray, "3"], bounds: Bounds
) -> Bool[np.ndarray, " T"]:
    shift = np.linalg.norm(smooth.apply(center) - given.apply(center), axis=1)
    turn = np.asarray(rotation.angle(given.wxyz, smooth.wxyz))
    return (shift > bounds.shift) | (turn > bounds.turn)


def _weights(
    times: Float[np.ndarray, " T"], fixed: Float[np.ndarray, " N"]
) -> Float[np.ndarray, " T"]:
    """Share of the low-pass at each time: 0 at those that are fixed, 1 far from all of them."""
    if fixed.size == 0:
        return np.ones(len(times))
    after = np.searchsorted(fixed, times)
    away = np.minimum(
        np.abs(times - fixed[np.maximum(after - 1, 0)]),
        np.abs(times - fixed[np.minimum(after, len(fixed) - 1)]),
    )
    share = np.clip(away / _BLEND, 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def _blended(
    track: Track, smooth: Pose, center: Float[np.ndarray, "3"], weight: Float[np.ndarray, " T"]
) -> Track:
    wxyz = rotation.slerp(track.pose.wxyz, smooth.wxyz, weight)
    path = track.pose.apply(center)
    path = path + weight[:, None] * (smooth.apply(center) - path)
    return Track(track.times, Pose.normalized(path - rotation.rotate(wxyz, center), wxyz))


def _low_pass(track: Track, center: Float[np.ndarray, "3"], sigma: float) -> Pose:
    """Poses after the low-pass, turned about a point in their own frame."""
    wxyz = track.pose.wxyz.copy()
    flips = np.sign(np.einsum("ti,ti->t", wxyz[1:], wxyz[:-1]))
    wxyz[1:] *= np.cumprod(np.where(flips < 0, -1.0, 1.0))[:, None]
    values = np.concatenate([track.pose.apply(center), wxyz], axis=1)
    once = _fitted(track.times, values, sigma)
    both = once + _fitted(track.times, values - once, sigma)
    turned = rotation.normalize(both[:, 3:])
    return Pose.normalized(both[:, :3] - rotation.rotate(turned, center), turned)


def _fitted(
    times: Float[np.ndarray, " T"], values: Float[np.ndarray, "T C"], sigma: float
) -> Float[np.ndarray, "T C"]:
    """Lines fitted around each time, at that time; beyond either end the motion is turned over."""
    count, reach = len(times), _WIDTHS * sigma
    more = min(int(np.searchsorted(times, times[0] + reach)), count - 1)
    less = min(count - int(np.searchsorted(times, times[-1] - reach)), count - 1)
    first, last = np.arange(more, 0, -1), np.arange(count - 2, count - 2 - less, -1)
    when = np.concatenate([2.0 * times[0] - times[first], times, 2.0 * times[-1] - times[last]])
    what = np.concatenate(
        [2.0 * values[0] - values[first], values, 2.0 * values[-1] - values[last]]
    )
    moments = np.zeros((3, count))
    sums = np.zeros((2, count, values.shape[1]))
    most = int((np.searchsorted(when, when + reach) - np.arange(len(when))).max(initial=0))
    for shift in range(-most, most + 1):
        rows = np.arange(more, more + count) + shift
        inside = (rows >= 0) & (rows < len(when))
        rows = np.clip(rows, 0, len(when) - 1)
        away = when[rows] - times
        weight = np.where(inside & (np.abs(away) <= reach), np.exp(-0.5 * (away / sigma) ** 2), 0.0)
        for power in range(3):
            moments[power] += weight * away**power
        sums[0] += weight[:, None] * what[rows]
        sums[1] += (weight * away)[:, None] * what[rows]
    # Straight lines stay as they are, however unevenly they are sampled.
    slope = np.where(moments[2] > 0.0, moments[1] / np.maximum(moments[2], 1e-300), 0.0)
    top = sums[0] - slope[:, None] * sums[1]
    return np.asarray(top / (moments[0] - slope * moments[1])[:, None])
