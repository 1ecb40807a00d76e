"""What a guide says to the search: where and when its digits touch, and which postures it has.

A guide is any motion of the fingers. Its contacts need not hold, its skin may be in the body or off
it by some millimetres: it says what is preferred, and forbids nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics import posed_capsules
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.sampling.setup.candidates import Candidates
from handwright.methods.sampling.setup.hold_data import HoldData

# Digits of a guide touch up to this distance, m: recorded ones hover over what they hold.
_TOUCHING = 3e-3
# Contacts, and gaps between them, that are shorter than this, s, are noise.
_SHORTEST = 0.1
# Points along the axis of a capsule that are looked at.
_ALONG = np.linspace(0.0, 1.0, 5)
# How far from the guide's contact candidates are about as good, m; and how much, in the same unit,
# one with the opposite normal is away.
_NEAR, _TURNED = 0.010, 0.015
# Appeal of candidates anywhere, against 1 at the guide's contact.
_ANYWHERE = 1e-3
# Points of the guide's contacts that are nearer to each other, m, are one.
_SAME_POINT = 4e-3
# Candidates farther away than this from all contacts of the guide, m, are thinned out.
_AROUND, _THINNED = 0.03, 4


class GuideContacts(NamedTuple):
    """Where D digits of a guide touch the body over T frames, in its frame."""

    weight: float
    """How much the guide counts; 0 if there is none."""
    touches: Bool[np.ndarray, "T D"]
    """Whether a digit touches."""
    point: Float[np.ndarray, "T D 3"]
    """The point of the body that a digit touches, or is nearest to, m."""
    normal: Float[np.ndarray, "T D 3"]
    """Outward normal of the body there."""


def no_guide(frames: int, digits: int) -> GuideContacts:
    """A guide that says nothing."""
    point = np.zeros((frames, digits, 3))
    return GuideContacts(0.0, np.zeros((frames, digits), dtype=np.bool_), point, point.copy())


def with_guide_postures(data: HoldData, q: Float[np.ndarray, "T J"]) -> HoldData:
    """The same data, with a guide's postures, rad, as those that digits tend to."""
    return data._replace(
        comfortable=q, curled=q, ready=np.ascontiguousarray(np.stack([q, q], axis=1))
    )


def guide_contacts(
    data: HoldData,
    models: tuple[HandModel, ...],
    q: Float[np.ndarray, "T J"],
    step: float,
    weight: float,
) -> GuideContacts:
    """Finds where the digits of a guide, with joint values in rad, touch the body.

    Frames are ``step`` s apart.
    """
    gaps, points, normals = [], [], []
    for h, model in enumerate(models):
        first = int(data.hands.offset[h])
        wxyz = rotation.from_matrix(data.root_rotation[:, h])
        root = Pose(data.root_position[:, h].copy(), wxyz)
        posed = posed_capsules(model, q[:, first : first + model.num_joints], root)
        for d, digit in enumerate(model.digits):
            rows = np.flatnonzero(model.capsules.digit == d)
            axis = posed.start[:, rows, None] + _ALONG[:, None] * (
                posed.end[:, rows, None] - posed.start[:, rows, None]
            )
            value, gradient = sample_field(data.field, axis.reshape(-1, 3))
            gap = value.reshape(axis.shape[:3]) - model.capsules.radius[rows, None]
            # The last phalanx counts if it touches at all, else whichever is nearest.
            is_last = (model.capsules.link[rows] == digit.pad.link)[:, None]
            order = np.where(is_last & (gap < _TOUCHING), gap - 1.0, gap).reshape(len(q), -1)
            best = order.argmin(axis=1)
            at = np.arange(len(q)) * order.shape[1] + best
            normal = gradient[at] / np.maximum(np.linalg.norm(gradient[at], axis=1), 1e-9)[:, None]
            gaps.append(gap.reshape(-1)[at])
            points.append(axis.reshape(-1, 3)[at] - value[at, None] * normal)
            normals.append(normal)
    touches = np.stack([_without_noise(gap < _TOUCHING, step) for gap in gaps], axis=1)
    return GuideContacts(weight, touches, np.stack(points, axis=1), np.stack(normals, axis=1))


def _without_noise(touches: Bool[np.ndarray, " T"], step: float) -> Bool[np.ndarray, " T"]:
    """Contacts without short gaps, and then without short contacts."""
    least, result = round(_SHORTEST / step), touches.copy()
    for value in (False, True):
        edges = np.flatnonzero(np.diff(result.astype(np.int8)))
        starts, ends = np.append(0, edges + 1), np.append(edges + 1, len(result))
        for start, end in zip(starts, ends, strict=True):
            # What goes on beyond the first or last frame may be long.
            is_inner = start > 0 and end < len(result)
            if is_inner and end - start < least and result[start] == value:
                result[start:end] = not value
    return result


def slice_guide(guide: GuideContacts, start: int, stop: int) -> GuideContacts:
    """The same guide with the frames from ``start`` to before ``stop`` only."""
    return GuideContacts(guide.weight, *(column[start:stop] for column in guide[1:]))


def guided_points(
    guide: GuideContacts, point: Float[np.ndarray, "P 3"], normal: Float[np.ndarray, "P 3"]
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Points of the body, m, that are candidates, and normals there, if there is a guide.

    Those where the guide touches are added, and few are left of those far from them.
    """
    if guide.weight == 0.0 or not guide.touches.any():
        return point, normal
    own, outward = guide.point[guide.touches], guide.normal[guide.touches]
    chosen: list[int] = []
    for n in range(len(own)):
        away = np.linalg.norm(own[chosen] - own[n], axis=1)
        if not chosen or away.min() > _SAME_POINT:
            chosen.append(n)
    own, outward = own[chosen], outward[chosen]
    away = np.linalg.norm(point[:, None] - own, axis=2).min(axis=1)
    keep = (away < _AROUND) | (np.arange(len(point)) % _THINNED == 0)
    return np.concatenate([point[keep], own]), np.concatenate([normal[keep], outward])


def candidate_favour(
    guide: GuideContacts, candidates: Candidates
) -> Float[np.ndarray, "D M K"]:
    """How much candidates are preferred because the guide touches near them; 1 without a guide."""
    digits, count, keys = candidates.cost.shape
    if guide.weight == 0.0:
        return np.ones((digits, count, keys))
    at = candidates.frame
    point, normal = guide.point[at].transpose(1, 0, 2), guide.normal[at].transpose(1, 0, 2)
    away = np.sum((candidates.point[None, :, None] - point[:, None]) ** 2, axis=-1)
    turned = 1.0 - np.einsum("mi,dki->dmk", candidates.normal, normal)
    far = (away + _TURNED**2 * turned) / _NEAR**2
    return np.asarray(_ANYWHERE + np.exp(-guide.weight * far))
