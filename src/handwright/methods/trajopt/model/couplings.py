"""Joints that people do not move independently, and which joints drive them.

A human hand has 30 joints here, but its posture varies in far fewer ways: the last joint of a
finger bends with the one before it, and the bones of the palm hardly move (Santello et al. 1998).
Coordinates are the values of the joints that remain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel

# Flexion of a finger's last joint per unit of flexion of the joint before it.
_LAST_BEND = 2.0 / 3.0


class Couplings(NamedTuple):
    """How coordinates drive the joints of a hand: value = ratio * coordinate + bias."""

    driver: Int[np.ndarray, " J"]
    """Coordinate that drives each joint; -1 for joints that stay at their bias."""
    ratio: Float[np.ndarray, " J"]
    """Factor of the equation above."""
    bias: Float[np.ndarray, " J"]
    """Constant of the equation above, rad or m."""
    leading: Int[np.ndarray, " N"]
    """For each coordinate, the joint whose value it is."""


def couple_joints(model: HandModel, q: Float[np.ndarray, " J"], *, is_coupled: bool) -> Couplings:
    """Chooses the coordinates of a hand.

    Args:
        model: The hand; joints that follow others in the model always do.
        q: Joint values at the start; joints without a coordinate keep them.
        is_coupled: Whether fingertips follow the joints before them and the bones of the palm do
            not move, in hands that have joints of these names.
    """
    tree = model.joints
    leader, ratio, bias = tree.leader.copy(), tree.ratio.copy(), tree.bias.copy()
    stays = np.zeros(len(tree), dtype=bool)
    if is_coupled:
        for j, name in enumerate(tree.names):
            if name.endswith("_dip_flexion"):
                before = name.replace("_dip_", "_pip_")
                if before in tree.names and leader[j] < 0:
                    leader[j], ratio[j] = tree.index(before), _LAST_BEND
                    # The hand has the given posture at the start.
                    bias[j] = q[j] - _LAST_BEND * q[leader[j]]
            elif "_cmc_" in name and not name.startswith("thumb"):
                stays[j] = True
    leading = np.flatnonzero((leader < 0) & ~stays)
    number = np.full(len(tree), -1)
    number[leading] = np.arange(len(leading))
    driver = np.where(leader >= 0, number[leader], number)
    ratio = np.where(leader >= 0, ratio, 1.0)
    bias = np.where(leader >= 0, bias, 0.0)
    still = driver < 0
    return Couplings(driver, ratio, np.where(still, q, bias), leading)


def coordinate_limits(
    model: HandModel, couplings: Couplings
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
    """Limits of the coordinates that keep every joint that they drive within its own."""
    count = len(couplings.leading)
    lower, upper = np.full(count, -np.inf), np.full(count, np.inf)
    tree = model.joints
    for j in range(len(tree)):
        d, ratio = couplings.driver[j], couplings.ratio[j]
        if d < 0 or ratio == 0.0:
            continue
        ends = sorted(
            (
                (tree.lower[j] - couplings.bias[j]) / ratio,
                (tree.upper[j] - couplings.bias[j]) / ratio,
            )
        )
        lower[d], upper[d] = max(lower[d], ends[0]), min(upper[d], ends[1])
    return lower, upper
