"""What is drawn: coloured surfaces, made from hands and bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.shapes.surfaces import revolve
from handwright.hands.skin import skin_of
from handwright.kinematics import posed_capsules
from handwright.kinematics.skinning import posed_skin
from handwright.math import rotation
from handwright.math.pose import Pose

Color = tuple[float, float, float]
"""Red, green, blue, each from 0 to 1."""

SKIN_COLOR: Color = (0.90, 0.72, 0.63)
NAIL_COLOR: Color = (0.95, 0.79, 0.75)
ROBOT_COLOR: Color = (0.55, 0.59, 0.64)

_CREASE = np.radians(35.0)
_NUM_ARC_POINTS = 9
_NUM_AROUND = 32


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A coloured triangle surface in the world."""

    vertices: Float[np.ndarray, "V 3"]
    """m."""
    faces: Int[np.ndarray, "F 3"]
    """Counter-clockwise seen from outside."""
    color: Color = (0.62, 0.64, 0.67)
    shininess: float = 0.3
    """Strength of highlights, 0 (chalk) to 1 (glaze)."""
    smooth: bool = True
    """Whether edges that turn gently are shaded away; sharp ones always stay."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        if len(self.vertices) == 0 or len(self.faces) == 0:
            raise InvalidValueError(
                f"Drawn: {len(self.vertices)} vertices and {len(self.faces)} faces; expected some "
                "of each. Leave an empty surface out."
            )
        if not np.isfinite(self.vertices).all():
            raise InvalidValueError("Drawn: vertices hold NaN or infinity; expected metres.")
        if self.faces.min() < 0 or self.faces.max() >= len(self.vertices):
            raise InvalidValueError(
                f"Drawn: faces point to vertices {self.faces.min()} to {self.faces.max()}; "
                f"expected 0 to {len(self.vertices) - 1}."
            )
        if len(self.color) != 3 or not all(0.0 <= c <= 1.0 for c in self.color):
            raise InvalidValueError(
                f"Drawn: color is {self.color}; expected three numbers from 0 to 1."
            )
        if not 0.0 <= self.shininess <= 1.0:
            raise InvalidValueError(
                f"Drawn: shininess is {self.shininess}; expected a number from 0 to 1."
            )

    def moved(self, pose: Pose) -> Drawn:
        """The same surface carried by a pose."""
        return replace(self, vertices=pose.apply(self.vertices))

    def corner_normals(self) -> Float[np.ndarray, "F 3 3"]:
        """Outward unit normals for shading, one for each corner of each face."""
        corners = self.vertices[self.faces]
        area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(area, axis=1, keepdims=True)
        flat = np.where(size > 0.0, area / np.maximum(size, 1e-300), [0.0, 0.0, 1.0])
        if not self.smooth:
            return np.repeat(flat[:, None], 3, axis=1)
        # Each corner averages the faces round its vertex that turn less than the crease angle
        # from its own face, weighed by area.
        owner = self.faces.reshape(-1)
        face = np.repeat(np.arange(len(self.faces)), 3)
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=len(self.vertices))
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        repeat = counts[owner]
        mine = np.repeat(np.arange(len(owner)), repeat)
        within = np.arange(len(mine)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        other = face[order[starts[owner[mine]] + within]]
        near = np.einsum("ij,ij->i", flat[face[mine]], flat[other]) > np.cos(_CREASE)
        total = np.zeros((len(owner), 3))
        np.add.at(total, mine[near], area[other[near]])
        norm = np.linalg.norm(total, axis=1, keepdims=True)
        smooth = np.where(norm > 0.0, total / np.maximum(norm, 1e-300), flat[face])
        return smooth.reshape(-1, 3, 3)


def body_item(body: RigidBody, pose: Pose | None = None) -> Drawn:
    """The surface of a body, at a pose in the world (the origin by default)."""
    item = Drawn(body.vertices, body.faces, body.color, 0.35)
    return item if pose is None else item.moved(pose)


def hand_items(
    model: HandModel, q: Float[np.ndarray, " J"], root: Pose | None = None
) -> tuple[Drawn, ...]:
    """A hand in a pose: its skin and nails if it has a skin, else its capsules.

    Args:
        model: The hand.
        q: Joint values, rad.
        root: Pose of the root link in the world; the origin by default.
    """
    items: list[Drawn] = []
    capsules = posed_capsules(model, q, root)
    bare = np.ones(len(capsules.radius), dtype=bool)
    if model.skin is not None:
        skin = skin_of(model)
        vertices = posed_skin(model, skin, q, root)
        items.append(Drawn(vertices, skin.faces[~skin.is_nail], SKIN_COLOR, 0.15))
        if skin.is_nail.any():
            items.append(Drawn(vertices, skin.faces[skin.is_nail], NAIL_COLOR, 0.6))
        # The skin ends at the wrist; an arm is drawn as capsules.
        bare = model.capsules.link < model.wrist_link
    color = SKIN_COLOR if model.skin is not None else ROBOT_COLOR
    for c in np.flatnonzero(bare):
        mesh = capsule_mesh(capsules.start[c], capsules.end[c], float(capsules.radius[c]))
        items.append(Drawn(*mesh, color, 0.15 if model.skin is not None else 0.5))
    return tuple(items)


def capsule_mesh(
    start: Float[np.ndarray, "3"], end: Float[np.ndarray, "3"], radius: float
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """Vertices (m) and faces of a sphere swept from ``start`` to ``end``, m."""
    if not radius > 0.0:
        raise InvalidValueError(f"capsule_mesh: radius is {radius} m; expected a positive number.")
    along = np.asarray(end, dtype=np.float64) - start
    length = float(np.linalg.norm(along))
    angles = np.linspace(0.0, np.pi / 2.0, _NUM_ARC_POINTS)
    top = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    top[-1, 0] = 0.0
    # A capsule of no length is a ball: its two equators are one ring.
    below = top[::-1] * [1.0, -1.0]
    above = top + np.array([0.0, length])
    profile = np.concatenate([below if length > 0.0 else below[:-1], above])
    vertices, faces = revolve(profile, num_segments=_NUM_AROUND)
    up = along / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    turn = rotation.between(np.array([0.0, 0.0, 1.0]), up)
    return rotation.rotate(turn, vertices) + start, faces
