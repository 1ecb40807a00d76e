"""What is seen of a clip, frame by frame: hands, bodies, surroundings, contacts and forces."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from handwright.core.body import RigidBody
from handwright.core.clip import Clip
from handwright.core.contact import ContactMode
from handwright.core.surface import EnvironmentBox
from handwright.geometry.distance.environment import plane_patch
from handwright.geometry.distance.rods import fit_rod
from handwright.geometry.shapes.surfaces import extrude
from handwright.hands.colors import Color
from handwright.math.pose import Pose
from handwright.render.figure import Figure, usual_camera
from handwright.render.items import Drawn, HandLook, Marker, body_item

MODE_COLORS: dict[ContactMode, Color] = {
    ContactMode.STATIC: (0.16, 0.55, 0.32),
    ContactMode.SLIDING: (0.90, 0.50, 0.10),
    ContactMode.ROLLING: (0.20, 0.42, 0.80),
    ContactMode.COLLIDING: (0.80, 0.15, 0.20),
}
FORCE_COLOR: Color = (0.85, 0.20, 0.35)
SURROUNDINGS_COLOR: Color = (0.80, 0.79, 0.76)
_PATCH_HALF = (0.3, 0.3, 0.005)
"""Half the size of what is drawn of an endless plane, m."""
_POINT_RADIUS = 0.0025
# Of one side of a round body against its other.
_DARKER = 0.55
_SHAFT_RADIUS = 0.0014


@dataclass(frozen=True, slots=True)
class Overlay:
    """What is drawn beside hands and bodies."""

    contacts: bool = True
    """Contact points, coloured by mode."""
    forces: bool = True
    """Arrows that end at the contact point and point along the force on the body."""
    surroundings: bool = True
    """Boxes such as a table top, and a piece of each endless plane below the motion."""
    figure: bool = True
    """A plain upper body behind hands with arms. Cameras are placed as if it were not there."""
    metres_per_newton: float = 0.01
    """Length of the arrows."""


class ClipScene:
    """Everything there is to see of a clip.

    Args:
        clip: The motion.
        overlay: What is drawn beside hands and bodies.
    """

    def __init__(self, clip: Clip, overlay: Overlay | None = None) -> None:
        self._clip = clip
        self._overlay = Overlay() if overlay is None else overlay
        self._hands = {name: HandLook.of(clip.problem.hands[name]) for name in clip.hands}
        self._bodies = {name: _halves(clip.problem.bodies[name]) for name in clip.bodies}
        self._fixed = _surroundings(clip) if self._overlay.surroundings else ()
        hands = {name: (clip.problem.hands[name], move.root) for name, move in clip.hands.items()}
        self._figures = Figure.of(hands) if self._overlay.figure else ()
        self.camera = usual_camera(hands)
        """From where the hands are seen."""

    def moving(self, frame: int) -> tuple[Drawn, ...]:
        """Hands and bodies in a frame: in every frame as many, in one order."""
        items: list[Drawn] = []
        for name, motion in self._clip.hands.items():
            items += self._hands[name].posed(motion.q[frame], motion.root[frame])
        for name, poses in self._clip.bodies.items():
            items += [half.moved(poses[frame]) for half in self._bodies[name]]
        return tuple(items)

    def items(self, frame: int) -> tuple[Drawn, ...]:
        """All that is seen in a frame: in every frame as many, in one order."""
        figures = tuple(figure.at(frame) for figure in self._figures)
        return self.moving(frame) + figures + self._fixed

    def markers(self, frame: int) -> tuple[Marker, ...]:
        """Contact points and force arrows of a frame."""
        overlay, markers = self._overlay, []
        for contact in self._clip.contacts.at(frame):
            if overlay.contacts:
                markers.append(Marker(contact.point, _POINT_RADIUS, MODE_COLORS[contact.mode]))
            arrow = overlay.metres_per_newton * contact.force
            if overlay.forces and _is_visible(arrow):
                tail = contact.point - arrow
                markers.append(Marker(contact.point, _SHAFT_RADIUS, FORCE_COLOR, tail))
        return tuple(markers)

    @property
    def max_markers(self) -> int:
        """Not more than this many markers are there in any frame."""
        frames = self._clip.contacts.frame
        return 2 * int(np.bincount(frames).max()) if len(frames) else 0


def _halves(body: RigidBody) -> tuple[Drawn, ...]:
    """A body as it is drawn: if it is round, with one side darker, so that one sees it turn."""
    item = body_item(body)
    points = body.vertices - body.center
    middle = points[body.faces].mean(axis=1)
    rod = fit_rod(np.concatenate([points, middle]))
    if rod is None:
        return (item,)
    along = rod[1] - rod[0]
    length = float(np.linalg.norm(along))
    along = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    across = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    is_dark = middle @ across > 0.0
    red, green, blue = item.color
    dark = (_DARKER * red, _DARKER * green, _DARKER * blue)
    return (
        replace(item, faces=item.faces[~is_dark]),
        replace(item, faces=item.faces[is_dark], color=dark),
    )


def _is_visible(arrow: Float[np.ndarray, "3"]) -> bool:
    """Whether there is a force, and an arrow longer than a hair is thick."""
    return bool(np.isfinite(arrow).all() and np.linalg.norm(arrow) > 1e-4)


def _surroundings(clip: Clip) -> tuple[Drawn, ...]:
    items = []
    for surface in clip.problem.environment:
        if isinstance(surface, EnvironmentBox):
            half, pose = surface.half_extents, surface.pose
        else:
            # A thin slab under the plane, so that its upper side is the plane itself.
            below = Pose(np.array([0.0, 0.0, -_PATCH_HALF[2]]), np.array([1.0, 0.0, 0.0, 0.0]))
            half, pose = np.array(_PATCH_HALF), plane_patch(surface, clip.middle) @ below
        x, y, z = half
        outline = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
        solid = extrude(outline, height=float(2.0 * z))
        items.append(Drawn(*solid, SURROUNDINGS_COLOR, 0.05).moved(pose))
    return tuple(items)
