"""A plain upper body for the arms of pictures: context only, never touched nor judged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.hands.skin.mesh import march, neighbour_mean
from handwright.hands.skin.parts import Ellipsoid, Points, Section, Tube, Values, smooth_min
from handwright.hands.skin.whole import has_human_arm
from handwright.math import rotation
from handwright.math.pose import Pose

# A man of middle size, m: x ahead, y to the left, z up, from between the shoulder joints. Height,
# half the breadth, depth in front and behind.
_TRUNK = (
    (-0.400, 0.140, 0.098, 0.098),
    (-0.300, 0.138, 0.104, 0.098),
    (-0.180, 0.150, 0.116, 0.104),
    (-0.090, 0.156, 0.118, 0.110),
    (-0.020, 0.144, 0.100, 0.106),
    (0.030, 0.104, 0.072, 0.092),
    (0.065, 0.074, 0.054, 0.078),
)
_NECK = ((0.03, 0.066, 0.062, 0.068), (0.09, 0.061, 0.062, 0.064), (0.18, 0.059, 0.066, 0.062))
# From one shoulder to the other: place, half the depth, height above and below, and lift.
_YOKE = (
    (-0.172, 0.049, 0.048, 0.052, -0.002),
    (-0.100, 0.060, 0.052, 0.070, 0.012),
    (0.000, 0.066, 0.056, 0.090, 0.024),
    (0.100, 0.060, 0.052, 0.070, 0.012),
    (0.172, 0.049, 0.048, 0.052, -0.002),
)
# Middle, and half axes up, sideways and ahead.
_HEAD = ((0.014, 0.0, 0.242), (0.112, 0.077, 0.097))
_JAW = ((0.038, 0.0, 0.184), (0.060, 0.057, 0.062))
_SHOULDER = 0.180
_UPPER_ARM = 0.3266
_SPACING = 0.011
_NUM_SMOOTHING = 5
# Shoulders whose bodies would be this close to each other, m, are those of one person.
_SAME_BODY = 0.15
# Least height of the body's upward direction: shoulders that are turned further have no body.
_UPRIGHT = 0.7


class _Bust:
    """Signed distance (m, negative inside) to the upper body."""

    def __init__(self) -> None:
        x, y, z = np.eye(3)
        nowhere = np.zeros(3)
        trunk, neck = (
            [Section(*row, back=2.3, front=2.3) for row in rows] for rows in (_TRUNK, _NECK)
        )
        yoke = [Section(*row[:4], lift=row[4]) for row in _YOKE]
        self._trunk = Tube(nowhere, z, x, trunk, 0.05, 0.03)
        self._neck = Tube(nowhere, z, x, neck, 0.02, 0.02)
        self._yoke = Tube(nowhere, y, z, yoke, 0.05, 0.05)
        self._head, self._jaw = (
            Ellipsoid(np.array(middle), z, x, radii) for middle, radii in (_HEAD, _JAW)
        )

    def distance(self, points: Points) -> Values:
        """Signed distance to the upper body."""
        body = smooth_min(self._trunk.distance(points), self._yoke.distance(points), 0.06)
        body = smooth_min(body, self._neck.distance(points), 0.045)
        head = smooth_min(self._head.distance(points), self._jaw.distance(points), 0.05)
        return smooth_min(body, head, 0.03)

    def bounds(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        """Corners of a box that holds the upper body, m."""
        return np.array([-0.16, -0.28, -0.48]), np.array([0.18, 0.28, 0.40])


@lru_cache(maxsize=1)
def bust() -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """The upper body of a man of middle size: x ahead, y left, z up, from between the shoulders."""
    vertices, faces = march(_Bust(), _SPACING)
    mean = neighbour_mean(faces, len(vertices))
    for _ in range(_NUM_SMOOTHING):
        vertices = mean @ vertices
    return vertices, faces


def figures(hands: Mapping[str, tuple[HandModel, Pose]]) -> list[tuple[float, Pose]]:
    """Sizes, as factors on ``bust``, and poses in the world of the bodies that arms hang on.

    A right and a left arm whose bodies would be in one place share one. Hands without a human arm
    have none, and neither have shoulders that are far from upright.

    Args:
        hands: Each with the pose of its root, in frames or at one time.
    """
    found: list[tuple[str, float, Pose]] = []
    for model, root in hands.values():
        if not has_human_arm(model):
            continue
        size, pose = _body_of(model, root)
        if np.min(rotation.to_matrix(pose.wxyz)[..., 2, 2]) < _UPRIGHT:
            continue
        for number, (side, other_size, other) in enumerate(found):
            apart = np.linalg.norm(other.position - pose.position, axis=-1)
            if side != model.side and np.max(apart) < _SAME_BODY:
                middle = Pose(0.5 * (other.position + pose.position), other.wxyz)
                found[number] = ("both", 0.5 * (other_size + size), middle)
                break
        else:
            found.append((model.side, size, pose))
    return [(size, pose) for _, size, pose in found]


def _body_of(model: HandModel, root: Pose) -> tuple[float, Pose]:
    """The body of one arm: ahead is along the stretched arm, outwards is its z axis."""
    joints = model.joints
    length = np.linalg.norm(joints.offset[joints.index("elbow_flexion")])
    size = float(length / _UPPER_ARM)
    ahead, up, outwards = np.moveaxis(rotation.to_matrix(root.wxyz), -1, 0)
    sign = 1.0 if model.side == "right" else -1.0
    axes = np.stack([ahead, -sign * outwards, sign * up], axis=-1)
    place = root.position - size * _SHOULDER * outwards
    return size, Pose(place, rotation.from_matrix(axes))
