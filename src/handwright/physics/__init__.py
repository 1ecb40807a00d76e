"""What touches the simulator: hands out to MJCF and in from MJCF and URDF."""

from __future__ import annotations

from handwright.physics.mjcf.body_groups import link_body_names
from handwright.physics.mjcf.export import to_mjcf
from handwright.physics.mjcf.hand_mapping import Coupling, DigitMapping, HandMapping
from handwright.physics.mjcf.importing import from_mjcf
from handwright.physics.mjcf.known_hands import SHADOW_HAND

__all__ = [
    "SHADOW_HAND",
    "Coupling",
    "DigitMapping",
    "HandMapping",
    "from_mjcf",
    "link_body_names",
    "to_mjcf",
]
