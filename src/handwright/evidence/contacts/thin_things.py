"""Thin things in the flesh of a hand, which its skin is never deep in.

A vertex of the skin is no deeper in a thin shelf than half its thickness, and the skin goes round a
thin rod. So the flesh is looked at: around the axes of the capsules, and between the knuckles of
neighbouring fingers, where no capsule is. ``hand_gaps`` holds the capsules against bodies.
"""

from __future__ import annotations

from functools import lru_cache

import igl
import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.surface import HalfSpace, Surface
from handwright.evidence.contacts.flesh import flesh_rods
from handwright.evidence.contacts.hand_probe import HandProbe
from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.environment_capsules import capsules_to_environment
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.geometry.mesh.edges import unique_edges
from handwright.kinematics.fk import link_poses
from handwright.kinematics.skin.skinning import posed_skin
from handwright.math.pose import Pose

_NEIGHBOURS = 0.03
"""Knuckles that are no farther apart in the flat hand have flesh between them, m."""
_CLEFT = 5e-3
"""How much flesh there is around the middle between two knuckles, in a fist too, m."""

_THIN = 4e-3
"""Bodies and posts thinner than this may be where neither skin nor capsules show them, m."""
_SPACING = 1e-3
"""Distance of the points along them, m."""
_FINGERTIP = 0.04
"""How far a hand reaches beyond the last of its joints, m."""


def surroundings_in_flesh(
    hand: HandProbe, surfaces: tuple[Surface, ...]
) -> tuple[Float[np.ndarray, " T"], list[str]]:
    """How deep the surroundings are in the flesh of a hand, m, and in which capsule of it.

    A shelf that goes through a finger is as deep in it as the finger is thick, however thin the
    shelf.

    Args:
        hand: The hand, posed.
        surfaces: Planes and boxes.
    """
    start, end, radius = flesh_rods(hand)
    least = np.full(start.shape[:2], np.inf)
    middle, reach = 0.5 * (start + end), radius + 0.5 * np.linalg.norm(end - start, axis=2)
    for surface in surfaces:
        # No point of an axis is nearer than its middle less half its length.
        apart = surface_distance(surface, middle.reshape(-1, 3))[0].reshape(reach.shape)
        near = np.nonzero(apart < reach)
        if near[0].size:
            packed = pack_environment([surface])
            gap = capsules_to_environment(packed, start[near], end[near], radius[near[1]])[0]
            least[near] = np.minimum(least[near], gap)
    depth, names = np.maximum(-least.min(axis=1), 0.0), [""] * len(least)
    for t in np.flatnonzero(depth):
        names[t] = f"{hand.name}.{hand.model.capsules.names[int(least[t].argmin())]}"
    return depth, names


def body_between_knuckles(
    hand: HandProbe, pose: Pose, exact: ExactDistance
) -> Float[np.ndarray, " T"]:
    """How deep a body is in the flesh between the knuckles of neighbouring fingers, m.

    Args:
        hand: The hand, posed.
        pose: (T,) poses of the body.
        exact: Distances of the body.
    """
    model, count = hand.model, len(hand.links.positions)
    if hand.skin is None:
        return np.zeros(count)
    # A digit of a hand as it is given need not have any flesh.
    digits, first = np.unique(model.capsules.digit, return_index=True)
    knuckle = model.capsules.link[first[digits >= 0]]
    if len(knuckle) < 2:
        return np.zeros(count)
    flat = link_poses(model, np.zeros(model.num_joints))[1][knuckle]
    near = np.flatnonzero(np.linalg.norm(np.diff(flat, axis=0), axis=1) <= _NEIGHBOURS)
    place = hand.links.positions[:, knuckle]
    between = pose.inverse()[:, None].apply(0.5 * (place[:, near] + place[:, near + 1]))
    distance = exact.signed_distance(between.reshape(-1, 3))[0].reshape(count, -1)
    return np.maximum(_CLEFT - distance.min(axis=1, initial=np.inf), 0.0)


def thin_body_in_flesh(hand: HandProbe, body: RigidBody, pose: Pose) -> Float[np.ndarray, " T"]:
    """How deep the edges of a thin body are in the skin of a hand, m.

    Neither the skin nor its capsules show a rod that goes through the palm between its bones. Of
    bodies that are no thinner than a few millimetres nothing is looked at: their depth is seen.

    Args:
        hand: The hand, posed.
        body: The body.
        pose: (T,) poses of the body.
    """
    depth = np.zeros(len(pose.position))
    points = _edge_points(body)
    if hand.skin is None or len(points) == 0:
        return depth
    faces = np.ascontiguousarray(hand.skin.faces)
    for t in range(len(depth)):
        links, world = hand.links.positions[t], pose[t].apply(points)
        middle = links.mean(axis=0)
        reach = np.linalg.norm(links - middle, axis=1)
        near = world[np.linalg.norm(world - middle, axis=1) < reach.max() + _FINGERTIP]
        if len(near) == 0:
            continue
        skin = posed_skin(hand.model, hand.skin, hand.motion.q[t], hand.motion.root[t])
        inside = np.atleast_1d(igl.fast_winding_number(skin, faces, near)) > 0.5
        if inside.any():
            squared = igl.point_mesh_squared_distance(near[inside], skin, faces)[0]
            depth[t] = float(np.sqrt(np.max(squared)))
    return depth


@lru_cache(maxsize=16)
def _edge_points(body: RigidBody) -> Float[np.ndarray, "N 3"]:
    """Points along the edges of a thin body, m; none of any other."""
    shape = body.vertices - body.vertices.mean(axis=0)
    sides = np.ptp(shape @ np.linalg.svd(shape, full_matrices=False)[2].T, axis=0)
    if sides.min() > _THIN:
        return np.zeros((0, 3))
    start, end = body.vertices[unique_edges(body.faces)[0]].transpose(1, 0, 2)
    count = np.maximum(np.ceil(np.linalg.norm(end - start, axis=1) / _SPACING).astype(int), 1)
    which = np.repeat(np.arange(len(count)), count)
    step = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    share = (step + 0.5) / count[which]
    return start[which] + share[:, None] * (end - start)[which]


def spikes_in_body(
    surfaces: tuple[Surface, ...], pose: Pose, exact: ExactDistance
) -> Float[np.ndarray, " T"]:
    """How deep the middle lines of thin posts and spikes of the surroundings are in a body, m."""
    depth = np.zeros(len(pose.position))
    back = pose.inverse()
    for surface in surfaces:
        if isinstance(surface, HalfSpace) or np.sort(surface.half_extents)[1] > 0.5 * _THIN:
            continue
        longest = int(surface.half_extents.argmax())
        half = float(surface.half_extents[longest])
        along = np.linspace(-half, half, max(2, min(int(2.0 * half / _SPACING), 400)))
        line = np.zeros((len(along), 3))
        line[:, longest] = along
        world = surface.pose.apply(line)
        for t in range(len(depth)):
            distance = exact.signed_distance(back[t].apply(world))[0]
            depth[t] = max(depth[t], -float(distance.min()))
    return depth
