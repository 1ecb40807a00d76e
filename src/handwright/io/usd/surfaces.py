"""What a hand looks like in files that bind one mesh to its links: skin, or capsules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from handwright.core.frozen import freeze_arrays
from handwright.core.hand import HandModel
from handwright.core.skin import InBetween
from handwright.hands.colors import NAIL_COLOR, ROBOT_COLOR, SKIN_COLOR
from handwright.hands.skin.whole import bare_capsules, whole_skin_of
from handwright.io.gltf.meshes import coarse_capsule
from handwright.kinematics import link_poses


@dataclass(frozen=True, slots=True, eq=False)
class HandSurface:
    """A mesh in the root link's frame at the joint values ``bind``, bound to links."""

    vertices: Float[np.ndarray, "V 3"]
    """m."""
    faces: Int[np.ndarray, "F 3"]
    colors: Float[np.ndarray, "F 3"]
    links: Int[np.ndarray, "V 4"]
    weights: Float[np.ndarray, "V 4"]
    bind: Float[np.ndarray, " J"]
    """rad."""
    between: tuple[InBetween, ...]
    """Links after the hand's own that only the skin follows."""

    def __post_init__(self) -> None:
        freeze_arrays(self)


def surface_of(model: HandModel) -> HandSurface:
    """The skin, followed by the capsules of links that no skin covers."""
    bind = np.zeros(model.num_joints)
    vertices, faces, colors = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64), np.zeros((0, 3))
    links, weights = np.zeros((0, 4), dtype=np.int64), np.zeros((0, 4))
    between: tuple[InBetween, ...] = ()
    if model.skin is not None:
        skin = whole_skin_of(model)
        bind, between = skin.bind, skin.between
        rotations, positions = link_poses(model, bind)
        vertices = skin.vertices @ rotations[model.wrist_link].T + positions[model.wrist_link]
        faces, links, weights = skin.faces, skin.links, skin.weights
        colors = np.where(skin.is_nail[:, None], NAIL_COLOR, SKIN_COLOR)
    rotations, positions = link_poses(model, bind)
    for number in np.flatnonzero(bare_capsules(model)):
        shape, link = model.capsules, model.capsules.link[number]
        points, triangles = coarse_capsule(
            shape.start[number], shape.end[number], float(shape.radius[number])
        )
        faces = np.concatenate([faces, triangles + len(vertices)])
        vertices = np.concatenate([vertices, points @ rotations[link].T + positions[link]])
        color = ROBOT_COLOR if model.skin is None else SKIN_COLOR
        colors = np.concatenate([colors, np.tile(color, (len(triangles), 1))])
        links = np.concatenate([links, np.full((len(points), 4), link)])
        weights = np.concatenate([weights, np.tile([1.0, 0.0, 0.0, 0.0], (len(points), 1))])
    return HandSurface(vertices, faces, colors, links, weights, bind, between)
