"""What touches the simulator: hands out to MJCF and in from MJCF and URDF."""

from __future__ import annotations

from handwright.physics.body_groups import link_body_names
from handwright.physics.mjcf_export import to_mjcf

__all__ = ["link_body_names", "to_mjcf"]
