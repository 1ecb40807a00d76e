"""Hands and bodies of a frame as messages, in the axes of .glb files."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.hands.skin.whole import links_between
from handwright.io.axes import to_y_up, to_y_up_xyzw
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.studio.live_messages import LiveBody, LiveHand


def posed_hand(name: str, model: HandModel, root: Pose, q: Float[np.ndarray, " J"]) -> LiveHand:
    """A hand.

    Args:
        name: Of the hand.
        model: What it is.
        root: Pose of its root link in the world.
        q: Joint values, rad.
    """
    joints = model.joints
    turns = rotation.from_axis_angle(joints.axis, np.where(joints.is_slide, 0.0, q))
    between = [
        rotation.from_axis_angle(joints.axis[one.joint], np.asarray(one.share * q[one.joint]))
        for one in links_between(model)
    ]
    return LiveHand(
        name=name,
        position=rounded(to_y_up(root.position)),
        xyzw=rounded(to_y_up_xyzw(root.wxyz)),
        joints=to_y_up_xyzw(turns).round(6).tolist(),
        between=[rounded(to_y_up_xyzw(turn)) for turn in between],
    )


def posed_body(name: str, pose: Pose) -> LiveBody:
    """A body.

    Args:
        name: Of the body.
        pose: In the world.
    """
    return LiveBody(
        name=name,
        position=rounded(to_y_up(pose.position)),
        xyzw=rounded(to_y_up_xyzw(pose.wxyz)),
    )


def rounded(values: Float[np.ndarray, " N"]) -> list[float]:
    """Numbers as they are sent."""
    return [round(float(value), 6) for value in values]
