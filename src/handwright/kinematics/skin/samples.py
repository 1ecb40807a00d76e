"""Points of a hand's skin that stand for its whole surface in distance computations.

Each capsule of a hand owns a list of points, those of the palm side first, spread so evenly that
any first part of the list is spread evenly too: few points serve a quick search, many a final
check. A point follows up to four
links (linear blend skinning), so that it is where the drawn skin is. Hands without a skin take
points of the capsules themselves.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.geometry.farthest_first import farthest_first
from handwright.hands.capsules import any_across, distances_to_axes
from handwright.hands.skin.build import skin_of
from handwright.kernels.decorators import inlined
from handwright.kinematics.fk import link_poses, posed_capsules
from handwright.kinematics.skin.skinning import bound_vertices, vertex_normals
from handwright.kinematics.tree import Links, placed

MAX_BLEND = 4
CAPSULE_BULGE = 0.004
"""Capsules stand out from the skin by no more than this, m; the palm's do the most."""
# Cosine between the outward normal and the nail's, above which skin counts as the back.
_BACK = 0.35


class SkinSamples(NamedTuple):
    """Skin points by capsule; rows ``first[c]`` to ``first[c + 1]`` belong to capsule ``c``."""

    first: np.ndarray
    """(C + 1,)"""
    link: np.ndarray
    """(S, 4), -1 after the last link of a point."""
    weight: np.ndarray
    """(S, 4)"""
    local: np.ndarray
    """(S, 4, 3), the point as each link carries it, m."""
    reach: np.ndarray
    """(C,) how far the points of a capsule can be from its axis, m."""
    carrier: np.ndarray
    """(C, K) links that carry points of a capsule, -1 after the last."""
    ball: np.ndarray
    """(C, K, 4) middle and radius of a ball around the points as that link carries them, m."""


def no_samples(model: HandModel) -> SkinSamples:
    """No points for any capsule: distances then go by the capsules."""
    count = len(model.capsules)
    return SkinSamples(
        np.zeros(count + 1, dtype=np.int64),
        np.zeros((0, MAX_BLEND), dtype=np.int64),
        np.zeros((0, MAX_BLEND)),
        np.zeros((0, MAX_BLEND, 3)),
        np.zeros(count),
        np.full((count, 1), -1),
        np.zeros((count, 1, 4)),
    )


@lru_cache(maxsize=16)
def skin_samples(model: HandModel, spacing: float = 0.0025) -> SkinSamples:
    """Spreads points over the skin of every capsule.

    Args:
        model: The hand.
        spacing: Distance of neighbouring points, m. Between points the skin of a finger stands out
            by about spacing^2 / (8 x its radius): 0.1 mm for 2.5 mm.
    """
    rotations, positions = link_poses(model, bind_posture(model))
    if has_skin(model):
        skin = skin_of(model)
        points = bound_vertices(model, skin)
        links, weights = skin.links, skin.weights
        owner = vertex_capsules(model, skin)
        is_back = _is_back(model, vertex_normals(points, skin.faces), owner, rotations)
    else:
        points, owner = _capsule_points(model, spacing)
        points = points + positions[model.capsules.link[owner]]
        links = np.full((len(points), MAX_BLEND), 0)
        links[:, 0] = model.capsules.link[owner]
        weights = np.zeros((len(points), MAX_BLEND))
        weights[:, 0] = 1.0
        is_back = np.zeros(len(points), dtype=bool)
    kept, first = [], [0]
    for capsule in range(len(model.capsules)):
        sides = (np.flatnonzero((owner == capsule) & (is_back == side)) for side in (False, True))
        kept += [part[spread_rows(points[part], spacing)] for part in sides]
        first.append(first[-1] + len(kept[-2]) + len(kept[-1]))
    rows = np.concatenate(kept)
    return _table(
        model, points[rows], links[rows], weights[rows], owner[rows], first, rotations, positions
    )


def has_skin(model: HandModel) -> bool:
    """Whether a hand has a skin of its own; else its points are those of its capsules."""
    return model.skin is not None and model.side != "none"


def bind_posture(model: HandModel) -> np.ndarray:
    """Joint values, rad, at which points are where all links that carry them agree."""
    return np.asarray(skin_of(model).bind) if has_skin(model) else np.zeros(model.num_joints)


def vertex_capsules(model: HandModel, skin: Skin) -> np.ndarray:
    """The capsule under each vertex: the nearest on the link that the vertex follows most."""
    rest = bound_vertices(model, skin)
    distance = _axis_distance(model, rest) - model.capsules.radius
    main = skin.links[np.arange(len(rest)), skin.weights.argmax(axis=1)]
    foreign = main[:, None] != model.capsules.link
    return np.asarray((distance + 1.0 * foreign).argmin(axis=1))


def _is_back(
    model: HandModel, normals: np.ndarray, owner: np.ndarray, rotations: np.ndarray
) -> np.ndarray:
    """Which vertices lie on the back of a digit, where it hardly ever touches anything."""
    back = np.zeros((len(model.capsules), 3))
    for c, digit in enumerate(model.capsules.digit):
        nail = model.digits[digit].nail if digit >= 0 else None
        if nail is not None:
            back[c] = rotations[model.capsules.link[c]] @ nail.normal
    return np.asarray(np.einsum("vi,vi->v", normals, back[owner]) > _BACK)


def _axis_distance(model: HandModel, points: np.ndarray) -> np.ndarray:
    """(V, C) distances of points of the bound hand from the axes of all capsules, m."""
    capsules = posed_capsules(model, bind_posture(model))
    return distances_to_axes(points, capsules.start, capsules.end)


def _capsule_points(model: HandModel, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Points on all capsules in the frames of their links, and the capsule of each."""
    points, owner = [], []
    golden = np.pi * (3.0 - np.sqrt(5.0))
    for c, radius in enumerate(model.capsules.radius):
        start, end = model.capsules.start[c], model.capsules.end[c]
        length = float(np.linalg.norm(end - start))
        count = int(np.ceil(2.0 * np.pi * radius * (length + 2.0 * radius) / spacing**2))
        # Equal steps along the axis of a capsule cut equal areas from it, caps included.
        z = (np.arange(count) + 0.5) / count * (length + 2.0 * radius) - radius
        middle = np.clip(z, 0.0, length)
        ring = np.sqrt(np.maximum(radius**2 - (z - middle) ** 2, 0.0))
        axis = (end - start) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
        first = any_across(axis)
        angle = golden * np.arange(count)
        across = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * np.cross(axis, first)
        points.append(start + z[:, None] * axis + ring[:, None] * across)
        owner.append(np.full(count, c))
    return np.concatenate(points), np.concatenate(owner)


def spread_rows(points: np.ndarray, spacing: float) -> np.ndarray:
    """Rows of points, each the farthest from those before it, until they are ``spacing`` apart."""
    if len(points) == 0:
        return np.zeros(0, dtype=np.int64)
    return farthest_first(
        lambda row: np.linalg.norm(points - points[row], axis=1),
        first=int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax()),
        count=len(points),
        apart=spacing,
    )


def _table(
    model: HandModel,
    points: np.ndarray,
    links: np.ndarray,
    weights: np.ndarray,
    owner: np.ndarray,
    first: list[int],
    rotations: np.ndarray,
    positions: np.ndarray,
) -> SkinSamples:
    order = np.argsort(-weights, axis=1, kind="stable")
    links, weights = (np.take_along_axis(array, order, axis=1) for array in (links, weights))
    # Shares of a hundredth move a point by hundredths of a millimetre.
    weights = np.where(weights < 0.01, 0.0, weights)
    weights = weights / weights.sum(axis=1, keepdims=True)
    local = np.einsum("skji,skj->ski", rotations[links], points[:, None] - positions[links])
    distance = _axis_distance(model, points)[np.arange(len(points)), owner]
    reach = np.zeros(len(model.capsules))
    np.maximum.at(reach, owner, distance)
    links = np.where(weights > 0.0, links, -1).astype(np.int64)
    return SkinSamples(
        np.array(first),
        links,
        np.ascontiguousarray(weights),
        np.ascontiguousarray(local),
        # Bending moves skin near a joint; a generous bound only costs a few distances.
        reach + 0.004,
        *_carriers(links, local, owner, len(model.capsules)),
    )


def _carriers(
    links: np.ndarray, local: np.ndarray, owner: np.ndarray, num_capsules: int
) -> tuple[np.ndarray, np.ndarray]:
    """Links that carry points of each capsule, and balls around these points."""
    own = [np.unique(links[(owner == c)[:, None] & (links >= 0)]) for c in range(num_capsules)]
    most = max((len(row) for row in own), default=0)
    carrier = np.full((num_capsules, max(most, 1)), -1)
    ball = np.zeros((*carrier.shape, 4))
    for c, row in enumerate(own):
        carrier[c, : len(row)] = row
        for k, link in enumerate(row):
            points = local[(owner == c)[:, None] & (links == link)]
            middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
            ball[c, k, :3] = middle
            ball[c, k, 3] = np.linalg.norm(points - middle, axis=1).max()
    return carrier, ball


@inlined
def sample_position(samples: SkinSamples, row: int, links: Links) -> tuple[float, float, float]:
    """World position of one skin point."""
    x = y = z = 0.0
    for k in range(MAX_BLEND):
        link = samples.link[row, k]
        if link < 0:
            break
        local, share = samples.local, samples.weight[row, k]
        px, py, pz = placed(links, link, local[row, k, 0], local[row, k, 1], local[row, k, 2])
        x += share * px
        y += share * py
        z += share * pz
    return x, y, z
