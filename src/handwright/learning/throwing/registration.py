"""Names of the environments for gymnasium."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

ENVIRONMENTS = {
    "handwright/ThrowHeight-v0": "handwright.learning.throwing.tasks:ThrowHeight",
    "handwright/HitBox-v0": "handwright.learning.throwing.tasks:HitBox",
    "handwright/FlipCan-v0": "handwright.learning.throwing.tasks:FlipCan",
}
"""Where each is."""
_LONGEST = 20


def register_environments() -> None:
    """Makes the environments known to ``gymnasium.make``; does nothing the second time.

    gymnasium calls it itself where the package is installed.
    """
    for name, place in ENVIRONMENTS.items():
        if name not in registry:
            register(name, entry_point=place, max_episode_steps=_LONGEST)
