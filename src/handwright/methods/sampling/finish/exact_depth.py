"""How deep the whole skin of a hand is in a body's mesh and in the surroundings.

The search looks at some points of the skin and reads a grid of distances, which hides a fraction
of a millimetre. Here every vertex counts. A distance changes by no more than its point moves, so a
vertex is looked at again only after its links have moved far enough; and the grid says which need
a closer look.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from handwright.core.hand import HandModel
from handwright.geometry.distance.environment import EnvironmentArrays, environment_value_gradient
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import Field, field_value
from handwright.hands.skin.build import skin_of
from handwright.kernels.decorators import inlined, kernel
from handwright.kernels.packed import Packed
from handwright.kinematics import posed_capsules
from handwright.kinematics.skin.samples import skin_samples, vertex_capsules
from handwright.kinematics.skin.skinning import blended_links, link_travel
from handwright.math.pose import Pose
from handwright.methods.sampling.search import vec3

# Depth in the grid from which a vertex is compared with the mesh, m.
_CLOSER_LOOK = 3e-4
# Largest gradient of a grid: between nodes it can change a little faster than one walks.
_STEEPEST = 1.1
# Number of parts into which capsules are cut to see whether they are near the surroundings.
_PARTS = 4


class _Skin(NamedTuple):
    """A hand's skin over a motion, its vertices in the order of the capsules under them."""

    first: Int[np.ndarray, " C_plus_1"]
    """Vertices first[c] to first[c + 1] lie over capsule c."""
    rest: Float[np.ndarray, "V 3"]
    """Vertices of the hand at rest, m."""
    links: Int[np.ndarray, "V K"]
    """Links that carry a vertex."""
    weights: Float[np.ndarray, "V K"]
    """Skinning weights of these links."""
    change: Float[np.ndarray, "T L 3 3"]
    """Rotation of each link from rest."""
    shift: Float[np.ndarray, "T L 3"]
    """Translation of each link after that, m."""
    way: Float[np.ndarray, "T C"]
    """How far a vertex over a capsule can have gone since the first frame, m."""
    start: Float[np.ndarray, "T C 3"]
    """Starts of the capsules' axes, m."""
    end: Float[np.ndarray, "T C 3"]
    """Ends of the capsules' axes, m."""
    reach: Float[np.ndarray, " C"]
    """How far vertices can be from the axis, m."""


def skin_depths(
    model: HandModel,
    q: Float[np.ndarray, "T J"],
    root: Pose,
    field: Field,
    exact: ExactDistance,
    around: EnvironmentArrays,
) -> Float[np.ndarray, " T"]:
    """Depth of the deepest vertex, m; 0 for hands without skin.

    Joint values are in rad. The (T,) poses of the root and the surroundings, which have a leading
    frame axis, are in the body's frame.
    """
    depth = np.zeros(len(q))
    if model.skin is None or model.side == "none":
        return depth
    skin = skin_of(model)
    order, first, carries = _by_capsule(model)
    rest, change, shift = blended_links(model, skin, q, root)
    axes = posed_capsules(model, q, root)
    travel = link_travel(model, skin, change, shift)
    way = np.cumsum(np.where(carries, travel[:, None, :], 0.0).max(axis=2), axis=0)
    moving = _Skin(
        first, rest[order], skin.links[order], skin.weights[order], change, shift, _STEEPEST * way,
        axes.start, axes.end, skin_samples(model).reach,
    )  # fmt: skip
    is_near = np.zeros((len(q), len(order)), dtype=np.bool_)
    known, least = np.full(len(order), -np.inf), np.full(len(first) - 1, -np.inf)
    around = EnvironmentArrays(*(np.ascontiguousarray(array) for array in around))
    _look(Packed(field), Packed(around), Packed(moving), known, least, is_near, depth)
    frame, vertex = np.nonzero(is_near)
    if len(frame):
        link = moving.links[vertex]
        moved = np.einsum("nkij,nj->nki", change[frame[:, None], link], moving.rest[vertex])
        position = np.einsum(
            "nk,nki->ni", moving.weights[vertex], moved + shift[frame[:, None], link]
        )
        np.maximum.at(depth, frame, -exact.signed_distance(position)[0])
    return depth


@lru_cache(maxsize=8)
def _by_capsule(model: HandModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices in the order of the capsules under them.

    Returns:
        The order, where the vertices of each capsule begin, and (C, L) which links carry some.
    """
    skin = skin_of(model)
    owner = vertex_capsules(model, skin)
    order = np.argsort(owner, kind="stable")
    carries = np.zeros((len(model.capsules), model.num_links), dtype=bool)
    for k in range(skin.links.shape[1]):
        held = skin.weights[:, k] > 0.0
        carries[owner[held], skin.links[held, k]] = True
    return order, np.searchsorted(owner[order], np.arange(len(model.capsules) + 1)), carries


@inlined
def _skin_position(skin: _Skin, t: int, v: int) -> vec3.Vector:
    """Where a vertex is in a frame, m."""
    position, rest = (0.0, 0.0, 0.0), vec3.read(skin.rest[v])
    for k in range(skin.links.shape[1]):
        weight, link = skin.weights[v, k], skin.links[v, k]
        if weight > 0.0:
            position = vec3.shifted(position, weight, vec3.rotated(skin.change[t, link], rest))
            position = vec3.shifted(position, weight, vec3.read(skin.shift[t, link]))
    return position


@kernel
def _look(
    field: Field,
    world: EnvironmentArrays,
    skin: _Skin,
    known: Float[np.ndarray, " V"],
    least: Float[np.ndarray, " C"],
    is_near: Bool[np.ndarray, "T V"],
    depth: Float[np.ndarray, " T"],
) -> None:
    """Marks vertices that are deep in the grid; writes the depths in the surroundings, m.

    ``known`` is the distance of vertices when they were last looked at, plus the way by then, m,
    and ``least`` the least of these over each capsule.
    """
    for t in range(skin.way.shape[0]):
        here = EnvironmentArrays(
            world.normals[t], world.offsets[t], world.positions[t], world.rotations[t],
            world.half_extents, world.frictions,
        )  # fmt: skip
        for c in range(skin.way.shape[1]):
            way = skin.way[t, c]
            is_grounded = world.frictions.shape[0] > 0 and _near_ground(here, skin, t, c)
            if least[c] > way and not is_grounded:
                continue
            least[c] = np.inf
            for v in range(skin.first[c], skin.first[c + 1]):
                is_far = known[v] > way
                if is_grounded or not is_far:
                    x, y, z = _skin_position(skin, t, v)
                    if is_grounded:
                        depth[t] = max(depth[t], -environment_value_gradient(here, x, y, z)[0])
                    if not is_far:
                        value = field_value(field, x, y, z)
                        is_near[t, v] = value < -_CLOSER_LOOK
                        known[v] = value + way
                least[c] = min(least[c], known[v])


@inlined
def _near_ground(here: EnvironmentArrays, skin: _Skin, t: int, c: int) -> bool:
    """Whether skin over a capsule may touch the surroundings."""
    start, least = vec3.read(skin.start[t, c]), np.inf
    along = vec3.minus(vec3.read(skin.end[t, c]), start)
    for n in range(_PARTS):
        x, y, z = vec3.shifted(start, (n + 0.5) / _PARTS, along)
        least = min(least, environment_value_gradient(here, x, y, z)[0])
    return least < 0.5 * vec3.length(along) / _PARTS + skin.reach[c]
