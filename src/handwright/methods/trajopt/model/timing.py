"""Which keys have times that are given, and when keys are.

Goals, strokes and spans in which hands may touch are for given times. A key at such a time stays
there; a time between two keys keeps both, and with them the phase. Phases between two keys that
stay share the time between them.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.problem import Problem
from handwright.methods.trajopt.model.model import Model

# Times this near to a key are at it, in phases.
_AT = 1e-6


def pinned_keys(problem: Problem, num_phases: int, *, is_free: bool) -> Bool[np.ndarray, " K"]:
    """Keys that stay where they are without shifts.

    Args:
        problem: With its times.
        num_phases: Of equal length without shifts.
        is_free: Whether other keys may move. All stay where a body spins: it is to be turned by a
            given angle at every moment.
    """
    begin, end = float(problem.times[0]), float(problem.times[-1])
    pinned = np.ones(num_phases + 1, dtype=bool)
    if is_free and all(goal.spin is None for goal in problem.goals):
        pinned[1:-1] = False
        spans = [(one.start, one.end) for one in problem.goals]
        spans += [(one.start, one.end) for one in problem.touches]
        spans += [(one.start, one.end) for one in problem.strokes]
        given = np.array(spans).ravel()
        at = np.clip((given - begin) / (end - begin), 0.0, 1.0) * num_phases
        pinned[np.floor(at + _AT).astype(int)] = True
        pinned[np.ceil(at - _AT).astype(int)] = True
    return pinned[:-1] if problem.is_cyclic else pinned


def key_times(model: Model, keys: Float[np.ndarray, "K n"]) -> Float[np.ndarray, " L"]:
    """When key states are, s from the start; with the end of the last phase also if cyclic."""
    times = model.phase_time * np.arange(len(model.clearance) + 1.0)
    times[: len(keys)] += keys[:, model.layout.shift]
    return times
