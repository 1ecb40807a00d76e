"""Masses and inertias of hand and arm links."""

from __future__ import annotations

import numpy as np

from handwright.core.hand import Capsules, Masses

# A joint between two crossing axes still needs some matter for a simulator to move.
_CONNECTOR_MASS = 1e-3
_CONNECTOR_RADIUS = 4e-3


def capsule_mass(
    start: np.ndarray, end: np.ndarray, radius: float, density: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia about the centre of a solid capsule."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    direction = axis / length if length > 0 else np.array([0.0, 0.0, 1.0])
    cylinder = density * np.pi * radius**2 * length
    ball = density * 4.0 / 3.0 * np.pi * radius**3
    along = cylinder * radius**2 / 2.0 + ball * 2.0 * radius**2 / 5.0
    # Each half ball has its centre 3/8 of the radius beyond the cylinder's end.
    across = cylinder * (3.0 * radius**2 + length**2) / 12.0 + ball * (
        2.0 * radius**2 / 5.0 + length**2 / 4.0 + 3.0 * length * radius / 8.0
    )
    inertia = across * np.eye(3) + (along - across) * np.outer(direction, direction)
    return cylinder + ball, 0.5 * (start + end), inertia


def masses_of_capsules(
    capsules: Capsules, num_links: int, totals: dict[str, tuple[float, list[int]]]
) -> Masses:
    """Spreads given masses over links in proportion to the volume of their capsules.

    Args:
        capsules: Collision capsules, whose overlaps are ignored.
        num_links: Number of links.
        totals: Name of a segment to its mass, kg, and the indices of its capsules.
    """
    mass = np.zeros(num_links)
    first = np.zeros((num_links, 3))
    parts: list[tuple[int, float, np.ndarray, np.ndarray]] = []
    for total, members in totals.values():
        solids = [
            capsule_mass(capsules.start[c], capsules.end[c], float(capsules.radius[c]), 1.0)
            for c in members
        ]
        density = total / sum(solid[0] for solid in solids)
        for c, (volume, center, inertia) in zip(members, solids, strict=True):
            link = int(capsules.link[c])
            mass[link] += density * volume
            first[link] += density * volume * center
            parts.append((link, density * volume, center, density * inertia))
    center = np.divide(first, mass[:, None], out=np.zeros_like(first), where=mass[:, None] > 0)
    inertia = np.zeros((num_links, 3, 3))
    for link, share, place, own in parts:
        arm = place - center[link]
        inertia[link] += own + share * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Masses(mass, center, inertia)


def with_connectors(masses: Masses, links: list[int]) -> Masses:
    """Gives a gram to links that carry no capsule."""
    mass, inertia = masses.mass.copy(), masses.inertia.copy()
    for link in links:
        mass[link] += _CONNECTOR_MASS
        inertia[link] += 0.4 * _CONNECTOR_MASS * _CONNECTOR_RADIUS**2 * np.eye(3)
    return Masses(mass, masses.center, inertia)
