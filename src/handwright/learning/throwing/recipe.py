"""What is learned of throwing, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TASKS: dict[str, str] = {
    "throw-height": "handwright/ThrowHeight-v0",
    "hit-box": "handwright/HitBox-v0",
    "flip-can": "handwright/FlipCan-v0",
}
"""Name of a task on the command line to that of its environment."""


@dataclass(frozen=True, slots=True)
class PolicyRecipe:
    """How a policy is learned."""

    task: str
    throws: int = 800
    """How many throws are learned from, those of earlier runs of the same policy included."""
    drive: Literal["pd", "computed_torque"] = "pd"
    """How joints follow their targets; ``pd`` are the springs of the thesis."""
    learning_rate: float = 1e-3
    noise: float = 0.15
    """Spread of what is tried beside the policy's own action."""
    discount: float = 0.9
    """Weight of the next throw's worth."""
    save_every: int = 100
    """Throws from one saved state to the next."""
