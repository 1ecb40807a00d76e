"""Items on a stage: set up once, moved and seen from anywhere; single pictures, and their files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image

from handwright.errors import InvalidValueError
from handwright.io.atomic import written_whole
from handwright.physics.engine import mujoco
from handwright.render.backend import make_context
from handwright.render.camera import Camera
from handwright.render.items import Drawn, Marker
from handwright.render.model import LIGHTS, Surface, compile_model
from handwright.render.postprocess import Shot

_MAX_PIXELS = 8192
# Width of the map of shadows, pixels, for each number of samples along a side of a pixel.
_SHADOW_SIZES = {1: 1024, 2: 2048, 3: 4096}


class Stage:
    """Items set up for pictures from any side; a context manager, for it holds an OpenGL context.

    Args:
        items: What is seen.
        width: Of a picture, pixels.
        height: Of a picture, pixels.
        samples: Along each side of a pixel, 1 to 3: smooth edges against time.
        reach: Points (m) that show how far the items will move; none if they stay.
        max_markers: How many markers are shown at once at most.

    Attributes:
        points: All corners of the items where they are now, m.
    """

    def __init__(
        self,
        items: Sequence[Drawn],
        *,
        width: int = 640,
        height: int = 640,
        samples: int = 3,
        reach: Float[np.ndarray, "N 3"] | None = None,
        max_markers: int = 0,
    ) -> None:
        if not items:
            raise InvalidValueError("There is nothing to draw: items is empty; give one or more.")
        if samples not in _SHADOW_SIZES:
            raise InvalidValueError(f"Stage: samples is {samples}; expected 1, 2 or 3.")
        limit = _MAX_PIXELS // samples
        if not (1 <= width <= limit and 1 <= height <= limit):
            raise InvalidValueError(
                f"The picture is {width} x {height} pixels; expected 1 to {limit} each."
            )
        self._samples, self._max_markers = samples, max_markers
        self._size = (samples * width, samples * height)
        self._surfaces = [Surface.of(item) for item in items]
        self.points = np.concatenate(
            [surface.vertices(item) for item, surface in zip(items, self._surfaces, strict=True)]
        )
        seen = self.points if reach is None else np.concatenate([self.points, reach])
        middle = (seen.min(axis=0) + seen.max(axis=0)) / 2.0
        extent = max(float(np.linalg.norm(seen - middle, axis=1).max()), 1e-6)
        self._model = compile_model(
            items,
            self._surfaces,
            middle=middle,
            extent=extent,
            size=self._size,
            shadow_size=_SHADOW_SIZES[samples],
        )
        self._data = mujoco.MjData(self._model)
        mujoco.mj_forward(self._model, self._data)
        self._gl = make_context(*self._size)
        self._context = mujoco.MjrContext(self._model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._scene = mujoco.MjvScene(self._model, maxgeom=len(items) + max_markers + 8)
        mujoco.mjv_updateScene(
            self._model,
            self._data,
            mujoco.MjvOption(),
            None,
            mujoco.MjvCamera(),
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        # Kept, for fresh memory of this size takes as long as reading a picture into it.
        self._pixels = np.zeros((self._size[1], self._size[0], 3), dtype=np.uint8)
        self._raw_depth = np.zeros((self._size[1], self._size[0]), dtype=np.float32)
        self._num_fixed = self._scene.ngeom
        self._shown: list[Drawn | None] = [None] * len(items)
        self.show(items)

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

    def show(self, items: Sequence[Drawn], markers: Sequence[Marker] = ()) -> None:
        """Moves the items, and replaces the markers.

        Args:
            items: Those that the stage was made with, with other vertices. Their colours stay, and
                so do their creases.
            markers: What else is shown until the next call.
        """
        if len(items) != len(self._surfaces):
            raise InvalidValueError(
                f"Stage.show: {len(items)} items; expected the {len(self._surfaces)} that the "
                "stage was made with."
            )
        if len(markers) > self._max_markers:
            raise InvalidValueError(
                f"Stage.show: {len(markers)} markers; expected at most {self._max_markers}. "
                "Make the stage with a larger max_markers."
            )
        vertices, normals = (
            array.reshape(-1, 3) for array in (self._scene.skinvert, self._scene.skinnormal)
        )
        starts, counts = self._scene.skinvertadr, self._scene.skinvertnum
        for number, (item, surface) in enumerate(zip(items, self._surfaces, strict=True)):
            if item is self._shown[number]:
                continue
            if surface.copied.max() >= len(item.vertices):
                raise InvalidValueError(
                    f"Stage.show: item {number} has {len(item.vertices)} vertices, fewer than "
                    "its faces need; expected the item that the stage was made with, moved."
                )
            rows = slice(starts[number], starts[number] + counts[number])
            self.points[rows] = surface.vertices(item)
            vertices[rows] = self.points[rows]
            normals[rows] = surface.normals(self.points[rows])
            self._shown[number] = item
        self._bounds = np.stack([self.points.min(axis=0), self.points.max(axis=0)])
        self._scene.ngeom = self._num_fixed
        for marker in markers:
            _place_marker(self._scene.geoms[self._scene.ngeom], marker)
            self._scene.ngeom += 1

    def picture(self, camera: Camera | None = None) -> UInt8[np.ndarray, "H W 3"]:
        """What a camera sees; one that frames everything by default."""
        camera = camera or Camera()
        width, height = self._size
        target, distance = camera.placed(self.points, aspect=width / height)
        near, far = self._look(camera, target, distance)
        self._gl.make_current()
        viewport = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(viewport, self._scene, self._context)
        mujoco.mjr_readPixels(self._pixels, self._raw_depth, viewport, self._context)
        shot = Shot(
            pixels=self._pixels,
            raw_depth=self._raw_depth,
            samples=self._samples,
            near=near,
            far=far,
            pixel_size=2.0 * distance * math.tan(camera.field_of_view / 2.0) / height,
            extent=float(self._model.stat.extent),
        )
        return shot.developed()

    def _look(
        self, camera: Camera, target: Float[np.ndarray, "3"], distance: float
    ) -> tuple[float, float]:
        """Turns view and lights; returns the least and the largest depth that are seen, m."""
        view = mujoco.MjvCamera()
        view.type = mujoco.mjtCamera.mjCAMERA_FREE
        view.lookat[:] = target
        view.distance = distance
        # MuJoCo's angles give the direction in which the camera looks, not where it stands.
        view.azimuth = np.degrees(camera.azimuth) + 180.0
        view.elevation = -np.degrees(camera.elevation)
        model = self._model
        model.vis.global_.fovy = np.degrees(camera.field_of_view)
        reach = float(np.linalg.norm(np.abs(self._bounds - target).max(axis=0)))
        near, far = max(0.01 * distance, distance - 1.5 * reach), distance + 4.0 * reach
        extent = float(model.stat.extent)
        model.vis.map.znear, model.vis.map.zfar = near / extent, far / extent
        # The lights turn with the camera, so that every view is lit alike.
        for light, (azimuth, elevation, _, _) in enumerate(LIGHTS):
            a, e = camera.azimuth + azimuth, elevation
            source = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
            self._data.light_xdir[light] = -source
            # MuJoCo leaves out of its shadows what is nearer to the light than ``near``.
            self._data.light_xpos[light] = model.stat.center + (near + 1.1 * extent) * source
        mujoco.mjv_updateCamera(model, self._data, view, self._scene)
        mujoco.mjv_makeLights(model, self._data, self._scene)
        return near, far


def _place_marker(geom: mujoco.MjvGeom, marker: Marker) -> None:
    """Makes a thing in MuJoCo's scene look like the marker."""
    kind = mujoco.mjtGeom.mjGEOM_SPHERE if marker.tail is None else mujoco.mjtGeom.mjGEOM_ARROW
    rgba = np.array([*marker.color, 1.0], dtype=np.float32)
    size = np.full(3, marker.radius)
    mujoco.mjv_initGeom(geom, kind, size, marker.point, np.eye(3).reshape(-1), rgba)
    if marker.tail is not None:
        # An arrow is drawn half as long as its connector.
        end = marker.tail + 2.0 * (marker.point - marker.tail)
        mujoco.mjv_connector(geom, kind, marker.radius, marker.tail, end)
    # As a decoration, which it is by default, it would cast no shadow.
    geom.category = mujoco.mjtCatBit.mjCAT_DYNAMIC
    geom.specular, geom.shininess = 0.25, 0.35


def render_still(
    items: Sequence[Drawn], camera: Camera | None = None, *, width: int = 640, height: int = 640
) -> UInt8[np.ndarray, "H W 3"]:
    """Draws items on a light background, without a window.

    Args:
        items: Surfaces in the world.
        camera: Where to look from; it frames all items by default.
        width: Pixels.
        height: Pixels.
    """
    with Stage(items, width=width, height=height) as stage:
        return stage.picture(camera)


def check_png(path: str | Path) -> Path:
    """Returns the path if it can name a picture, before any work is put into one."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise InvalidValueError(
            f"Cannot write a picture to '{path}'; expected a name that ends in .png."
        )
    return path


def write_png(image: UInt8[np.ndarray, "H W 3"], path: str | Path) -> Path:
    """Writes a picture; a reader of the path never sees half a file.

    Args:
        image: Red, green and blue.
        path: Ends in ``.png``; missing folders are made.
    """
    path = check_png(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        Image.fromarray(np.ascontiguousarray(image)).save(file, format="PNG", optimize=True)
    return path
