"""The problem that a play poses: all tracks are given, the fingers are wanted."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.sdf import sample_field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.learning.data.play import Play
from handwright.learning.data.stage import (
    TABLE_HEIGHT,
    UnnaturalError,
    arm_strain,
    hand_model,
    work_table,
)
from handwright.math.pose import Pose

# How far a thing may sink into the table, m, and how near things may come to each other, m.
_SUNK, _APART = 2e-4, 0.004
# Strain of an arm on its whole way, a little more than where it rests; and every how many frames
# it is looked at.
_STRAIN, _STRIDE = 6.0, 6
# The lowest that the middle of a wrist may be above the table, m.
_WRIST = 0.022


def problem_of(play: Play, name: str) -> Problem:
    """The problem of a play.

    Args:
        play: What happens.
        name: Of the problem.

    Raises:
        UnnaturalError: If things go through each other, or no arm can follow.
    """
    times, poses = play.times(), play.tracks()
    for key, prop in play.props.items():
        low = poses[key][:, None].apply(prop.body.vertices)[..., 2].min()
        if low < TABLE_HEIGHT - _SUNK:
            raise UnnaturalError("a thing goes through the table")
    for one, other in combinations(play.props, 2):
        _check_apart(play, poses, one, other)
    for side in play.actors:
        track = poses[side]
        if track.position[:, 2].min() < TABLE_HEIGHT + _WRIST:
            raise UnnaturalError("a wrist goes through the table")
        if arm_strain(side, *(track[t] for t in range(0, len(times), _STRIDE))) > _STRAIN:
            raise UnnaturalError("no arm can follow")
    return Problem(
        name=name,
        times=times,
        hands={side: hand_model(side) for side in play.actors},
        bodies={key: prop.body for key, prop in play.props.items()},
        tracks={key: Track(times, pose) for key, pose in poses.items()},
        environment=(work_table(),),
    )


def _check_apart(play: Play, poses: dict[str, Pose], one: str, other: str) -> None:
    field = signed_distance_field(play.props[other].body)
    seen = poses[other].inverse() @ poses[one]
    points = seen[::2, None].apply(play.props[one].body.vertices[::4]).reshape(-1, 3)
    if float(sample_field(field, np.ascontiguousarray(points))[0].min()) < _APART:
        raise UnnaturalError("things go through each other")
