"""Bodies that are capsules or balls, told from the points of their surface."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

# A body is a capsule if no vertex is further than this from it, m.
_ROUND_ENOUGH = 2e-4


def fit_rod(
    points: Float[np.ndarray, "V 3"],
) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"], float] | None:
    """Ends of the axis and radius of the capsule, or ball, that points lie on; else None."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    from_middle = np.linalg.norm(points - middle, axis=1)
    if np.ptp(from_middle) <= 2.0 * _ROUND_ENOUGH:
        return middle, middle, float(from_middle.mean())
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    along = points @ axes[0]
    across = points @ axes[1:].T
    center = 0.5 * (across.min(axis=0) + across.max(axis=0))
    radius = 0.5 * float(np.ptp(across, axis=0).max())
    if np.ptp(along) <= 2.0 * radius:
        return None
    low, high = along.min() + radius, along.max() - radius
    off = along - np.clip(along, low, high)
    distance = np.hypot(np.linalg.norm(across - center, axis=1), off)
    if np.abs(distance - radius).max() > _ROUND_ENOUGH:
        return None
    foot = center @ axes[1:]
    return foot + low * axes[0], foot + high * axes[0], radius
