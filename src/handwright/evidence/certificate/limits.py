"""Joints beyond their limits, and faster than fingers move."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel


def limit_excess(
    model: HandModel, q: Float[np.ndarray, "T J"]
) -> tuple[Float[np.ndarray, " T"], list[str]]:
    """The largest excess over a limit in each frame (rad; m for a slide), and whose it is."""
    excess = np.maximum(model.joints.lower - q, q - model.joints.upper)
    worst = excess.argmax(axis=1)
    names = [model.joints.names[j] for j in worst]
    return np.maximum(excess[np.arange(len(q)), worst], 0.0), names


def joint_speeds(
    q: Float[np.ndarray, "T J"], times: Float[np.ndarray, " T"]
) -> Float[np.ndarray, "S J"]:
    """Speeds of the joints between frames, rad/s (m/s for a slide)."""
    return np.abs(np.diff(q, axis=0)) / np.diff(times)[:, None]
