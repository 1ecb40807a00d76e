"""Masses and inertias of the links of hand and arm."""

from __future__ import annotations

import numpy as np

from handwright.core.hand import Capsules, Masses
from handwright.geometry.inertia import MassProperties, combine
from handwright.hands.capsule_mass import capsule_properties, capsule_volume

# A joint between two crossing axes still needs some matter for a simulator to move.
_CONNECTOR_MASS = 1e-3
_CONNECTOR_RADIUS = 4e-3


def masses_of_capsules(
    capsules: Capsules, num_links: int, totals: dict[str, tuple[float, list[int]]]
) -> Masses:
    """Spreads given masses over links in proportion to the volume of their capsules.

    Links without a capsule get a gram, so that a simulator can move them.

    Args:
        capsules: Collision capsules, whose overlaps are ignored.
        num_links: Number of links.
        totals: Name of a segment to its mass, kg, and the indices of its capsules.
    """
    parts: list[list[MassProperties]] = [[] for _ in range(num_links)]
    length = np.linalg.norm(capsules.end - capsules.start, axis=-1)
    for total, members in totals.values():
        volume = {c: capsule_volume(float(length[c]), float(capsules.radius[c])) for c in members}
        density = total / sum(volume.values())
        for c in members:
            parts[capsules.link[c]].append(
                capsule_properties(
                    capsules.start[c], capsules.end[c], capsules.radius[c], density * volume[c]
                )
            )
    nowhere = np.zeros(3)
    connector = capsule_properties(nowhere, nowhere, _CONNECTOR_RADIUS, _CONNECTOR_MASS)
    links = [combine(*solids) if solids else connector for solids in parts]
    return Masses(
        np.array([link.mass for link in links]),
        np.array([link.center for link in links]),
        np.array([link.inertia for link in links]),
    )
