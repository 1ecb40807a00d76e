"""Wrists moved within bounds, so that palms and near phalanges leave the bodies."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from handwright.conditioning.settings import Conditioning
from handwright.conditioning.wrist_offset import Fit, OffsetSpline
from handwright.conditioning.wrist_parts import Slopes, depth_slopes, sight_of, wrist_parts
from handwright.core.problem import Problem
from handwright.core.track import Track
from handwright.geometry.distance.sdf import Field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.regions.hollows import filled_field
from handwright.math import rotation
from handwright.math.pose import Pose

# Time between knots of an offset, s, and how often it is looked at between two of them.
_KNOTS, _LOOKS = 0.5, 15


def moved_wrists(
    problem: Problem, tracks: Mapping[str, Track], settings: Conditioning
) -> dict[str, Track]:
    """Tracks of the hands that had to be moved, by name.

    Hands whose root is no wrist, because they have an arm, stay where they are.

    Args:
        problem: Its hands and bodies.
        tracks: Of hands and bodies.
        settings: Bounds.
    """
    fields = {name: _field_of(problem, name, settings) for name in problem.bodies if name in tracks}
    moved = {}
    for name, model in problem.hands.items():
        if name not in tracks or model.wrist_link != 0 or not fields:
            continue
        offset = _fit(problem, tracks, name, fields, settings).solve()
        if offset is not None:
            moved[name] = _applied(tracks[name], offset)
    return moved


def _field_of(problem: Problem, name: str, settings: Conditioning) -> Field:
    body = problem.bodies[name]
    field = signed_distance_field(body)
    return filled_field(body, field) if settings.hollows_are_solid else field


def _fit(
    problem: Problem,
    tracks: Mapping[str, Track],
    hand: str,
    fields: Mapping[str, Field],
    settings: Conditioning,
) -> Fit:
    """The least squares of one hand, with all bodies that have a track."""
    begin, end = float(problem.times[0]), float(problem.times[-1])
    pieces = max(1, math.ceil((end - begin) / _KNOTS - 1e-9))
    # Looked at as often whatever the frame rate is.
    times = np.linspace(begin, end, _LOOKS * pieces + 1)
    wrist, parts = tracks[hand].at(times), wrist_parts(problem.hands[hand])
    sights = [sight_of(field, tracks[name].at(times), wrist) for name, field in fields.items()]

    def slopes(offset: Float[np.ndarray, "T 6"]) -> Slopes:
        found = [depth_slopes(parts, sight, offset, settings.wrist_depth) for sight in sights]
        return Slopes(*(np.sum(column, axis=0) for column in zip(*found, strict=True)))

    spacing = (end - begin) / pieces if end > begin else _KNOTS
    return Fit(times, spacing, pieces + 3, settings.wrist_shift, settings.wrist_turn, slopes)


def _applied(track: Track, offset: OffsetSpline) -> Track:
    values = offset.at(track.times)
    return Track(track.times, track.pose @ Pose(values[:, :3], rotation.exp(values[:, 3:])))
