"""Times of keys: which of them are given, and what they are.

Goals, strokes and touch spans have given times. A key at such a time is pinned to it; a given time
between two keys pins both, and with them their phase. Phases between two pinned keys share the time
between them.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.problem import Problem
from handwright.methods.trajopt.model.model import Model

# Times this near to a key count as its own, in phases.
_AT = 1e-6


def pinned_keys(problem: Problem, num_phases: int, *, is_free: bool) -> Bool[np.ndarray, " K"]:
    """Keys that must keep their unshifted times.

    Args:
        problem: Its goals, touch spans and strokes have given times.
        num_phases: Number of phases, of equal length without shifts.
        is_free: Whether other keys may be shifted. No key may where a body spins, because its
            rotation is prescribed at every moment.
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
    """Times of the keys from the start, s; a cyclic motion has the end of its last phase too."""
    times = model.phase_time * np.arange(model.num_phases + 1.0)
    times[: len(keys)] += keys[:, model.layout.shift]
    return times
