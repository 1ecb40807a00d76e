"""What a wrist's track alone says about a hand: how far it reaches, where its palm is, what wraps.

With a body close to the palm, pads have to come back round it and seldom oppose each other. Fingers
then wrap it: near and middle phalanges press on one side, pads on the other. So that the search
can choose that, guiding points may lie on all phalanges, and the joints beyond one bend on until
the skin touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.core.hand import HandModel, SurfacePoint
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics import posed_capsules
from handwright.kinematics.fk import link_poses
from handwright.kinematics.skin.samples import skin_samples
from handwright.math.pose import Pose
from handwright.methods.sampling.setup.hands_as_one import SKIN_SPACING
from handwright.methods.sampling.setup.hold_data import HoldData

# Points along the axis of a capsule that are looked at.
_ALONG = np.linspace(0.0, 1.0, 5)
# The joints of the palm move its bones by no more than this, m.
_PALM_GIVES = 0.01
# A palm this near to a body may touch it with its skin, m.
_PALM_NEAR = 0.02
# With a palm that is nearer than this to the body, m, half of the time, fingers may wrap it.
_AT_THE_PALM = 0.007
# Where along a phalanx a guiding point may lie, as shares of its length.
_PHALANX_SHARES = (0.3, 0.7)


def reach_of(model: HandModel) -> float:
    """A distance from the root beyond which no part of a hand can be, m."""
    joints, capsules = model.joints, model.capsules
    far = np.zeros(model.num_links)
    for j, parent in enumerate(joints.parent):
        travel = max(abs(joints.lower[j]), abs(joints.upper[j])) if joints.is_slide[j] else 0.0
        far[j + 1] = far[parent] + float(np.linalg.norm(joints.offset[j])) + travel
    ends = np.maximum(np.linalg.norm(capsules.start, axis=1), np.linalg.norm(capsules.end, axis=1))
    return float((far[capsules.link] + ends + capsules.radius).max())


def palm_depths(
    model: HandModel, root: Pose, body: RigidBody, exact: ExactDistance
) -> Float[np.ndarray, " T"]:
    """How deep the bones of a palm are in a body, m; 0 if they are not.

    The (T,) poses of the hand's root are in the body's frame.
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


def palm_touches(model: HandModel, root: Pose, exact: ExactDistance) -> Float[np.ndarray, "N 3"]:
    """Normals, into the body, where a palm may touch it with its root posed in the body's frame."""
    points, _ = _palm(model, Pose(root.position[None], root.wxyz[None]))
    is_palm = np.flatnonzero(model.capsules.digit < 0)
    distance, _, _, outward = exact.signed_distance(points.reshape(-1, 3))
    near = distance - np.repeat(model.capsules.radius[is_palm], len(_ALONG)) < _PALM_NEAR
    return np.asarray(-outward[near])


def _palm(
    model: HandModel, root: Pose
) -> tuple[Float[np.ndarray, "T C K 3"], Int[np.ndarray, " C"]]:
    """Points on the axes of the palm's capsules at rest, m, and the link of each capsule."""
    is_palm = np.flatnonzero(model.capsules.digit < 0)
    q = np.tile(model.pose("rest"), (len(root.position), 1))
    posed = posed_capsules(model, q, root)
    start, end = posed.start[:, is_palm, None], posed.end[:, is_palm, None]
    return start + _ALONG[:, None] * (end - start), model.capsules.link[is_palm]


def is_near_palm(data: HoldData, models: Sequence[HandModel]) -> bool:
    """Whether the body is so near to a palm that fingers can wrap it."""
    for h, model in enumerate(models):
        is_palm = model.capsules.digit < 0
        if not is_palm.any():
            continue
        points = _palm(model, Pose.identity(1))[0].reshape(-1, 3)
        radius = np.repeat(model.capsules.radius[is_palm], len(_ALONG))
        placed = np.einsum("tij,nj->tni", data.root_rotation[:, h], points)
        placed += data.root_position[:, h, None]
        value = sample_field(data.field, placed.reshape(-1, 3))[0].reshape(len(placed), -1)
        if float(np.median((value - radius).min(axis=1))) < _AT_THE_PALM:
            return True
    return False


def with_phalanx_points(data: HoldData, models: Sequence[HandModel], pad_depth: float) -> HoldData:
    """Adds guiding points on all phalanges to those on pads, so deep below the skin, m."""
    rows = [
        (near_points(model, digit), int(data.hands.offset[h]))
        for h, model in enumerate(models)
        for digit in range(len(model.digits))
    ]
    width = max(len(points) for points, _ in rows)
    position = np.zeros((len(rows), width, 3))
    link = np.full((len(rows), width), -1)
    for d, (points, shift) in enumerate(rows):
        for n, point in enumerate(points):
            position[d, n] = point.position - pad_depth * point.normal
            link[d, n] = point.link + shift
    return data._replace(
        pads=np.concatenate([data.pads, position], axis=1),
        pad_links=np.concatenate([data.pad_links, link], axis=1),
        curled=np.tile(data.hands.closed, (len(data.curled), 1)),
    )


@lru_cache(maxsize=32)
def near_points(model: HandModel, digit: int) -> tuple[SurfacePoint, ...]:
    """Points on the palmar skin of a digit's phalanges, all but the last."""
    pad, capsules = model.digits[digit].pad, model.capsules
    rotations, _ = link_poses(model, model.joints.clamp(np.zeros(model.num_joints)))
    palmar = rotations[pad.link] @ pad.normal
    samples = skin_samples(model, SKIN_SPACING)
    points = []
    for c in np.flatnonzero((capsules.digit == digit) & (capsules.link != pad.link)).tolist():
        link = int(capsules.link[c])
        normal = rotations[link].T @ palmar
        own = (samples.link[:, 0] == link) & (samples.weight[:, 0] > 0.9)
        skin = samples.local[own, 0]
        for share in _PHALANX_SHARES:
            position = capsules.start[c] + share * (capsules.end[c] - capsules.start[c])
            position = position + capsules.radius[c] * normal
            if len(skin):
                position = skin[np.linalg.norm(skin - position, axis=1).argmin()]
            points.append(SurfacePoint(link, position, normal))
    return tuple(points)
