"""Surfaces and lights as a MuJoCo model, and the pictures of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import TracebackType

import mujoco
import numpy as np
from jaxtyping import Bool, Float, UInt8

from handwright.errors import InvalidValueError
from handwright.render.backend import make_context
from handwright.render.camera import Camera
from handwright.render.items import Drawn
from handwright.render.shading import hollow_shade

BACKGROUND = (0.945, 0.95, 0.957)
_OVERSAMPLING = 3
_MAX_PIXELS = 8192
# (azimuth and elevation against the camera, rad; brightness; whether it casts shadows):
# key light over the left shoulder, fill from the right, rim from behind.
_LIGHTS = (
    (-0.65, 0.75, 0.78, True),
    (0.95, 0.15, 0.22, False),
    (2.60, 0.50, 0.32, False),
)
_AMBIENT = 0.36
# OpenGL cuts colours off at one, channel by channel, which tints highlights; so the lights are
# dimmed by this factor, and what is brighter than the knee is bent down afterwards.
_EXPOSURE = 0.6
_KNEE = 0.75


class Stage:
    """Items set up for pictures from any side; a context manager, for it holds an OpenGL context.

    Args:
        items: What is seen.
        width: Of a picture, pixels.
        height: Of a picture, pixels.

    Attributes:
        points: All corners of the items, m.
    """

    def __init__(self, items: Sequence[Drawn], *, width: int = 640, height: int = 640) -> None:
        if not items:
            raise InvalidValueError("There is nothing to draw: items is empty; give one or more.")
        limit = _MAX_PIXELS // _OVERSAMPLING
        if not (1 <= width <= limit and 1 <= height <= limit):
            raise InvalidValueError(
                f"The picture is {width} x {height} pixels; expected 1 to {limit} each."
            )
        self._size = (_OVERSAMPLING * width, _OVERSAMPLING * height)
        self.points = np.concatenate([item.vertices[np.unique(item.faces)] for item in items])
        self._model = _model(items, self.points, self._size)
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)
        self._gl = make_context(*self._size)
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(self._model, maxgeom=len(items) + 8)

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives the OpenGL context back."""
        self._context.free()
        self._gl.free()

    def picture(self, camera: Camera | None = None) -> UInt8[np.ndarray, "H W 3"]:
        """What a camera sees; one that frames everything by default."""
        camera = camera or Camera()
        width, height = self._size
        target, distance = camera.placed(self.points, aspect=width / height)
        self._light(camera)
        view = mujoco.MjvCamera()
        view.type = mujoco.mjtCamera.mjCAMERA_FREE
        view.lookat[:] = target
        view.distance = distance
        # MuJoCo's angles give the direction in which the camera looks, not where it stands.
        view.azimuth = np.degrees(camera.azimuth) + 180.0
        view.elevation = -np.degrees(camera.elevation)
        self._model.vis.global_.fovy = np.degrees(camera.field_of_view)
        reach = float(np.linalg.norm(self.points - target, axis=1).max())
        extent = float(self._model.stat.extent)
        near, far = max(0.01 * distance, distance - 1.5 * reach), distance + 4.0 * reach
        self._model.vis.map.znear, self._model.vis.map.zfar = near / extent, far / extent
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            mujoco.MjvOption(),
            None,
            view,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        self._gl.make_current()
        viewport = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(viewport, self._scene, self._context)
        pixels = np.zeros((height, width, 3), dtype=np.uint8)
        raw = np.zeros((height, width), dtype=np.float32)
        mujoco.mjr_readPixels(pixels, raw, viewport, self._context)
        # Nothing but the items has a depth: the rest of the buffer stays as it was cleared.
        is_item = raw < 1.0
        depth = near * far / (far - raw.astype(np.float64) * (far - near))
        shade = hollow_shade(
            depth[1::_OVERSAMPLING, 1::_OVERSAMPLING],
            is_item[1::_OVERSAMPLING, 1::_OVERSAMPLING],
            pixel_size=2.0
            * distance
            * math.tan(camera.field_of_view / 2.0)
            * _OVERSAMPLING
            / height,
            extent=extent,
        )
        return _averaged(pixels, is_item, shade)[::-1]

    def _light(self, camera: Camera) -> None:
        """Turns the lights with the camera, so that every view is lit alike."""
        for light, (azimuth, elevation, _, _) in enumerate(_LIGHTS):
            a, e = camera.azimuth + azimuth, elevation
            source = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
            self._data.light_xdir[light] = -source
            middle = self._model.stat.center
            self._data.light_xpos[light] = middle + 3.0 * self._model.stat.extent * source


def _averaged(
    pixels: UInt8[np.ndarray, "H2 W2 3"],
    is_item: Bool[np.ndarray, "H2 W2"],
    shade: Float[np.ndarray, "H W"],
) -> UInt8[np.ndarray, "H W 3"]:
    """Shaded means over blocks of pixels, which rounds off the stairs along edges."""
    k = _OVERSAMPLING
    spread = np.repeat(np.repeat(shade, k, axis=0), k, axis=1)[..., None]
    lit = pixels * (spread / (255.0 * _EXPOSURE))
    bent = _KNEE + (1.0 - _KNEE) * np.tanh((lit - _KNEE) / (1.0 - _KNEE))
    values = np.where(is_item[..., None], np.where(lit > _KNEE, bent, lit), BACKGROUND)
    height, width = shade.shape
    means = values.reshape(height, k, width, k, 3).mean(axis=(1, 3))
    return np.asarray(np.rint(255.0 * means), dtype=np.uint8)


def _model(
    items: Sequence[Drawn], points: Float[np.ndarray, "N 3"], size: tuple[int, int]
) -> mujoco.MjModel:
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = size
    # The picture is drawn larger instead, which keeps items and background apart.
    spec.visual.quality.offsamples = 0
    spec.visual.quality.shadowsize = 4096
    spec.visual.headlight.ambient[:] = _EXPOSURE * _AMBIENT
    spec.visual.headlight.diffuse[:] = 0.0
    spec.visual.headlight.specular[:] = 0.0
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    spec.stat.center[:] = middle
    spec.stat.extent = max(float(np.linalg.norm(points - middle, axis=1).max()), 1e-6)
    for number, item in enumerate(items):
        _add_item(spec, f"item{number}", item)
    for _, _, brightness, casts in _LIGHTS:
        light = spec.worldbody.add_light()
        light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
        light.diffuse[:] = _EXPOSURE * brightness
        light.specular[:] = 0.5 * _EXPOSURE * brightness
        light.ambient[:] = 0.0
        light.castshadow = casts
    return spec.compile()


def _add_item(spec: mujoco.MjSpec, name: str, item: Drawn) -> None:
    # A vertex on a crease is given once for each of its normals: the compiler keeps vertices and
    # normals together only where they come in pairs.
    corners = np.concatenate(
        [item.vertices[item.faces].reshape(-1, 3), item.corner_normals().reshape(-1, 3)], axis=1
    )
    pairs, faces = np.unique(corners.astype(np.float32), axis=0, return_inverse=True)
    mesh = spec.add_mesh(name=name)
    mesh.uservert = pairs[:, :3].reshape(-1)
    mesh.usernormal = pairs[:, 3:].reshape(-1)
    mesh.userface = faces.astype(np.int32).reshape(-1)
    # A picture needs no closed surface, and a shell has mass properties whatever its shape.
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    material = spec.add_material(name=name)
    material.rgba[:] = (*item.color, 1.0)
    material.specular = item.shininess
    material.shininess = 0.2 + 0.6 * item.shininess
    geom = spec.worldbody.add_geom()
    geom.type = mujoco.mjtGeom.mjGEOM_MESH
    geom.meshname = name
    geom.material = name
    geom.contype = geom.conaffinity = 0
