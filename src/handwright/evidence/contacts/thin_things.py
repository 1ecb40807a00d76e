"""Thin things in the flesh of a hand, which its skin is never deep in.

A vertex of the skin is no deeper in a thin shelf than half its thickness, and the skin goes round a
thin rod. So the flesh is looked at: around the axes of the capsules, and between the knuckles of
neighbouring fingers, where no capsule is. ``hand_gaps`` holds the capsules against bodies.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.surface import Surface
from handwright.evidence.contacts.flesh import flesh_rods
from handwright.evidence.contacts.hand_contacts import HandProbe
from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.environment_capsules import capsules_to_environment
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.surface_distance import surface_distance
from handwright.kinematics.fk import link_poses
from handwright.math.pose import Pose

_NEIGHBOURS = 0.03
"""Knuckles that are no farther apart in the flat hand have flesh between them, m."""
_CLEFT = 5e-3
"""How much flesh there is around the middle between two knuckles, in a fist too, m."""


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
    first = [int(np.flatnonzero(model.capsules.digit == d)[0]) for d in range(len(model.digits))]
    knuckle = model.capsules.link[first]
    flat = link_poses(model, np.zeros(model.num_joints))[1][knuckle]
    near = np.flatnonzero(np.linalg.norm(np.diff(flat, axis=0), axis=1) <= _NEIGHBOURS)
    place = hand.links.positions[:, knuckle]
    between = pose.inverse()[:, None].apply(0.5 * (place[:, near] + place[:, near + 1]))
    distance = exact.signed_distance(between.reshape(-1, 3))[0].reshape(count, -1)
    return np.maximum(_CLEFT - distance.min(axis=1, initial=np.inf), 0.0)
