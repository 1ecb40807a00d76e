"""Where the skin of a moving hand touches or enters a moving body, exactly and quickly.

A distance changes by no more than its point moves. A vertex is looked at again only after the links
that it follows have moved, in the body's frame, far enough to have brought it within reach and
nearer than the others over its capsule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.core.surface import Surface
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.kernels.decorators import compiled
from handwright.kinematics.fk import posed_capsules
from handwright.kinematics.skin.skinning import blended_links, link_travel
from handwright.math.pose import Pose

# Points along the axis of a capsule that stand for it, where there is no skin.
_AXIS_SAMPLES = 5


class SkinGaps(NamedTuple):
    """Nearest skin vertices, by the capsule that lies under them, in the body's frame."""

    gap: Float[np.ndarray, "T C"]
    """m; infinity where no vertex is within reach."""
    point: Float[np.ndarray, "T C 3"]
    """On the body's surface."""
    outward: Float[np.ndarray, "T C 3"]
    """Unit normal out of the body."""
    depth: Float[np.ndarray, " T"]
    """Depth of the deepest vertex, m; 0 where none is inside."""


def skin_gaps(
    model: HandModel,
    skin: Skin,
    owner: Int[np.ndarray, " V"],
    q: Float[np.ndarray, "T J"],
    root: Pose,
    body: Pose,
    exact: ExactDistance,
    *,
    reach: float,
) -> SkinGaps:
    """Gaps of the skin over the frames of a motion.

    Args:
        model: The hand.
        skin: Its skin.
        owner: From ``vertex_capsules``.
        q: rad.
        root: (T,) poses of the hand's root.
        body: (T,) poses of the body.
        exact: Distances of the body.
        reach: Larger gaps are left out, m.
    """
    count, num_capsules = len(q), len(model.capsules)
    gap = np.full((count, num_capsules), np.inf)
    point, outward = np.zeros((count, num_capsules, 3)), np.zeros((count, num_capsules, 3))
    depth = np.zeros(count)
    local = body.inverse() @ root
    looked = nearest_vertices(model, skin, owner, q, local, exact.signed_distance, reach=reach)
    for t, which, (distance, closest, _, normal) in looked:
        # Deepest last, so that it is the one that stays.
        order = np.argsort(-distance)
        order = order[distance[order] <= reach]
        c = owner[which[order]]
        gap[t, c], point[t, c], outward[t, c] = distance[order], closest[order], normal[order]
        depth[t] = max(0.0, -float(distance.min()))
    return SkinGaps(gap, point, outward, depth)


def nearest_vertices(
    model: HandModel,
    skin: Skin,
    group: Int[np.ndarray, " V"],
    q: Float[np.ndarray, "T J"],
    root: Pose,
    measure: Callable[[np.ndarray], tuple[np.ndarray, ...]],
    *,
    reach: float,
) -> Iterator[tuple[int, Int[np.ndarray, " K"], tuple[np.ndarray, ...]]]:
    """Frames with vertices within reach: which, and what is measured there.

    Among them is the nearest of every group that has one within reach.

    Args:
        model: The hand.
        skin: Its skin.
        group: To which each vertex belongs, from 0.
        q: rad.
        root: (T,) poses of the hand's root, in the frame that distances are measured in.
        measure: Distances of points, m, and more.
        reach: m.
    """
    rest, change, shift = blended_links(model, skin, q, root)
    travel = link_travel(model, skin, change, shift)
    number = len(rest)
    vertices = _Vertices(rest, skin.links, skin.weights, group)
    memory = _Memory(
        known=np.zeros(number),
        moved=np.full(number, np.inf),
        seen=np.zeros((number, 3)),
        position=np.zeros((number, 3)),
        most=np.zeros(int(group.max()) + 1),
        due=np.zeros(number, dtype=np.int64),
    )
    for t in range(len(q)):
        num_due = _due_vertices(vertices, change[t], shift[t], travel[t], reach, memory)
        if num_due == 0:
            continue
        which = memory.due[:num_due].copy()
        position = memory.position[which]
        found = measure(position)
        memory.known[which], memory.moved[which], memory.seen[which] = found[0], 0.0, position
        yield t, which, found


class _Vertices(NamedTuple):
    """The skin at rest, and what its vertices follow."""

    rest: Float[np.ndarray, "V 3"]
    links: Int[np.ndarray, "V K"]
    weights: Float[np.ndarray, "V K"]
    group: Int[np.ndarray, " V"]


class _Memory(NamedTuple):
    """What is known of the vertices from earlier frames."""

    known: Float[np.ndarray, " V"]
    """Distance when a vertex was last looked at, m."""
    moved: Float[np.ndarray, " V"]
    """How far it has gone from there at most, m."""
    seen: Float[np.ndarray, "V 3"]
    """Where it was then, m."""
    position: Float[np.ndarray, "V 3"]
    """Where it is, of vertices that are due, m."""
    most: Float[np.ndarray, " G"]
    """What the nearest vertex of a group is not farther away than, m."""
    due: Int[np.ndarray, " V"]
    """Vertices to be looked at, as many as are returned."""


@compiled
def _due_vertices(
    vertices: _Vertices,
    change: np.ndarray,
    shift: np.ndarray,
    travel: np.ndarray,
    reach: float,
    memory: _Memory,
) -> int:
    """Writes the vertices that may be the nearest of their groups, and their positions."""
    rest, links, weights, group = vertices
    known, moved, seen, position, most, due = memory
    most[:] = reach
    for v in range(rest.shape[0]):
        for k in range(links.shape[1]):
            moved[v] += weights[v, k] * travel[links[v, k]]
        most[group[v]] = min(most[group[v]], known[v] + moved[v])
    count = 0
    for v in range(rest.shape[0]):
        if known[v] - moved[v] > most[group[v]]:
            continue
        x, y, z = 0.0, 0.0, 0.0
        for k in range(links.shape[1]):
            w = weights[v, k]
            if w == 0.0:
                continue
            a, b = change[links[v, k]], shift[links[v, k]]
            p, q, r = rest[v, 0], rest[v, 1], rest[v, 2]
            x += w * (a[0, 0] * p + a[0, 1] * q + a[0, 2] * r + b[0])
            y += w * (a[1, 0] * p + a[1, 1] * q + a[1, 2] * r + b[1])
            z += w * (a[2, 0] * p + a[2, 1] * q + a[2, 2] * r + b[2])
        if moved[v] < np.inf:
            away = np.sqrt((x - seen[v, 0]) ** 2 + (y - seen[v, 1]) ** 2 + (z - seen[v, 2]) ** 2)
            moved[v] = min(moved[v], away)
            if known[v] - moved[v] > most[group[v]]:
                continue
        position[v, 0], position[v, 1], position[v, 2] = x, y, z
        due[count] = v
        count += 1
    return count


def depth_in_surroundings(
    model: HandModel,
    skin: Skin | None,
    q: Float[np.ndarray, "T J"],
    root: Pose,
    surfaces: tuple[Surface, ...],
) -> Float[np.ndarray, " T"]:
    """How deep the skin, or a hand without skin by its capsules, is in the surroundings, m."""
    depth = np.zeros(len(q))
    if not surfaces:
        return depth

    def measure(points: np.ndarray) -> tuple[np.ndarray]:
        return (np.min([surface_distance(surface, points)[0] for surface in surfaces], axis=0),)

    if skin is None:
        capsules = posed_capsules(model, q, root)
        share = np.linspace(0.0, 1.0, _AXIS_SAMPLES)[:, None, None, None]
        axis = capsules.start + share * (capsules.end - capsules.start)
        least = measure(axis.reshape(-1, 3))[0].reshape(axis.shape[:-1])
        return np.maximum(-(least - capsules.radius).min(axis=(0, 2)), 0.0)
    one = np.zeros(len(skin.vertices), dtype=np.int64)
    for t, _, (distance,) in nearest_vertices(model, skin, one, q, root, measure, reach=0.0):
        depth[t] = max(0.0, -float(distance.min()))
    return depth
