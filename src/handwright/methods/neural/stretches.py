"""Which body each hand senses, and when: a hand may handle one thing after another."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.problem import Problem
from handwright.errors import InvalidValueError
from handwright.methods.neural.sensing.resampling import even_times
from handwright.methods.neural.sensing.view import palm_distances

# How much nearer another body has to be before a hand turns to it, m.
_NEARER = 0.02


class Stretch(NamedTuple):
    """Frames in which no hand turns to another body."""

    first: int
    end: int
    """The frame after the last."""
    objects: Mapping[str, str]
    """The body that each hand senses, by the name of the hand."""


def sensed_stretches(problem: Problem) -> list[Stretch]:
    """The stretches of a problem, at 60 frames a second: each hand senses the nearest body.

    Args:
        problem: With tracks of all wrists and bodies.
    """
    times = even_times(problem.times)
    poses = {name: track.at(times) for name, track in problem.tracks.items()}
    bodies = {name: body for name, body in problem.bodies.items() if name in poses}
    if not bodies:
        raise InvalidValueError(
            f"Problem '{problem.name}' has no body with a track; expected one or more. Give one."
        )
    chosen = {
        name: _nearest(palm_distances(model, poses[name], bodies, poses))
        for name, model in problem.hands.items()
        if name in poses
    }
    if len(bodies) < 2 or not chosen:
        return [Stretch(0, len(times), {name: row[0] for name, row in chosen.items()})]
    changes = np.any([np.array(row[1:]) != np.array(row[:-1]) for row in chosen.values()], axis=0)
    bounds = [0, *(1 + np.flatnonzero(changes)).tolist(), len(times)]
    return [
        Stretch(first, end, {name: row[first] for name, row in chosen.items()})
        for first, end in pairwise(bounds)
    ]


def _nearest(gaps: Mapping[str, Float[np.ndarray, " T"]]) -> list[str]:
    """Name of the nearest body in each frame; a little nearer is not enough for a change."""
    names, rows = list(gaps), np.stack(list(gaps.values()), axis=1)
    now, found = int(rows[0].argmin()), []
    for row in rows:
        best = int(row.argmin())
        if row[best] < row[now] - _NEARER:
            now = best
        found.append(names[now])
    return found
