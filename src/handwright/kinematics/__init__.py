"""Forward and inverse kinematics for any hand; compiled, and shared by every method."""

from __future__ import annotations

from handwright.kinematics.fk import (
    PosedCapsules,
    PosedPoints,
    frame_poses,
    link_poses,
    point_jacobians,
    posed_capsules,
    posed_nails,
    posed_pads,
    posed_sites,
    posed_tips,
)
from handwright.kinematics.ik.ccd import descend_digit
from handwright.kinematics.ik.closing import ClosedHand, close_around
from handwright.kinematics.ik.frames import FramesResult, PointGoals, RotationGoals, solve_frames
from handwright.kinematics.ik.hand import DigitTargets, IkResult, solve_ik
from handwright.kinematics.ik.problem import IkWeights
from handwright.kinematics.ik.reach import ReachVolume, reachable_volume
from handwright.kinematics.obstacles import Obstacles
from handwright.kinematics.skin.skinning import posed_skin, vertex_normals
from handwright.kinematics.spacetime.motion import JointBounds, SmoothResult, smooth_digits
from handwright.kinematics.spacetime.terms import Anchors, SpacetimeWeights

__all__ = [
    "Anchors",
    "ClosedHand",
    "DigitTargets",
    "FramesResult",
    "IkResult",
    "IkWeights",
    "JointBounds",
    "Obstacles",
    "PointGoals",
    "PosedCapsules",
    "PosedPoints",
    "ReachVolume",
    "RotationGoals",
    "SmoothResult",
    "SpacetimeWeights",
    "close_around",
    "descend_digit",
    "frame_poses",
    "link_poses",
    "point_jacobians",
    "posed_capsules",
    "posed_nails",
    "posed_pads",
    "posed_sites",
    "posed_skin",
    "posed_tips",
    "reachable_volume",
    "smooth_digits",
    "solve_frames",
    "solve_ik",
    "vertex_normals",
]
