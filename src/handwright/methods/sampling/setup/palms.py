"""What a wrist's track alone says about a hand: how far it reaches and where its palm is."""

from __future__ import annotations

import numpy as np

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel
from handwright.geometry.distance.exact import ExactDistance
from handwright.kinematics import posed_capsules
from handwright.math.pose import Pose

# Points along the axis of a capsule that are looked at.
_ALONG = np.linspace(0.0, 1.0, 5)
# The joints of the palm move its bones by no more than this, m.
_PALM_GIVES = 0.01
# A palm this near to a body may touch it with its skin, m.
_PALM_NEAR = 0.02


def reach_of(model: HandModel) -> float:
    """A distance from the root beyond which no part of a hand can be, m."""
    joints, capsules = model.joints, model.capsules
    far = np.zeros(model.num_links)
    for j, parent in enumerate(joints.parent):
        travel = max(abs(joints.lower[j]), abs(joints.upper[j])) if joints.is_slide[j] else 0.0
        far[j + 1] = far[parent] + float(np.linalg.norm(joints.offset[j])) + travel
    ends = np.maximum(np.linalg.norm(capsules.start, axis=1), np.linalg.norm(capsules.end, axis=1))
    return float((far[capsules.link] + ends + capsules.radius).max())


def palm_depths(model: HandModel, root: Pose, body: RigidBody, exact: ExactDistance) -> np.ndarray:
    """(T,) how deep the bones of a palm are in a body, m; 0 if they are not.

    Args:
        model: The hand.
        root: (T,) poses of the hand's root in the body's frame.
        body: The body, of which the bounds are used.
        exact: Distances of the body.
    """
    points, link = _palm(model, root)
    points = np.concatenate([points, root.position[:, None, None].repeat(len(_ALONG), 2)], axis=1)
    gives = np.append(np.where(link == 0, 0.0, _PALM_GIVES), 0.0)
    low, high = body.bounds
    # What is outside the bounds is outside the body.
    near = np.nonzero(((points > low) & (points < high)).all(axis=-1))
    depth = np.zeros(len(points))
    if near[0].size:
        found = -exact.signed_distance(points[near])[0] - gives[near[1]]
        np.maximum.at(depth, near[0], found)
    return depth


def palm_touches(model: HandModel, root: Pose, exact: ExactDistance) -> np.ndarray:
    """(N, 3) normals, into the body, at the points at which a palm may touch it.

    Args:
        model: The hand.
        root: Pose of the hand's root in the body's frame.
        exact: Distances of the body.
    """
    points, _ = _palm(model, Pose(root.position[None], root.wxyz[None]))
    is_palm = np.flatnonzero(model.capsules.digit < 0)
    distance, _, _, outward = exact.signed_distance(points.reshape(-1, 3))
    near = distance - np.repeat(model.capsules.radius[is_palm], len(_ALONG)) < _PALM_NEAR
    return np.asarray(-outward[near])


def palm_points(model: HandModel) -> tuple[np.ndarray, np.ndarray]:
    """(N, 3) points along the bones of a palm at rest, from its root, and their (N,) radii, m."""
    points, _ = _palm(model, Pose(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]])))
    radius = model.capsules.radius[model.capsules.digit < 0]
    return points.reshape(-1, 3), np.repeat(radius, len(_ALONG))


def _palm(model: HandModel, root: Pose) -> tuple[np.ndarray, np.ndarray]:
    """(T, C, K, 3) points on the axes of the palm's capsules at rest, and the link of each."""
    is_palm = np.flatnonzero(model.capsules.digit < 0)
    q = np.tile(model.pose("rest"), (len(root.position), 1))
    posed = posed_capsules(model, q, root)
    start, end = posed.start[:, is_palm, None], posed.end[:, is_palm, None]
    return start + _ALONG[:, None] * (end - start), model.capsules.link[is_palm]
