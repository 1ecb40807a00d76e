"""Digits in each other, and depth in a few numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.geometry.distance.capsules import capsule_pairs
from handwright.kinematics import posed_capsules
from handwright.kinematics.ik.digit_table import digit_pairs


class Depth(NamedTuple):
    """Depths over the frames of a motion."""

    max: float
    p95: float
    mean: float


def depth_summary(depth: Float[np.ndarray, " T"]) -> Depth:
    """Largest, 95th percentile and mean of the deepest depth in each frame."""
    if depth.size == 0:
        return Depth(0.0, 0.0, 0.0)
    return Depth(float(depth.max()), float(np.percentile(depth, 95)), float(depth.mean()))


def finger_finger(
    model: HandModel, q: Float[np.ndarray, "T J"]
) -> tuple[Float[np.ndarray, " T"], list[str]]:
    """How deep a digit's capsule is in another digit's, m, and which two are deepest."""
    pairs = digit_pairs(model)
    depth, names = np.zeros(len(q)), [""] * len(q)
    if len(pairs) == 0:
        return depth, names
    posed = posed_capsules(model, q)
    radii = np.repeat(posed.radius[:, None], 2, axis=1)
    gaps, parameters = np.zeros(len(pairs)), np.zeros((len(pairs), 2))
    for t in range(len(q)):
        start, end = np.ascontiguousarray(posed.start[t]), np.ascontiguousarray(posed.end[t])
        capsule_pairs(start, end, radii, pairs, gaps, parameters)
        worst = int(gaps.argmin())
        if gaps[worst] < 0.0:
            depth[t] = -gaps[worst]
            names[t] = " in ".join(model.capsules.names[c] for c in pairs[worst])
    return depth, names
