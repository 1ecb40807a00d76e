"""Grasp planning: where a hand can take a body in a given style, and how it reaches there."""

from __future__ import annotations

from handwright.grasping.grasp import Grasp, GraspContact, NoGrasp
from handwright.grasping.grip_styles import GRIP_STYLES, GripStyle, Handle
from handwright.grasping.planner import find_grasp
from handwright.grasping.reach import NoReach, ReachPath, reach_path
from handwright.grasping.task import GraspOptions

__all__ = [
    "GRIP_STYLES",
    "Grasp",
    "GraspContact",
    "GraspOptions",
    "GripStyle",
    "Handle",
    "NoGrasp",
    "NoReach",
    "ReachPath",
    "find_grasp",
    "reach_path",
]
