"""Power and precision grips: how much a finger wraps around the body at a candidate.

A power grip presses with palm and near phalanges too and takes all fingers; a precision grip has
pads only, and few of them. The palm goes where the wrist's track takes it; what is chosen here
are candidates, the number of fingers, and the weight of force at near phalanges and palm.
"""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.sdf import field_value
from handwright.kernels.decorators import compiled
from handwright.kernels.packed import Packed
from handwright.kinematics.ik.digit import place_digit
from handwright.kinematics.ik.digit_table import Rig
from handwright.kinematics.tree import placed
from handwright.methods.sampling.constraints.preferences import Grip
from handwright.methods.sampling.search.posing import place_hands
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.candidates import Candidates
from handwright.methods.sampling.setup.hold_data import HoldData

# Discomfort of a candidate that does not suit the grip at all; postures have 0 to 1 or so.
_UNSUITED_COST = 2.0
# Length over which a phalanx ceases to count as near the body, m.
_NEAR = 0.006
# Weight of force where the grip does not want it.
_UNWANTED_FORCE_WEIGHT = 4.0
# Least probability that a finger takes no part in a precision grip.
_LEAST_IDLE_PROBABILITY = 0.4


def idle_finger_probability(grip: Grip, leave_free: float) -> float:
    """Probability that a finger takes no part in the first grasp."""
    if grip == "any":
        return leave_free
    return 0.0 if grip == "power" else max(leave_free, _LEAST_IDLE_PROBABILITY)


def capsule_force_weights(data: HoldData, grip: Grip) -> np.ndarray:
    """(C,) weight of force at each capsule of the hands, where forces leave a choice."""
    digit = data.digit_of_capsule
    is_distal = (digit >= 0) & (data.table.capsule_link == data.pad_link[np.maximum(digit, 0)])
    is_unwanted = {"any": np.zeros_like(is_distal), "power": is_distal, "precision": ~is_distal}[
        grip
    ]
    return np.where(is_unwanted, _UNWANTED_FORCE_WEIGHT, 1.0)


def penalise_unsuited(
    data: HoldData, work: Workspace, candidates: Candidates, grip: Grip
) -> Candidates:
    """Adds a cost to candidates that do not suit the grip."""
    if grip == "any":
        return candidates
    wrap = np.zeros(candidates.cost.shape)
    _measure_wrap(Packed(data), Packed(work), candidates.frame, candidates.cost, candidates.q, wrap)
    return candidates._replace(
        cost=candidates.cost + _UNSUITED_COST * (1.0 - wrap if grip == "power" else wrap)
    )


@compiled
def _measure_wrap(
    data: HoldData,
    work: Workspace,
    frames: np.ndarray,
    cost: np.ndarray,
    q: np.ndarray,
    wrap: np.ndarray,
) -> None:
    """Writes how near the phalanges behind the last are to the body, 0 to 1, as their mean."""
    table, values = data.table, work.spare
    for k in range(frames.shape[0]):
        for j in range(values.shape[0]):
            values[j] = data.rest[j]
        place_hands(data, frames[k], values, work.now)
        for d in range(cost.shape[0]):
            for m in range(cost.shape[1]):
                if not cost[d, m, k] < np.inf:
                    continue
                a = 0
                while table.free[d, a] >= 0:
                    values[table.free[d, a]] = q[d, m, k, a]
                    a += 1
                place_digit(Rig(data.tree, table), work.now, d, values)
                total = count = 0.0
                for i in range(table.capsule.shape[1]):
                    c = table.capsule[d, i]
                    if c < 0:
                        break
                    link = table.capsule_link[c]
                    if link == data.pad_link[d]:
                        continue
                    gap = np.inf
                    for n in range(3):
                        s = 0.5 * n
                        x, y, z = placed(
                            work.now,
                            link,
                            table.capsule_start[c, 0] * (1.0 - s) + table.capsule_end[c, 0] * s,
                            table.capsule_start[c, 1] * (1.0 - s) + table.capsule_end[c, 1] * s,
                            table.capsule_start[c, 2] * (1.0 - s) + table.capsule_end[c, 2] * s,
                        )
                        gap = min(gap, field_value(data.field, x, y, z) - table.capsule_radius[c])
                    total += np.exp(-max(gap, 0.0) / _NEAR)
                    count += 1.0
                wrap[d, m, k] = total / max(count, 1.0)
