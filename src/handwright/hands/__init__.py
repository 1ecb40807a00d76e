"""The shipped hands, built by code."""

from handwright.hands.human.anthropometry import HandBones, bones_of_size
from handwright.hands.human.model import human
from handwright.hands.mirror import mirror
from handwright.hands.names import OPENXR_JOINTS, OPENXR_PARENTS, joint_names
from handwright.hands.skin.build import skin_of
from handwright.hands.skin.whole import whole_skin_of
from handwright.hands.trident import trident

__all__ = [
    "OPENXR_JOINTS",
    "OPENXR_PARENTS",
    "HandBones",
    "bones_of_size",
    "human",
    "joint_names",
    "mirror",
    "skin_of",
    "trident",
    "whole_skin_of",
]
