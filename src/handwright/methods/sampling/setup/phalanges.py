"""Near phalanges as what digits hold with: power grips of hands whose palms are at the body.

With a body close to the palm, pads have to come back round it and seldom oppose each other. Fingers
then wrap it: near and middle phalanges press on one side, pads on the other. So that the search
can choose that, guiding points may lie on all phalanges, and the joints beyond one bend on until
the skin touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from handwright.core.hand import HandModel, SurfacePoint
from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics.fk import link_poses
from handwright.kinematics.skin.samples import skin_samples
from handwright.methods.sampling.setup.hands_as_one import joined_values
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.setup.palms import palm_points

# With a palm that is nearer than this to the body, m, half of the time, fingers may wrap it.
_AT_THE_PALM = 0.007
# Where along a phalanx a guiding point may lie, as shares of its length.
_ALONG = (0.3, 0.7)
_SKIN_SPACING = 0.0025


def is_near_palm(data: HoldData, models: Sequence[HandModel]) -> bool:
    """Whether the body is so near to a palm that fingers can wrap it."""
    for h, model in enumerate(models):
        points, radius = palm_points(model)
        if len(points) == 0:
            continue
        placed = np.einsum("tij,nj->tni", data.root_rotation[:, h], points)
        placed += data.root_position[:, h, None]
        value = sample_field(data.field, placed.reshape(-1, 3))[0].reshape(len(placed), -1)
        if float(np.median((value - radius).min(axis=1))) < _AT_THE_PALM:
            return True
    return False


def with_phalanx_points(data: HoldData, models: Sequence[HandModel], pad_depth: float) -> HoldData:
    """Adds guiding points on all phalanges to those on pads.

    Args:
        data: The hold with guiding points on pads.
        models: Its hands.
        pad_depth: Depth to which skin that holds the body sinks in, m.
    """
    rows, links = [], []
    for h, model in enumerate(models):
        for digit in range(len(model.digits)):
            points = near_points(model, digit)
            rows.append([point.position - pad_depth * point.normal for point in points])
            links.append([point.link + int(data.offset[h]) for point in points])
    width = max(len(row) for row in rows)
    position = np.zeros((len(rows), width, 3))
    link = np.full((len(rows), width), -1)
    for d, row in enumerate(rows):
        position[d, : len(row)] = np.reshape(row, (-1, 3))
        link[d, : len(row)] = links[d]
    closed = joined_values([model.poses.get("closed", model.pose("rest")) for model in models])
    return data._replace(
        pads=np.concatenate([data.pads, position], axis=1),
        pad_links=np.concatenate([data.pad_links, link], axis=1),
        curled=closed,
    )


@lru_cache(maxsize=32)
def near_points(model: HandModel, digit: int) -> tuple[SurfacePoint, ...]:
    """Points on the palmar skin of a digit's phalanges, all but the last."""
    pad, capsules = model.digits[digit].pad, model.capsules
    rotations, _ = link_poses(model, model.joints.clamp(np.zeros(model.num_joints)))
    palmar = rotations[pad.link] @ pad.normal
    samples = skin_samples(model, _SKIN_SPACING)
    points = []
    for c in np.flatnonzero((capsules.digit == digit) & (capsules.link != pad.link)).tolist():
        link = int(capsules.link[c])
        normal = rotations[link].T @ palmar
        own = (samples.link[:, 0] == link) & (samples.weight[:, 0] > 0.9)
        skin = samples.local[own, 0]
        for share in _ALONG:
            position = capsules.start[c] + share * (capsules.end[c] - capsules.start[c])
            position = position + capsules.radius[c] * normal
            if len(skin):
                position = skin[np.linalg.norm(skin - position, axis=1).argmin()]
            points.append(SurfacePoint(link, position, normal))
    return tuple(points)
