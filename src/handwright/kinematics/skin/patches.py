"""Skin points in patches, so that most of them need not be looked at.

A point follows up to four links: it is ``Σ w_k x_k``, where ``x_k`` is where link k alone would
carry it. Let every link also carry the middle of the point's patch, to ``c_k``, with all points of
the patch within ``r``. Then the point is within ``max_k |c_k - c_0| + r`` of ``c_0``, whatever the
posture, and its distance from anything is no less than that of ``c_0`` less so much.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.kernels.decorators import inlined
from handwright.kinematics.fk import link_poses
from handwright.kinematics.skin.samples import SkinSamples, bind_posture, skin_samples, spread_rows
from handwright.kinematics.tree import Links, placed

# Between middles of patches, m: about ten points at their usual spacing.
_SIZE = 0.008


class SkinPatches(NamedTuple):
    """Points by patch, and patches by capsule, those of capsule ``c`` from ``first[c]`` on."""

    first: np.ndarray
    """(C + 1,)"""
    begin: np.ndarray
    """(P + 1,) where the points of each patch begin in ``row``."""
    row: np.ndarray
    """(S,) of the skin samples."""
    carrier: np.ndarray
    """(P, K) links that carry points of a patch, -1 after the last."""
    middle: np.ndarray
    """(P, K, 3) as each of them carries it, m."""
    radius: np.ndarray
    """(P,) m."""


@lru_cache(maxsize=16)
def skin_patches(model: HandModel, spacing: float) -> SkinPatches:
    """Puts neighbouring skin points together.

    Args:
        model: The hand.
        spacing: Of the points; see ``skin_samples``.
    """
    samples = skin_samples(model, spacing)
    rotations, positions = link_poses(model, bind_posture(model))
    main = samples.link[:, 0]
    points = positions[main] + np.einsum("sij,sj->si", rotations[main], samples.local[:, 0])
    first, groups = [0], []
    for c in range(len(samples.first) - 1):
        own = np.arange(samples.first[c], samples.first[c + 1])
        seeds = own[spread_rows(points[own], _SIZE)]
        away = np.linalg.norm(points[own][:, None] - points[seeds], axis=-1)
        nearest = away.argmin(axis=1) if len(own) else np.zeros(0, dtype=np.int64)
        groups += [own[nearest == n] for n in range(len(seeds))]
        first.append(len(groups))
    return _table(samples, points, rotations, positions, np.array(first), groups)


def _table(
    samples: SkinSamples,
    points: np.ndarray,
    rotations: np.ndarray,
    positions: np.ndarray,
    first: np.ndarray,
    groups: list[np.ndarray],
) -> SkinPatches:
    carriers = [np.unique(samples.link[group][samples.link[group] >= 0]) for group in groups]
    most = max((len(own) for own in carriers), default=1)
    carrier = np.full((len(groups), most), -1)
    middle, radius = np.zeros((len(groups), most, 3)), np.zeros(len(groups))
    for p, (group, own) in enumerate(zip(groups, carriers, strict=True)):
        center = 0.5 * (points[group].min(axis=0) + points[group].max(axis=0))
        carrier[p, : len(own)] = own
        middle[p, : len(own)] = np.einsum("kji,kj->ki", rotations[own], center - positions[own])
        radius[p] = np.linalg.norm(points[group] - center, axis=1).max()
    return SkinPatches(
        first,
        np.cumsum([0, *(len(group) for group in groups)]),
        np.concatenate([np.zeros(0, dtype=np.int64), *groups]),
        carrier,
        middle,
        radius,
    )


@inlined
def patch_ball(patches: SkinPatches, p: int, links: Links) -> tuple[float, float, float, float]:
    """Middle and radius of a ball in the world, m, that all points of a patch are in."""
    m = patches.middle
    x, y, z = placed(links, patches.carrier[p, 0], m[p, 0, 0], m[p, 0, 1], m[p, 0, 2])
    farthest = 0.0
    for k in range(1, patches.carrier.shape[1]):
        link = patches.carrier[p, k]
        if link < 0:
            break
        a, b, c = placed(links, link, m[p, k, 0], m[p, k, 1], m[p, k, 2])
        farthest = max(farthest, (a - x) ** 2 + (b - y) ** 2 + (c - z) ** 2)
    return x, y, z, np.sqrt(farthest) + patches.radius[p]
