"""What of a hand takes part in sensing: 22 joints, the proximity sites, and the ambient grid.

All of it is looked at in the frame of the wrist: x to the fingers, z out of the back of the hand
and, on a right hand, y to the thumb side. A left hand is seen in a mirror. Its model is the image
of a right one in the plane y = 0 of that frame, so directions and places in it get y -> -y, and
nothing of the scene has to be reflected.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.kinematics.fk import frame_poses
from handwright.kinematics.tree import Tree, tree_of
from handwright.math import rotation

JOINTS = (
    "wrist", "palm",
    "thumb_metacarpal", "thumb_proximal", "thumb_distal", "thumb_tip",
    "index_proximal", "index_intermediate", "index_distal", "index_tip",
    "middle_proximal", "middle_intermediate", "middle_distal", "middle_tip",
    "ring_proximal", "ring_intermediate", "ring_distal", "ring_tip",
    "little_proximal", "little_intermediate", "little_distal", "little_tip",
)  # fmt: skip
"""Frames of the hand whose poses and distances are sensed and predicted, in this order."""
NUM_JOINTS = len(JOINTS)
NUM_SITES = 104
"""Proximity sensors of a hand."""
GRID_FROM_KNUCKLE = np.array([0.04, 0.0, -0.09])
"""From the knuckle of the middle finger to the middle of the ambient grid, wrist axes, m."""
_KNUCKLE = "middle_proximal"


class SensedHand(NamedTuple):
    """A hand as plain arrays, in the form that the sensing kernels take."""

    tree: Tree
    wrist: int
    """Link that carries the wrist frame."""
    mirror: float
    """Sign of y: 1 for a right hand, -1 for a left one."""
    link: np.ndarray
    """(22,) links of the joints."""
    local: np.ndarray
    """(22, 3) places of the joints in their links, m."""
    along: np.ndarray
    """(22, 3) directions along the bones in their links, unit length."""
    dorsal: np.ndarray
    """(22, 3) directions out of the back of the bones in their links, unit length."""
    site_link: np.ndarray
    site_local: np.ndarray
    """(104, 3), m."""
    site_normal: np.ndarray
    """(104, 3), unit length, out of the hand."""
    grid_center: np.ndarray
    """(3,) middle of the ambient grid in the wrist frame, m."""


@lru_cache(maxsize=64)
def sensed_hand(model: HandModel) -> SensedHand:
    """The parts of a hand that take part in sensing.

    Args:
        model: A hand with the frames of OpenXR and 104 sensor sites, as ``human`` makes them.
    """
    frames, sites = model.frames, model.sites
    missing = [name for name in JOINTS if name not in frames.names]
    if missing or len(sites) != NUM_SITES:
        what = f"lacks the frames {', '.join(missing)}" if missing else f"has {len(sites)} sites"
        raise InvalidValueError(
            f"Hand '{model.name}' {what}; sensing needs the joints of OpenXR and {NUM_SITES} "
            "sites. Sense with a human hand, and retarget its motion to this one."
        )
    rows = np.array([frames.index(name) for name in JOINTS])
    turn = rotation.to_matrix(frames.wxyz[rows])
    return SensedHand(
        tree=tree_of(model),
        wrist=model.wrist_link,
        mirror=-1.0 if model.side == "left" else 1.0,
        link=frames.link[rows].astype(np.int64),
        local=np.array(frames.position[rows]),
        # OpenXR: -z along the bone, y out of its back; both are reflected as plain directions.
        along=np.array(-turn[:, :, 2], order="C"),
        dorsal=np.array(turn[:, :, 1], order="C"),
        site_link=sites.link.astype(np.int64),
        site_local=np.array(sites.position),
        site_normal=np.array(sites.normal),
        grid_center=_knuckle(model) + GRID_FROM_KNUCKLE,
    )


def _knuckle(model: HandModel) -> np.ndarray:
    """Knuckle of the middle finger in the wrist frame of the flat hand, m."""
    poses = frame_poses(model, np.zeros(model.num_joints))
    wrist = poses[model.frames.index("wrist")]
    # With all joints at zero links are parallel to the root: no turn between wrist and root.
    return poses.position[model.frames.index(_KNUCKLE)] - wrist.position
