"""What is drawn: coloured surfaces, made from hands and bodies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from handwright.core.body import RigidBody
from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.core.skin import Skin
from handwright.errors import InvalidValueError
from handwright.geometry.shapes.surfaces import capsule_mesh
from handwright.hands.colors import NAIL_COLOR, ROBOT_COLOR, SKIN_COLOR, Color
from handwright.hands.skin.whole import bare_capsules, whole_skin_of
from handwright.kinematics import posed_capsules
from handwright.kinematics.skin.skinning import posed_skin
from handwright.math.pose import Pose


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


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """A ball, or an arrow if it has a tail."""

    point: Float[np.ndarray, "3"]
    """Middle of the ball or tip of the arrow, m."""
    radius: float
    """Of the ball or of the arrow's shaft, m."""
    color: Color
    tail: Float[np.ndarray, "3"] | None = None
    """Where the arrow starts, m."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        if not self.radius > 0.0:
            raise InvalidValueError(
                f"Marker: radius is {self.radius} m; expected a positive number."
            )


def body_item(body: RigidBody, pose: Pose | None = None) -> Drawn:
    """The surface of a body, at a pose in the world (the origin by default)."""
    item = Drawn(body.vertices, body.faces, body.color, 0.35)
    return item if pose is None else item.moved(pose)


@dataclass(frozen=True, slots=True, eq=False)
class HandLook:
    """What a hand looks like; made once and then posed, for looking up a skin takes a while."""

    model: HandModel
    skin: Skin | None
    """None for a hand that is drawn as its capsules."""

    @staticmethod
    def of(model: HandModel) -> HandLook:
        """The look of a hand: its skin if it has one."""
        return HandLook(model, None if model.skin is None else whole_skin_of(model))

    def posed(self, q: Float[np.ndarray, " J"], root: Pose | None = None) -> tuple[Drawn, ...]:
        """The surfaces at joint values (rad): always as many, with the same faces, in one order.

        The root link is at the origin unless a pose is given.
        """
        items: list[Drawn] = []
        model, skin = self.model, self.skin
        if skin is not None:
            vertices = posed_skin(model, skin, q, root)
            items.append(Drawn(vertices, skin.faces[~skin.is_nail], SKIN_COLOR, 0.15))
            if skin.is_nail.any():
                items.append(Drawn(vertices, skin.faces[skin.is_nail], NAIL_COLOR, 0.6))
        bare = bare_capsules(model)
        if bare.any():
            color, shininess = (ROBOT_COLOR, 0.5) if skin is None else (SKIN_COLOR, 0.15)
            capsules = posed_capsules(model, q, root)
            for c in np.flatnonzero(bare):
                mesh = capsule_mesh(capsules.start[c], capsules.end[c], float(capsules.radius[c]))
                items.append(Drawn(*mesh, color, shininess))
        return tuple(items)


def hand_items(
    model: HandModel, q: Float[np.ndarray, " J"], root: Pose | None = None
) -> tuple[Drawn, ...]:
    """A hand in a pose: its skin and nails if it has a skin, else its capsules.

    Args:
        model: The hand.
        q: Joint values, rad.
        root: Pose of the root link in the world; the origin by default.
    """
    return HandLook.of(model).posed(q, root)
