"""Digits in each other, and depth in a few numbers."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from handwright.core.certificate import Certificate
from handwright.core.hand import HandModel
from handwright.geometry.distance.capsules import capsule_pairs
from handwright.kinematics.fk import posed_capsules


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


def penetration_of(certificate: Certificate) -> Float[np.ndarray, " T"]:
    """Deepest skin, or body in the surroundings, in each frame, m."""
    return np.array(
        [
            max((record.penetration for record in frame.bodies.values()), default=0.0)
            for frame in certificate.frames
        ]
    )


def finger_finger(
    model: HandModel, q: Float[np.ndarray, "T J"]
) -> tuple[Float[np.ndarray, " T"], list[str]]:
    """How deep a digit's capsule is in another digit's, m, and which two are deepest."""
    digit = model.capsules.digit
    pairs = np.array(
        [(a, b) for a, b in combinations(range(len(digit)), 2) if 0 <= digit[a] != digit[b] >= 0],
        dtype=np.int64,
    )
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
