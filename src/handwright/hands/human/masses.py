"""Masses and inertias of the links of hand and arm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from handwright.core.hand import Capsules, Masses
from handwright.geometry.mesh.inertia import MassProperties, combine
from handwright.hands.capsules import capsule_properties, capsule_volume
from handwright.hands.human.anthropometry import Segment

# A joint between two crossing axes still needs some matter for a simulator to move.
_CONNECTOR_MASS = 1e-3
_CONNECTOR_RADIUS = 4e-3


def segment_properties(
    segment: Segment, *, body_mass: float, length: float, radius: float
) -> MassProperties:
    """Properties of a segment of the arm that lies along x from its proximal end.

    Args:
        segment: Its shares.
        body_mass: kg.
        length: m.
        radius: Of the limb, m, for the moment about its own axis: that of a cylinder.
    """
    mass = segment.mass * body_mass
    along, across = 0.5 * mass * radius**2, mass * (segment.gyration * length) ** 2
    center = np.array([segment.center * length, 0.0, 0.0])
    return MassProperties(mass, center, np.diag([along, across, across]))


def link_masses(
    capsules: Capsules, num_links: int, total: float, known: Mapping[int, MassProperties]
) -> Masses:
    """Spreads a mass over links in proportion to the volume of their capsules.

    Links without a capsule get a gram, so that a simulator can move them.

    Args:
        capsules: Collision capsules, whose overlaps are ignored.
        num_links: Number of links.
        total: To be spread, kg.
        known: Links that have properties of their own and no part in ``total``.
    """
    members = [c for c in range(len(capsules)) if int(capsules.link[c]) not in known]
    length = np.linalg.norm(capsules.end - capsules.start, axis=-1)
    volume = capsule_volume(length, capsules.radius)
    density = total / sum(volume[members])
    parts: list[list[MassProperties]] = [[] for _ in range(num_links)]
    for c in members:
        parts[capsules.link[c]].append(
            capsule_properties(
                capsules.start[c], capsules.end[c], capsules.radius[c], density * volume[c]
            )
        )
    for link, properties in known.items():
        parts[link].append(properties)
    nowhere = np.zeros(3)
    connector = capsule_properties(nowhere, nowhere, _CONNECTOR_RADIUS, _CONNECTOR_MASS)
    links = [combine(*solids) if solids else connector for solids in parts]
    return Masses(
        np.array([link.mass for link in links]),
        np.array([link.center for link in links]),
        np.array([link.inertia for link in links]),
    )
