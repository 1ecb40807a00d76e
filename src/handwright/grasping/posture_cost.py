"""What a posture costs: joints away from where they are preferred, and digits in each other."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.kinematics.ik.digit_table import digit_pairs

# Weights of a finger's last joint out of step with the one before, and of fingers out of step.
_TOGETHER, _ALIKE = 1.0, 0.7
# How deep the last phalanx may be in capsules of the palm, m.
_PALM_SLACK = 0.003
# Weight of each joint of an arm away from its posture.
_ARM_STIFFNESS = {
    "shoulder_flexion": 0.15,
    "shoulder_horizontal_abduction": 0.25,
    "shoulder_rotation": 0.25,
    "elbow_flexion": 0.1,
    "forearm_pronation": 0.2,
    "wrist_flexion": 0.5,
    "wrist_deviation": 1.0,
    "wrist_twist": 3.0,
}


def joint_stiffness(model: HandModel) -> np.ndarray:
    """Weight of each joint away from the preferred posture."""
    stiffness = np.ones(model.num_joints)
    for j, name in enumerate(model.joints.names):
        if j < model.wrist_link:
            stiffness[j] = _ARM_STIFFNESS.get(name, 0.3)
        elif "cmc" in name and not name.startswith("thumb"):
            stiffness[j] = 3.0
        elif "abduction" in name:
            stiffness[j] = 1.5
    return stiffness


def posture_matrix(
    model: HandModel, stiffness: Float[np.ndarray, " J"]
) -> Float[np.ndarray, "R J"]:
    """Rows of what departures from a posture cost, of single joints and of joints together.

    The last two joints of a finger bend together, and neighbouring fingers do.
    """
    names = model.joints.names
    rows = [np.diag(stiffness)]
    for j, name in enumerate(names):
        pairs = [(name.replace("_dip_", "_pip_"), 2.0 / 3.0, _TOGETHER)]
        if "flexion" in name and "_cmc_" not in name:
            pairs += [
                (name.replace(a, b), 1.0, _ALIKE)
                for a, b in (("middle_", "index_"), ("ring_", "middle_"), ("little_", "ring_"))
            ]
        for other, ratio, weight in pairs:
            if other != name and other in names:
                row = np.zeros((1, len(names)))
                row[0, j], row[0, names.index(other)] = weight, -ratio * weight
                rows.append(row)
    return np.concatenate(rows)


def separation_pairs(model: HandModel) -> tuple[np.ndarray, np.ndarray]:
    """Capsules that must stay apart, and how deep each pair may be in each other, m.

    Digits keep apart; the last phalanx also keeps out of the palm, whose capsules stand out of
    its skin.
    """
    digit, names = model.capsules.digit, model.capsules.names
    first, second = np.triu_indices(len(digit), 1)
    last = np.array([d >= 0 and model.digits[d].pad.link == link
                     for d, link in zip(digit, model.capsules.link, strict=True)])  # fmt: skip
    own = np.array([names[a].split("_")[0] == names[b].split("_")[0]
                    for a, b in zip(first, second, strict=True)])  # fmt: skip
    palm = last[first] & (digit[second] < 0) & ~own
    apart = digit_pairs(model)
    pairs = np.concatenate([apart, np.stack([first[palm], second[palm]], axis=1)])
    slack = np.append(np.zeros(len(apart)), np.full(palm.sum(), _PALM_SLACK))
    order = np.lexsort(pairs.T[::-1])
    return pairs[order], slack[order]
