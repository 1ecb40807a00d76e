"""The skin of a hand as points, with positions and gradients for a solver.

Points follow up to four links. They are sorted by patches, a few for each capsule, so that the
nearest point of every patch stands for it: that keeps flat contacts from rocking in a search. Balls
along the axes of the capsules go with them: they stand for arms, which have no skin, and inside
digits for the bone, so that no thin wall comes to lie between the two sides of a finger.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from handwright.core.hand import HandModel
from handwright.geometry.distance.environment import EnvironmentArrays, surface_value_gradient
from handwright.hands.skin.build import skin_of
from handwright.kernels.decorators import compiled, kernel
from handwright.kinematics import link_poses
from handwright.kinematics.skin.samples import skin_samples, vertex_capsules
from handwright.kinematics.skin.skinning import vertex_normals
from handwright.kinematics.tree import Links, Tree, placed

_PATCHES = 6
# Balls along a capsule.
_BALLS = 6
# How far the balls stay below a capsule's surface, m: of a digit, and of a palm, whose capsules
# stand out of the skin.
_UNDER_DIGIT, _UNDER_PALM = 0.003, 0.006


class SkinPoints(NamedTuple):
    """Points that stand for the surface of a hand, sorted by patch."""

    link: np.ndarray
    """(S, 4), -1 after the last link of a point."""
    weight: np.ndarray
    """(S, 4)"""
    local: np.ndarray
    """(S, 4, 3), the point as each link carries it, m."""
    radius: np.ndarray
    """(S,) of the ball around the point, m; 0 for skin."""
    main: np.ndarray
    """(S,) the link that a point follows most."""
    normal: np.ndarray
    """(S, 3), out of the hand, in the frame of the main link."""
    owner: np.ndarray
    """(S,) the capsule under the point."""
    first: np.ndarray
    """(P + 1,) rows at which patches start."""


@lru_cache(maxsize=8)
def skin_points(model: HandModel, spacing: float = 0.0) -> SkinPoints:
    """Points of the skin.

    Args:
        model: The hand.
        spacing: About the distance between points, m; 0 for every vertex.
    """
    if model.skin is not None and model.side != "none":
        link, weight, local, normal, owner = _of_skin(model, spacing)
    else:
        link, weight, local, normal, owner = _of_capsules(model)
    main = link[:, 0]
    radius = np.zeros(len(link))
    balls = _balls(model, np.isin(np.arange(len(model.capsules)), owner))
    link, weight, local, radius, main, normal, owner = (
        np.concatenate(pair)
        for pair in zip((link, weight, local, radius, main, normal, owner), balls, strict=True)
    )
    patch = _patches(local[:, 0], main, owner)
    order = np.argsort(patch, kind="stable")
    starts = np.flatnonzero(np.diff(patch[order], prepend=-1))
    first = np.append(starts, len(order)).astype(np.int64)
    parts = (link, weight, local, radius, main, normal, owner)
    return SkinPoints._make([*(np.ascontiguousarray(part[order]) for part in parts), first])


def _of_skin(model: HandModel, spacing: float) -> tuple[np.ndarray, ...]:
    skin = skin_of(model)
    turns, places = link_poses(model, skin.bind)
    wrist = model.wrist_link
    points = skin.vertices @ turns[wrist].T + places[wrist]
    normals = vertex_normals(points, skin.faces)
    owner = vertex_capsules(model, skin)
    rows = np.arange(len(points))
    if spacing > 0.0:
        cell = np.column_stack([owner, np.round(points / spacing)])
        rows = np.sort(np.unique(cell, axis=0, return_index=True)[1])
    order = np.argsort(-skin.weights[rows], axis=1, kind="stable")
    link = np.take_along_axis(skin.links[rows], order, axis=1)
    weight = np.take_along_axis(skin.weights[rows], order, axis=1)
    local = np.einsum("skji,skj->ski", turns[link], points[rows, None] - places[link])
    normal = np.einsum("sji,sj->si", turns[link[:, 0]], normals[rows])
    link = np.where(weight > 0.0, link, -1).astype(np.int64)
    return link, weight, local, normal, owner[rows]


def _of_capsules(model: HandModel) -> tuple[np.ndarray, ...]:
    samples = skin_samples(model)
    owner = np.repeat(np.arange(len(model.capsules)), np.diff(samples.first))
    start, end = model.capsules.start[owner], model.capsules.end[owner]
    along = end - start
    length = np.maximum(np.einsum("si,si->s", along, along), 1e-12)
    point = samples.local[:, 0]
    share = np.clip(np.einsum("si,si->s", point - start, along) / length, 0.0, 1.0)
    normal = point - start - share[:, None] * along
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    return samples.link, samples.weight, samples.local, normal, owner


def _balls(model: HandModel, has_skin: np.ndarray) -> tuple[np.ndarray, ...]:
    """Balls along all capsules; below the skin where there is one."""
    capsules, share = model.capsules, np.linspace(0.0, 1.0, _BALLS)[:, None]
    under = np.where(has_skin, np.where(capsules.digit >= 0, _UNDER_DIGIT, _UNDER_PALM), 0.0)
    owner = np.repeat(np.arange(len(capsules)), _BALLS)
    points = _fixed(
        capsules.link[owner],
        np.concatenate(
            [a + share * (b - a) for a, b in zip(capsules.start, capsules.end, strict=True)]
        ),
    )
    radius = np.maximum(capsules.radius - under, 0.0)[owner]
    return *points, radius, points[0][:, 0], np.zeros((len(owner), 3)), owner


def _fixed(link: np.ndarray, local: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Links, weights and local places of points that follow one link each."""
    links, weight = np.full((len(link), 4), -1), np.zeros((len(link), 4))
    locals_ = np.zeros((len(link), 4, 3))
    links[:, 0], weight[:, 0], locals_[:, 0] = link, 1.0, local
    return links, weight, locals_


def fixed_points(link: np.ndarray, local: np.ndarray) -> SkinPoints:
    """Points that follow one link each."""
    count = len(link)
    parts = _fixed(link, local)
    return SkinPoints(
        *parts,
        np.zeros(count),
        parts[0][:, 0].copy(),
        np.zeros((count, 3)),
        np.zeros(count, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


def select_points(points: SkinPoints, keep: np.ndarray) -> tuple[SkinPoints, np.ndarray]:
    """Some of the points, and the new row of every old one (-1 for those left out)."""
    patch = np.repeat(np.arange(len(points.first) - 1), np.diff(points.first))[keep]
    first = np.append(np.flatnonzero(np.diff(patch, prepend=-1)), len(patch)).astype(np.int64)
    row = np.full(len(keep), -1)
    row[keep] = np.arange(len(patch))
    kept = [np.ascontiguousarray(array[keep]) for array in points[:-1]]
    return SkinPoints._make([*kept, first]), row


def _patches(points: np.ndarray, main: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """A number for every point; points of one patch are near each other on one capsule."""
    patch = np.zeros(len(points), dtype=np.int64)
    used = 0
    for c in np.unique(owner):
        own = np.flatnonzero(owner == c)
        # Points on another main link are a patch of their own: their frames differ.
        for link in np.unique(main[own]):
            rows = own[main[own] == link]
            seeds = [int(np.linalg.norm(points[rows] - points[rows].mean(0), axis=1).argmax())]
            distance = np.linalg.norm(points[rows] - points[rows[seeds[0]]], axis=1)
            label = np.zeros(len(rows), dtype=np.int64)
            for k in range(1, min(_PATCHES, len(rows))):
                seeds.append(int(distance.argmax()))
                away = np.linalg.norm(points[rows] - points[rows[seeds[-1]]], axis=1)
                label[away < distance] = k
                distance = np.minimum(distance, away)
            label = np.unique(label, return_inverse=True)[1]
            patch[rows] = used + label
            used += int(label.max()) + 1
    return patch


@kernel
def place_points(points: SkinPoints, links: Links, out: np.ndarray) -> None:
    """Writes where the points are, (S, 3), m."""
    for s in range(points.link.shape[0]):
        x = y = z = 0.0
        for k in range(4):
            link = points.link[s, k]
            if link < 0:
                break
            w, local = points.weight[s, k], points.local[s, k]
            px, py, pz = placed(links, link, local[0], local[1], local[2])
            x, y, z = x + w * px, y + w * py, z + w * pz
        out[s, 0], out[s, 1], out[s, 2] = x, y, z


@kernel
def patch_nearest(first: np.ndarray, distance: np.ndarray, rows: np.ndarray) -> None:
    """Writes the row of least distance of every patch."""
    for p in range(first.shape[0] - 1):
        best = first[p]
        for s in range(first[p] + 1, first[p + 1]):
            if distance[s] < distance[best]:
                best = s
        rows[p] = best


@kernel
def add_gradients(
    points: SkinPoints,
    rows: np.ndarray,
    direction: np.ndarray,
    into: np.ndarray,
    tree: Tree,
    links: Links,
    out: np.ndarray,
) -> None:
    """Adds gradients of the points' positions along directions, by joints and then by the root.

    Args:
        points: Points of the skin.
        rows: (N,) which of them.
        direction: (N, 3).
        into: (N,) the row of ``out`` for each.
        tree: Joints of the hand.
        links: Where they are.
        out: (R, J + 6); the last six columns are shift and turn of the root.
    """
    num_joints = tree.parent.shape[0]
    for n in range(rows.shape[0]):
        dx, dy, dz = direction[n, 0], direction[n, 1], direction[n, 2]
        row, s = into[n], rows[n]
        for k in range(4):
            link = points.link[s, k]
            if link < 0:
                break
            w, local, p = points.weight[s, k], points.local[s, k], links.position
            x, y, z = placed(links, link, local[0], local[1], local[2])
            at = link
            while at > 0:
                j = at - 1
                ax, ay, az = links.axis[j, 0], links.axis[j, 1], links.axis[j, 2]
                if tree.is_slide[j]:
                    out[row, j] += w * (dx * ax + dy * ay + dz * az)
                else:
                    u, v, t = x - p[at, 0], y - p[at, 1], z - p[at, 2]
                    out[row, j] += w * (
                        dx * (ay * t - az * v) + dy * (az * u - ax * t) + dz * (ax * v - ay * u)
                    )
                at = tree.parent[j]
            u, v, t = x - p[0, 0], y - p[0, 1], z - p[0, 2]
            out[row, num_joints] += w * dx
            out[row, num_joints + 1] += w * dy
            out[row, num_joints + 2] += w * dz
            out[row, num_joints + 3] += w * (v * dz - t * dy)
            out[row, num_joints + 4] += w * (t * dx - u * dz)
            out[row, num_joints + 5] += w * (u * dy - v * dx)


@kernel
def add_rotation_gradients(
    link: np.ndarray, vector: np.ndarray, tree: Tree, links: Links, out: np.ndarray
) -> None:
    """Adds gradients of vectors (N, 3) that turn with links (N,), into three rows for each."""
    num_joints = tree.parent.shape[0]
    for n in range(link.shape[0]):
        x, y, z = vector[n, 0], vector[n, 1], vector[n, 2]
        row = 3 * n
        at = link[n]
        while at > 0:
            j = at - 1
            if not tree.is_slide[j]:
                ax, ay, az = links.axis[j, 0], links.axis[j, 1], links.axis[j, 2]
                out[row, j] += ay * z - az * y
                out[row + 1, j] += az * x - ax * z
                out[row + 2, j] += ax * y - ay * x
            at = tree.parent[j]
        out[row, num_joints + 4] += z
        out[row, num_joints + 5] -= y
        out[row + 1, num_joints + 3] -= z
        out[row + 1, num_joints + 5] += x
        out[row + 2, num_joints + 3] += y
        out[row + 2, num_joints + 4] -= x


@compiled
def environment_distances(
    environment: EnvironmentArrays, points: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray]:
    """Distances (S,) of points from the nearest surface, m, and unit gradients (S, 3).

    Boxes around which a ball is farther away than ``reach`` from a point are passed over: there are
    many, and few are near. So distances above it may be too large, up to infinity.
    """
    planes = len(environment.offsets)
    extents = environment.half_extents
    around = np.zeros(len(extents))
    for b in range(len(extents)):
        around[b] = (np.sqrt((extents[b] ** 2).sum()) + reach) ** 2
    value, gradient = np.full(len(points), np.inf), np.zeros((len(points), 3))
    for index in range(len(environment.frictions)):
        for s in range(len(points)):
            x, y, z = points[s, 0], points[s, 1], points[s, 2]
            if index >= planes:
                center = environment.positions[index - planes]
                away = (x - center[0]) ** 2 + (y - center[1]) ** 2 + (z - center[2]) ** 2
                if away > around[index - planes]:
                    continue
            d, gx, gy, gz = surface_value_gradient(environment, index, x, y, z)
            if d < value[s]:
                value[s] = d
                gradient[s, 0], gradient[s, 1], gradient[s, 2] = gx, gy, gz
    return value, gradient
