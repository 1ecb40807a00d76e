"""Thin surroundings in the flesh of a hand, which its skin is never deep in.

A vertex of the skin is no deeper in a thin shelf than half its thickness, and the skin goes round a
thin post. ``hand_gaps`` looks at thin bodies in the same way.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from handwright.core.surface import Surface
from handwright.evidence.contacts.flesh import flesh_rods
from handwright.evidence.contacts.hand_contacts import HandProbe
from handwright.geometry.distance.environment import pack_environment
from handwright.geometry.distance.environment_capsules import capsules_to_environment
from handwright.geometry.distance.surface_distance import surface_distance


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
