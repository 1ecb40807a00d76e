"""Forward and inverse kinematics for any hand; compiled, and shared by every method."""

from handwright.kinematics.fk import (
    PosedCapsules,
    PosedPoints,
    frame_poses,
    link_poses,
    point_jacobians,
    posed_capsules,
    posed_pads,
    posed_sites,
)

__all__ = [
    "PosedCapsules",
    "PosedPoints",
    "frame_poses",
    "link_poses",
    "point_jacobians",
    "posed_capsules",
    "posed_pads",
    "posed_sites",
]
