"""Limits of joints that follow others."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from handwright.errors import InvalidValueError


def narrowed_leaders(
    limits: Float[np.ndarray, "J 2"],
    leader: Int[np.ndarray, " J"],
    ratio: Float[np.ndarray, " J"],
    bias: Float[np.ndarray, " J"],
    *,
    names: tuple[str, ...],
    owner: str,
) -> Float[np.ndarray, "J 2"]:
    """Limits within which leaders keep all their followers within limits, as a real linkage does.

    Args:
        limits: Least and largest value of each joint, rad or m.
        leader: Joint that each joint follows; -1 for a joint of its own.
        ratio: A follower's value for each unit of its leader's.
        bias: A follower's value at its leader's zero, rad or m.
        names: Of the joints.
        owner: What the joints belong to, for messages.
    """
    narrowed = limits.copy()
    for follower in np.flatnonzero((leader >= 0) & (ratio != 0.0)):
        ends = np.sort((limits[follower] - bias[follower]) / ratio[follower])
        own = narrowed[leader[follower]]
        low, high = max(own[0], ends[0]), min(own[1], ends[1])
        if low > high:
            raise InvalidValueError(
                f"'{owner}': '{names[follower]}' follows '{names[leader[follower]]}', but there is "
                f"no place for both within their limits: the leader has {own.tolist()}, the "
                f"follower needs it in {ends.tolist()}. Give other limits or another coupling."
            )
        narrowed[leader[follower]] = low, high
    return narrowed
