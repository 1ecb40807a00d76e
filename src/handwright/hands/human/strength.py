"""How hard a human hand can press: torques that muscles can give at each joint.

The figures are commonly quoted ones for men of working age, rounded. Pressing with the tip of one
finger, most give 40 to 60 N with index and middle and less with ring and little finger; a thumb
gives 60 to 80 N in a pinch between tips (pinch norms such as Mathiowetz et al. 1985; women's are
about two thirds). A joint is taken to be as strong as it must be to press so hard with a straight
digit. Opening and spreading are weaker, by about a factor of three. The joints inside the palm,
and the thumb's sideways ones, are carried by their ligaments and are given no limit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.hands.capsules import zero_pose_origins

TIP_FORCE = {"thumb": 70.0, "index": 50.0, "middle": 50.0, "ring": 40.0, "little": 30.0}
"""Hardest press of a straight digit with its tip, N."""
WEAK_SHARE = 0.3
"""Strength of opening and spreading a digit over that of bending it."""


@dataclass(frozen=True, slots=True, eq=False)
class JointStrength:
    """Torques of muscles, N m."""

    lower: Float[np.ndarray, " J"]
    """Towards smaller joint values, 0 or below; minus infinity where no limit is known."""
    upper: Float[np.ndarray, " J"]
    """Towards larger joint values, 0 or above; infinity where no limit is known."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    @property
    def is_known(self) -> Bool[np.ndarray, " J"]:
        """Joints with a limit."""
        return np.isfinite(self.lower) | np.isfinite(self.upper)


def joint_strength(model: HandModel) -> JointStrength:
    """Limits of a hand with the joints of the human one; no limits for other hands' joints.

    Args:
        model: Any hand.
    """
    upper = np.full(model.num_joints, np.inf)
    lower = -upper
    flat = zero_pose_origins(model.joints)
    for digit in model.digits:
        tip = flat[digit.tip.link] + digit.tip.position
        for j in digit.joints:
            name = model.joints.names[j]
            if digit.name not in TIP_FORCE or not name.startswith(f"{digit.name}_"):
                continue
            torque = TIP_FORCE[digit.name] * float(np.linalg.norm(tip - flat[j + 1]))
            bends = name.endswith(("mcp_flexion", "pip_flexion", "dip_flexion", "ip_flexion"))
            if name.startswith("thumb_cmc_"):
                upper[j], lower[j] = torque, -torque
            elif bends:
                upper[j], lower[j] = torque, -WEAK_SHARE * torque
            elif name.endswith("mcp_abduction") and digit.name != "thumb":
                upper[j], lower[j] = WEAK_SHARE * torque, -WEAK_SHARE * torque
    return JointStrength(lower, upper)
