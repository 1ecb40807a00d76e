"""What a learned hand senses: poses, trajectories and three kinds of sensors, as numbers."""

from __future__ import annotations

from handwright.methods.neural.sensing.body import SensedBody, sensed_body
from handwright.methods.neural.sensing.features import (
    FEATURES,
    OUTPUTS,
    Feature,
    assembled,
    finger_features,
    fixed_features,
    pose_of,
    targets,
)
from handwright.methods.neural.sensing.joints import JOINTS
from handwright.methods.neural.sensing.live import NOW, LiveView
from handwright.methods.neural.sensing.load import Load, plain_load
from handwright.methods.neural.sensing.view import (
    HandView,
    clip_views,
    hand_view,
    hand_views,
)

__all__ = [
    "FEATURES",
    "JOINTS",
    "NOW",
    "OUTPUTS",
    "Feature",
    "HandView",
    "LiveView",
    "Load",
    "SensedBody",
    "assembled",
    "clip_views",
    "finger_features",
    "fixed_features",
    "hand_view",
    "hand_views",
    "plain_load",
    "pose_of",
    "sensed_body",
    "targets",
]
