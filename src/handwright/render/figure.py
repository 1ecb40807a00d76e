"""The upper bodies of hands with arms, as they are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from handwright.core.hand import HandModel
from handwright.hands.colors import FIGURE_COLOR
from handwright.hands.figure import bust, figures
from handwright.math.pose import Pose
from handwright.render.camera import Camera
from handwright.render.items import Drawn


def figure_items(hands: Mapping[str, tuple[HandModel, Pose]]) -> tuple[Drawn, ...]:
    """A plain upper body for the arms of a picture; none if no hand has an arm.

    Args:
        hands: Each with the pose of its root, the shoulder, in the world.
    """
    return tuple(_body(size).moved(pose) for size, pose in figures(hands))


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """An upper body through a motion."""

    item: Drawn
    poses: Pose | None
    """In each frame; None for a body that sits still, where the item is."""

    @staticmethod
    def of(hands: Mapping[str, tuple[HandModel, Pose]]) -> tuple[Figure, ...]:
        """The upper bodies of hands, each given with the poses of its root in all frames."""
        found = []
        for size, poses in figures(hands):
            is_still = not (
                np.ptp(poses.position, axis=0).any() or np.ptp(poses.wxyz, axis=0).any()
            )
            item = _body(size)
            found.append(Figure(item.moved(poses[0]), None) if is_still else Figure(item, poses))
        return tuple(found)

    def at(self, frame: int) -> Drawn:
        """The body in a frame."""
        return self.item if self.poses is None else self.item.moved(self.poses[frame])


def usual_camera(hands: Mapping[str, tuple[HandModel, Pose]]) -> Camera:
    """Looks people with arms in the face, from the side of the other hand; else the usual one.

    From behind, where the usual camera may stand, shoulder and body would hide the hand.

    Args:
        hands: Each with the poses of its root in all frames.
    """
    bodies = figures(hands)
    if not bodies:
        return Camera()
    ahead = bodies[0][1][0].rotate(np.array([1.0, 0.0, 0.0]))
    sides = {model.side for model, _ in hands.values()}
    aside = math.radians({"right": 45.0, "left": -45.0}[sides.pop()] if len(sides) == 1 else 10.0)
    return Camera(azimuth=math.atan2(ahead[1], ahead[0]) + aside)


def _body(size: float) -> Drawn:
    vertices, faces = bust()
    return Drawn(size * vertices, faces, FIGURE_COLOR, 0.05)
