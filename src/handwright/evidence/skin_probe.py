"""Where the skin of a moving hand touches or enters a moving body, exactly and quickly.

A distance changes by no more than its point moves. A vertex that was far from the body is looked
at again only after it has moved, in the body's frame, far enough to have come near.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.core.surface import Surface
from handwright.evidence.probes import surface_distance
from handwright.geometry.exact import ExactDistance
from handwright.kinematics import link_poses, posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose

_CHUNK = 32


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


def vertex_capsules(model: HandModel, skin: Skin) -> Int[np.ndarray, " V"]:
    """The capsule under each vertex: the nearest on the link that the vertex follows most."""
    turns, places = link_poses(model, skin.bind)
    wrist = model.wrist_link
    rest = skin.vertices @ turns[wrist].T + places[wrist]
    capsules = model.capsules
    start = places[capsules.link] + np.einsum("cij,cj->ci", turns[capsules.link], capsules.start)
    end = places[capsules.link] + np.einsum("cij,cj->ci", turns[capsules.link], capsules.end)
    along = end - start
    length = np.maximum(np.einsum("ci,ci->c", along, along), 1e-18)
    share = np.einsum("vci,ci->vc", rest[:, None] - start, along) / length
    nearest = start + np.clip(share, 0.0, 1.0)[..., None] * along
    distance = np.linalg.norm(rest[:, None] - nearest, axis=-1) - capsules.radius
    main = skin.links[np.arange(len(rest)), skin.weights.argmax(axis=1)]
    foreign = main[:, None] != capsules.link
    return (distance + 1.0 * foreign).argmin(axis=1)


def part_of_skin(skin: Skin, chosen: Int[np.ndarray, " K"]) -> Skin:
    """Only some vertices of a skin, without faces."""
    return replace(
        skin,
        vertices=skin.vertices[chosen],
        links=skin.links[chosen],
        weights=skin.weights[chosen],
        faces=np.zeros((0, 3), dtype=np.int64),
        is_nail=np.zeros(0, dtype=bool),
    )


def skin_gaps(
    model: HandModel,
    skin: Skin,
    owner: Int[np.ndarray, " V"],
    q: Float[np.ndarray, "T J"],
    root: Pose,
    body: Pose,
    exact: ExactDistance,
    *,
    near: Bool[np.ndarray, "T C"],
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
        near: In which frames the skin over which capsules may come near the body at all.
        reach: Larger gaps are left out, m.
    """
    count, num_capsules = len(q), len(model.capsules)
    gap = np.full((count, num_capsules), np.inf)
    point, outward = np.zeros((count, num_capsules, 3)), np.zeros((count, num_capsules, 3))
    depth = np.zeros(count)
    turn = rotation.to_matrix(body.wxyz)
    known = np.full(len(owner), -np.inf)
    seen = np.zeros((len(owner), 3))
    for first in range(0, count, _CHUNK):
        frames = slice(first, min(first + _CHUNK, count))
        chosen = np.flatnonzero(np.asarray(near[frames].any(axis=0))[owner])
        if chosen.size == 0:
            continue
        world = posed_skin(model, part_of_skin(skin, chosen), q[frames], root[frames])
        local = np.einsum("tvi,tij->tvj", world - body.position[frames][:, None], turn[frames])
        for offset, here in enumerate(local):
            moved = np.linalg.norm(here - seen[chosen], axis=1)
            which = np.flatnonzero(known[chosen] - moved <= reach)
            if which.size == 0:
                continue
            due = chosen[which]
            distance, closest, _, normal = exact.signed_distance(here[which])
            known[due], seen[due] = distance, here[which]
            # Deepest last, so that it is the one that stays.
            order = np.argsort(-distance)
            order = order[distance[order] <= reach]
            t, c = first + offset, owner[due[order]]
            gap[t, c], point[t, c], outward[t, c] = distance[order], closest[order], normal[order]
            depth[t] = max(0.0, -float(distance.min()))
    return SkinGaps(gap, point, outward, depth)


def skin_depth_in_surroundings(
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
    turns, places = link_poses(model, q, root)
    capsules = model.capsules
    share = np.linspace(0.0, 1.0, 5)[:, None, None]
    local = capsules.start + share * (capsules.end - capsules.start)
    axis = np.einsum("tcij,scj->tsci", turns[:, capsules.link], local)
    axis += places[:, None, capsules.link]
    flat, shape = axis.reshape(-1, 3), axis.shape[:-1]
    least = np.min([surface_distance(s, flat)[0] for s in surfaces], axis=0).reshape(shape)
    gap = (least - capsules.radius).min(axis=(1, 2))
    if skin is None:
        return np.maximum(-gap, 0.0)
    # The skin stands out from its capsules by a few millimetres at most.
    for t in np.flatnonzero(gap < 0.01):
        vertices = posed_skin(model, skin, q[t], root[t])
        inside = min(float(surface_distance(s, vertices)[0].min()) for s in surfaces)
        depth[t] = max(0.0, -inside)
    return depth
