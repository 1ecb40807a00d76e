"""What is seen of one frame of a clip: hands, bodies, surroundings, contacts and forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from handwright.core.clip import Clip
from handwright.core.contact import ContactMode
from handwright.core.surface import EnvironmentBox, Surface
from handwright.geometry.shapes.surfaces import extrude
from handwright.render.items import Color, Drawn, body_item, capsule_mesh, hand_items

MODE_COLORS: dict[ContactMode, Color] = {
    ContactMode.STATIC: (0.16, 0.55, 0.32),
    ContactMode.SLIDING: (0.90, 0.50, 0.10),
    ContactMode.ROLLING: (0.20, 0.42, 0.80),
    ContactMode.COLLIDING: (0.80, 0.15, 0.20),
}
FORCE_COLOR: Color = (0.85, 0.20, 0.35)
SURROUNDINGS_COLOR: Color = (0.80, 0.79, 0.76)
_POINT_RADIUS = 0.0025
_SHAFT_RADIUS = 0.0014


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn beside hands and bodies."""

    contacts: bool = True
    """Contact points, coloured by mode."""
    forces: bool = True
    """Arrows that end at the contact point and point along the force on the body."""
    surroundings: bool = True
    """Boxes such as a table top; endless planes are left out."""
    metres_per_newton: float = 0.01
    """Length of the arrows."""


def clip_items(clip: Clip, frame: int, overlay: Overlay | None = None) -> list[Drawn]:
    """Everything there is to see in one frame."""
    overlay = Overlay() if overlay is None else overlay
    items: list[Drawn] = []
    for name, motion in clip.hands.items():
        items += hand_items(clip.problem.hands[name], motion.q[frame], motion.root[frame])
    for name, poses in clip.bodies.items():
        items.append(body_item(clip.problem.bodies[name], poses[frame]))
    if overlay.surroundings:
        items += _surroundings(clip.problem.environment)
    for contact in clip.contacts.at(frame):
        if overlay.contacts:
            ball = capsule_mesh(contact.point, contact.point, _POINT_RADIUS)
            items.append(Drawn(*ball, MODE_COLORS[contact.mode], 0.3))
        size = float(np.linalg.norm(contact.force))
        if overlay.forces and np.isfinite(size) and size * overlay.metres_per_newton > 1e-4:
            items += _arrow(contact.point, overlay.metres_per_newton * contact.force)
    return items


def _surroundings(environment: tuple[Surface, ...]) -> list[Drawn]:
    items = []
    for surface in environment:
        if isinstance(surface, EnvironmentBox):
            x, y, z = surface.half_extents
            outline = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
            solid = extrude(outline, height=float(2.0 * z))
            items.append(Drawn(*solid, SURROUNDINGS_COLOR, 0.05).moved(surface.pose))
    return items


def _arrow(tip: Float[np.ndarray, "3"], along: Float[np.ndarray, "3"]) -> list[Drawn]:
    """A thin rod that thickens in three steps towards its tip."""
    parts = [Drawn(*capsule_mesh(tip - along, tip, _SHAFT_RADIUS), FORCE_COLOR, 0.2)]
    head = min(0.010, 0.4 * float(np.linalg.norm(along)))
    direction = along / np.linalg.norm(along)
    for share, radius in ((1.0, 2.6), (0.66, 2.1), (0.33, 1.6)):
        center = tip - share * head * direction
        parts.append(Drawn(*capsule_mesh(center, center, radius * _SHAFT_RADIUS), FORCE_COLOR, 0.2))
    return parts
