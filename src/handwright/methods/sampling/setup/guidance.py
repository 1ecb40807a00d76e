"""What a guide says to the search: where and when its digits touch, and which postures it has.

A guide is any motion of the fingers. Its contacts need not hold, its skin may be in the body or off
it by some millimetres: it says what is preferred, and forbids nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.hand import HandModel
from handwright.geometry.distance.sdf import sample_field
from handwright.kinematics import posed_capsules
from handwright.kinematics.fk import link_poses
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.methods.sampling.setup.hold_data import HoldData
from handwright.methods.sampling.structs import zeros

if TYPE_CHECKING:
    from handwright.methods.sampling.setup.candidates import Candidates

# Digits of a guide touch up to this distance, m: recorded ones hover over what they hold.
_TOUCHING = 3e-3
# Contacts, and gaps between them, that are shorter than this, s, are noise.
_SHORTEST = 0.1
# Points along the axis of a capsule that are looked at.
_ALONG = np.linspace(0.0, 1.0, 5)
# How far from the guide's contact candidates are about as good, m; and how much, in the same unit,
# one with the opposite normal is away.
_NEAR, _TURNED = 0.006, 0.009
# Appeal of candidates anywhere, against 1 at the guide's contact.
_ANYWHERE = 1e-3
# Points of the guide's contacts that are nearer to each other, m, are one.
_SAME_POINT = 4e-3
# Number of points of a digit that may touch because they do in the guide, and how near to each
# other, m, such points are one.
GUIDE_PADS, _SAME_PAD = 3, 4e-3
# Candidates within this distance of a contact of the guide, m, are reached from its posture.
_REACHED = 0.015
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
    gap: Float[np.ndarray, "T D"]
    """Distance of the digit from the body, m; negative where it is in it."""
    link: Int[np.ndarray, "T D"]
    """The link that touches or is nearest."""
    local: Float[np.ndarray, "T D 3"]
    """The point of the digit that touches or is nearest, in the frame of that link, m."""


def no_guide(frames: int, digits: int) -> GuideContacts:
    """A guide that says nothing."""
    return zeros(GuideContacts, {"T": frames, "D": digits}, weight=0.0)


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
    pad_depth: float,
) -> GuideContacts:
    """Finds where the digits of a guide, with joint values in rad, touch the body.

    Frames are ``step`` s apart; points of digits lie ``pad_depth``, m, below the skin.
    """
    found = []
    for h, model in enumerate(models):
        first = int(data.hands.offset[h])
        wxyz = rotation.from_matrix(data.root_rotation[:, h])
        root = Pose(data.root_position[:, h].copy(), wxyz)
        own = q[:, first : first + model.num_joints]
        posed, (turns, places) = posed_capsules(model, own, root), link_poses(model, own, root)
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
            middle, here = axis.reshape(-1, 3)[at], np.arange(len(q))
            capsule = rows[best // len(_ALONG)]
            link, radius = model.capsules.link[capsule], model.capsules.radius[capsule]
            skin = middle - (radius - pad_depth)[:, None] * normal - places[here, link]
            local = np.einsum("tji,tj->ti", turns[here, link], skin)
            least = gap.reshape(-1)[at]
            point = middle - value[at, None] * normal
            touches = _without_noise(least < _TOUCHING, step)
            found.append((touches, point, normal, least, link + first, local))
    columns = (np.stack(column, axis=1) for column in zip(*found, strict=True))
    return GuideContacts(weight, *columns)


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


def with_guide_pads(data: HoldData, guide: GuideContacts) -> HoldData:
    """The same data with the points of digits that touch in the guide among those that may touch.

    Returned are ``GUIDE_PADS`` more columns of ``pads``; digits that touch with fewer points have
    link -1 there.
    """
    digits = len(data.pad_link)
    pads, links = np.zeros((digits, GUIDE_PADS, 3)), np.full((digits, GUIDE_PADS), -1)
    for d in range(digits):
        rows = np.flatnonzero(guide.touches[:, d])
        for g in range(GUIDE_PADS if rows.size else 0):
            # The point that most of those frames share that no earlier point stands for.
            apart = np.linalg.norm(guide.local[rows, None, d] - guide.local[rows, d], axis=2)
            alike = (apart < _SAME_PAD) & (guide.link[rows, None, d] == guide.link[rows, d])
            most = int(alike.sum(axis=1).argmax())
            pads[d, g], links[d, g] = guide.local[rows[most], d], guide.link[rows[most], d]
            rows = rows[~alike[most]]
            if rows.size == 0:
                break
    return data._replace(
        pads=np.concatenate([data.pads, pads], axis=1),
        pad_links=np.concatenate([data.pad_links, links], axis=1),
    )


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


def write_guided_starts(
    start: Float[np.ndarray, "D M K N"],
    data: HoldData,
    guide: GuideContacts,
    point: Float[np.ndarray, "M 3"],
    frames: Int[np.ndarray, " K"],
) -> None:
    """Writes the guide's postures, rad, where candidates, m, are near its contacts at key frames.

    Inverse kinematics starts from them.
    """
    variants = data.pads.shape[1]
    count = len(point) // variants
    for d, free in enumerate(data.hands.table.free):
        own = free[free >= 0]
        away = np.linalg.norm(point[:, None] - guide.point[frames, d], axis=2)
        near = away < _REACHED
        near[:, ~guide.touches[frames, d]] = False
        for variant in range(variants):
            block = slice(variant * count, (variant + 1) * count)
            if data.pad_links[d, variant] < 0:
                near[block] = False
        m, k = np.nonzero(near)
        start[d, m, k, : len(own)] = data.comfortable[frames[k]][:, own]


def candidate_favour(guide: GuideContacts, candidates: Candidates) -> Float[np.ndarray, "D M K"]:
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
