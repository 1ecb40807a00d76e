"""Forward and inverse kinematics for any hand; compiled, and shared by every method."""

from __future__ import annotations

from handwright.kinematics.ccd import descend_digit
from handwright.kinematics.closing import Grasp, close_around
from handwright.kinematics.digit_ik import IkWeights
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
from handwright.kinematics.frames_ik import FramesResult, PointGoals, TurnGoals, solve_frames
from handwright.kinematics.ik import DigitTargets, IkResult, solve_ik
from handwright.kinematics.reach import ReachVolume, reachable_volume
from handwright.kinematics.skinning import posed_skin, vertex_normals
from handwright.kinematics.spacetime import SmoothResult, smooth_digits
from handwright.kinematics.spacetime_terms import Anchors, SpacetimeWeights

__all__ = [
    "Anchors",
    "DigitTargets",
    "FramesResult",
    "Grasp",
    "IkResult",
    "IkWeights",
    "PointGoals",
    "PosedCapsules",
    "PosedPoints",
    "ReachVolume",
    "SmoothResult",
    "SpacetimeWeights",
    "TurnGoals",
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
