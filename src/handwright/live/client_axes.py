"""From the client's axes to ours and back.

Wrists and joints have OpenXR's axes on both sides: only the world around them is turned. An object
is turned with its world: a client with Y up sees it with the axes that it has in a .glb file.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.hand import HandModel
from handwright.io.axes import (
    to_y_up,
    to_y_up_xyzw,
    to_z_up,
    to_z_up_wxyz,
    world_to_y_up,
    world_to_z_up,
)
from handwright.live.messages import Axes, PoseOut
from handwright.math.pose import Pose

_PLACE_DIGITS, _TURN_DIGITS = 6, 7


def wrist_from(pose: Pose, hand: HandModel, axes: Axes) -> Pose:
    """The wrist frame of a hand in our world.

    Args:
        pose: Of the OpenXR joint ``wrist`` in the client's world.
        hand: Whose wrist it is.
        axes: The client's.
    """
    frame = hand.frames.index("wrist")
    local = Pose(hand.frames.position[frame], hand.frames.wxyz[frame])
    return (world_to_z_up(pose) if axes == "y_up" else pose) @ local.inverse()


def object_from(pose: Pose, axes: Axes) -> Pose:
    """An object's frame in our world.

    Args:
        pose: In the client's world.
        axes: The client's.
    """
    if axes == "y_up":
        return Pose(to_z_up(pose.position), to_z_up_wxyz(_xyzw(pose)))
    return pose


def joints_for(poses: Pose, names: tuple[str, ...], axes: Axes) -> dict[str, PoseOut]:
    """OpenXR joints in the client's world, by name.

    Args:
        poses: In our world.
        names: Of the joints.
        axes: The client's.
    """
    seen = world_to_y_up(poses) if axes == "y_up" else poses
    rows = zip(names, _places(seen.position), _turns(_xyzw(seen)), strict=True)
    return {name: {"position": place, "xyzw": turn} for name, place, turn in rows}


def object_for(pose: Pose, axes: Axes) -> PoseOut:
    """An object in the client's world.

    Args:
        pose: In our world.
        axes: The client's.
    """
    if axes == "y_up":
        place, turn = to_y_up(pose.position), to_y_up_xyzw(pose.wxyz)
    else:
        place, turn = pose.position, _xyzw(pose)
    return {"position": _places(place), "xyzw": _turns(turn)}


def _xyzw(pose: Pose) -> Float[np.ndarray, "*B 4"]:
    return np.roll(pose.wxyz, -1, axis=-1)


def _places(rows: Float[np.ndarray, "*B 3"]) -> list:
    return np.round(rows, _PLACE_DIGITS).tolist()


def _turns(rows: Float[np.ndarray, "*B 4"]) -> list:
    return np.round(rows, _TURN_DIGITS).tolist()
