"""The pictures of the documentation: ``python -m tools.pictures.hands_and_shapes docs/images``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.progress import track

from handwright.geometry.shapes import SHAPES, make_shape
from handwright.hands import human
from handwright.math import rotation
from handwright.math.pose import Pose
from handwright.render.camera import Camera
from handwright.render.items import body_item, hand_items
from handwright.render.scene import render_still, write_png
from handwright.render.sheet import contact_sheet

# Label and azimuth (degrees) for a hand held with its fingers up and its palm towards +x.
_SIDES = (("palm", 0.0), ("back", 180.0), ("thumb side", 90.0), ("oblique", -55.0))
_POSES = ("rest", "closed", "pinch", "open")


def hand_sheet(size: int = 360) -> np.ndarray:
    """The human hand in four poses from four sides."""
    model = human()
    root = Pose(np.zeros(3), rotation.exp(np.array([0.0, -np.pi / 2.0, 0.0])))
    images, labels = [], []
    for pose in track(_POSES, "Hands"):
        items = hand_items(model, model.pose(pose), root)
        for side, azimuth in _SIDES:
            camera = Camera(azimuth=np.radians(azimuth), elevation=np.radians(12.0))
            images.append(render_still(items, camera, width=size, height=size))
            labels.append(f"{pose}, {side}")
    return contact_sheet(images, len(_SIDES), labels)


def shapes_sheet(size: int = 240) -> np.ndarray:
    """Every parametric body."""
    images = [
        render_still([body_item(make_shape(name))], width=size, height=size)
        for name in track(SHAPES, "Shapes")
    ]
    return contact_sheet(images, 7, list(SHAPES))


def main(folder: Path) -> None:
    """Writes both sheets into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_png(hand_sheet(), folder / "hand_sheet.png")
    write_png(shapes_sheet(), folder / "shapes_sheet.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"))
