"""Surfaces and lights as a MuJoCo model whose surfaces can be moved without compiling it anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from handwright.geometry.mesh.creases import CREASE, split_at_creases
from handwright.geometry.mesh.normals import area_normals
from handwright.physics.engine import mujoco
from handwright.render.items import Drawn
from handwright.render.postprocess import EXPOSURE

# (azimuth and elevation against the camera, rad; brightness; whether it casts shadows):
# key light over the left shoulder, fill from the right, rim from behind.
LIGHTS = (
    (-0.65, 0.75, 0.78, True),
    (0.95, 0.15, 0.22, False),
    (2.60, 0.50, 0.32, False),
)
_AMBIENT = 0.36
_ANCHOR = "anchor"


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """One item as MuJoCo draws it: vertices on a crease come once for each side."""

    copied: Int[np.ndarray, " S"]
    """For each vertex, the vertex of the item."""
    faces: Int[np.ndarray, "F 3"]

    @staticmethod
    def of(item: Drawn) -> Surface:
        """The surface of an item; its creases stay where they are now when it moves."""
        return Surface(*split_at_creases(item.vertices, item.faces, CREASE if item.smooth else 0.0))

    def vertices(self, item: Drawn) -> Float[np.ndarray, "S 3"]:
        """Where the vertices of the moved item are, m."""
        return item.vertices[self.copied]

    def normals(self, vertices: Float[np.ndarray, "S 3"]) -> Float[np.ndarray, "S 3"]:
        """Outward unit normals for shading."""
        normals = np.zeros(vertices.shape)
        area_normals(vertices, self.faces, normals)
        return normals


def compile_model(
    items: Sequence[Drawn],
    surfaces: Sequence[Surface],
    *,
    middle: Float[np.ndarray, "3"],
    extent: float,
    size: tuple[int, int],
    shadow_size: int,
) -> mujoco.MjModel:
    """The model of a scene, with one skin for each item.

    MuJoCo keeps the vertices of skins, and of nothing else, in the scene that it draws from, where
    they can be overwritten for every picture. So all items are skins, also those that are stiff.

    Args:
        items: What is seen.
        surfaces: The items' surfaces.
        middle: Of all that is ever seen, m.
        extent: Radius about the middle of all that is ever seen, m.
        size: Width and height of what OpenGL draws, pixels.
        shadow_size: Width of the map of shadows, pixels.
    """
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    # The picture is drawn larger instead, which keeps items and background apart.
    spec.visual.quality.offsamples = 0
    spec.visual.quality.shadowsize = shadow_size
    # Markers are small: a few corners make them round, and they would else cost as much as a hand.
    spec.visual.quality.numslices, spec.visual.quality.numstacks = 16, 8
    spec.visual.headlight.ambient[:] = EXPOSURE * _AMBIENT
    spec.visual.headlight.diffuse[:] = 0.0
    spec.visual.headlight.specular[:] = 0.0
    spec.stat.center[:] = middle
    spec.stat.extent = extent
    spec.worldbody.add_body(name=_ANCHOR)
    for number, (item, surface) in enumerate(zip(items, surfaces, strict=True)):
        _add_skin(spec, f"item{number}", item, surface)
    for _, _, brightness, casts in LIGHTS:
        light = spec.worldbody.add_light()
        light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
        light.diffuse[:] = EXPOSURE * brightness
        light.specular[:] = 0.5 * EXPOSURE * brightness
        light.ambient[:] = 0.0
        light.castshadow = casts
    return spec.compile()


def _add_skin(spec: mujoco.MjSpec, name: str, item: Drawn, surface: Surface) -> None:
    material = spec.add_material(name=name)
    material.rgba[:] = (*item.color, 1.0)
    material.specular = item.shininess
    material.shininess = 0.2 + 0.6 * item.shininess
    skin = spec.add_skin()
    skin.name, skin.material = name, name
    skin.vert = surface.vertices(item).astype(np.float32).reshape(-1)
    skin.face = surface.faces.astype(np.int32).reshape(-1)
    # Every vertex must follow some body; it is overwritten before it is drawn.
    count = len(surface.copied)
    skin.bodyname, skin.bindpos, skin.bindquat = [_ANCHOR], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]
    skin.vertid, skin.vertweight = [list(range(count))], [[1.0] * count]
