"""Single poses that leap, and short gaps, mended along a smooth path through the other poses."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.track import Track
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.math.spline import PoseSpline

# By how much a pose that leaps is off the line between its neighbours, m; turns count at an arm's
# length from it, m.
_LEAP, _ARM = 0.01, 0.1
# And how many times as far as its neighbours are off theirs without it: fast motion is none.
_TIMES_NEIGHBOURS = 5.0
# Steps longer than so many usual ones, and shorter than this, s, are gaps.
_GAP_STEPS, _LONGEST_GAP = 2.5, 0.2
# Neighbours this far turned, rad, have no way between them that can be told.
_MOST_TURN = 3.0


def mended(track: Track) -> Track:
    """The track without leaps of single poses, and with poses in its short gaps.

    A track without either is returned as it is.

    Args:
        track: Of a wrist or a body.
    """
    keep = ~leaping_poses(track)
    times = track.times
    filled = _gap_times(times[keep])
    if keep.all() and filled.size == 0:
        return track
    pose = track.pose[keep]
    turn = np.asarray(rotation.angle(pose.wxyz[1:], pose.wxyz[:-1]))
    if turn.max(initial=0.0) > _MOST_TURN:
        return track
    path = PoseSpline(times[keep], pose)
    asked = np.union1d(times, filled)
    found = path.pose(asked)
    position, wxyz = found.position.copy(), found.wxyz.copy()
    own = np.searchsorted(asked, times[keep])
    position[own], wxyz[own] = pose.position, pose.wxyz
    return Track(asked, Pose.normalized(position, wxyz))


def leaping_poses(track: Track) -> Bool[np.ndarray, " T"]:
    """Which poses leap away from their neighbours and back; never the first or the last two."""
    count = len(track)
    leaps = np.zeros(count, dtype=bool)
    if count < 5:
        return leaps
    k = np.arange(2, count - 2)
    off = _off_line(track, k - 1, k, k + 1)
    # What the neighbours would be off their own lines if this pose were not there.
    calm = np.maximum(_off_line(track, k - 2, k - 1, k + 1), _off_line(track, k - 1, k + 1, k + 2))
    leaps[2:-2] = (off > _LEAP) & (off > _TIMES_NEIGHBOURS * calm)
    return leaps


def _off_line(
    track: Track, before: np.ndarray, at: np.ndarray, after: np.ndarray
) -> Float[np.ndarray, " N"]:
    """How far poses are off the straight way between two others, m."""
    times, pose = track.times, track.pose
    share = (times[at] - times[before]) / (times[after] - times[before])
    line = pose[before].interpolate(pose[after], share)
    way = np.linalg.norm(pose.position[at] - line.position, axis=1)
    return way + _ARM * np.asarray(rotation.angle(pose.wxyz[at], line.wxyz))


def _gap_times(times: Float[np.ndarray, " T"]) -> Float[np.ndarray, " N"]:
    """Times in short gaps, a usual step apart, s."""
    if len(times) < 4:
        return np.zeros(0)
    steps = np.diff(times)
    usual = float(np.median(steps))
    filled = [
        np.linspace(times[k], times[k + 1], round(float(steps[k]) / usual) + 1)[1:-1]
        for k in np.flatnonzero((steps > _GAP_STEPS * usual) & (steps <= _LONGEST_GAP))
    ]
    return np.concatenate([np.zeros(0), *filled])
