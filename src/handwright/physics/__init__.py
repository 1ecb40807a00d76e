"""What touches the simulator: hands out to MJCF and in from MJCF and URDF."""

from __future__ import annotations

from handwright.physics.body_groups import link_body_names
from handwright.physics.hand_mapping import Coupling, DigitMapping, HandMapping
from handwright.physics.known_hands import SHADOW_HAND
from handwright.physics.mjcf_export import to_mjcf
from handwright.physics.mjcf_import import from_mjcf

__all__ = [
    "SHADOW_HAND",
    "Coupling",
    "DigitMapping",
    "HandMapping",
    "from_mjcf",
    "link_body_names",
    "to_mjcf",
]
