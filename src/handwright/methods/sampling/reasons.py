"""Why a problem cannot be solved at all, told before any search."""

from __future__ import annotations

import numpy as np

from handwright.core.problem import Problem
from handwright.methods.sampling.prepare import Prepared


def why_not(problem: Problem, prepared: list[Prepared]) -> str | None:
    """A sentence on what is wrong, where, and what to change; None if a search makes sense."""
    if not prepared:
        return (
            "No body needs a hand, or no hand comes near one that does: nothing to solve. Check "
            "that the body's track leaves its support and that the wrist's track is near it."
        )
    for one in prepared:
        body = problem.bodies[one.holding.body]
        if body.friction <= 0.0:
            return (
                f"Body '{one.holding.body}' has friction 0: no grip can hold it against gravity "
                f"at frame {one.holding.start}. Give it friction."
            )
        touched = np.isfinite(one.candidates.cost).any(axis=1)
        if not touched.any():
            return (
                f"Body '{one.holding.body}' is out of reach of every finger from frame "
                f"{one.start} to {one.stop - 1}. Bring the wrist nearer, or check the frames and "
                "units of the tracks."
            )
    return None
