"""Single pictures, and pictures written to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from handwright.errors import InvalidValueError
from handwright.io.atomic import written_whole
from handwright.render.camera import Camera
from handwright.render.items import Drawn
from handwright.render.scene import Stage


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
