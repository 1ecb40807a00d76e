"""Many pictures on one sheet, and what to draw of hands and shapes by their names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.shapes import SHAPES, make_shape
from handwright.hands.registry import HANDS, make_hand
from handwright.math import Pose, rotation
from handwright.render.camera import Camera
from handwright.render.items import Drawn, body_item, hand_items
from handwright.render.postprocess import BACKGROUND
from handwright.render.scene import Stage

_GAP = 4
_INK = (70, 74, 82)


def turntable(
    items: Sequence[Drawn],
    num_views: int = 8,
    *,
    camera: Camera | None = None,
    width: int = 320,
    height: int = 320,
) -> list[UInt8[np.ndarray, "H W 3"]]:
    """Pictures from all round, at equal steps, all from one distance.

    Args:
        items: Surfaces in the world.
        num_views: How many pictures.
        camera: The first view; the default camera if None.
        width: Of each picture, pixels.
        height: Of each picture, pixels.
    """
    if num_views < 1:
        raise InvalidValueError(f"turntable: num_views is {num_views}; expected 1 or more.")
    first = camera or Camera()
    with Stage(items, width=width, height=height) as stage:
        if first.target is None:
            # One target for all views, so that the item turns in place.
            middle = (stage.points.min(axis=0) + stage.points.max(axis=0)) / 2.0
            first = replace(first, target=tuple(middle.tolist()))
        cameras = [
            replace(first, azimuth=first.azimuth + 2.0 * math.pi * view / num_views)
            for view in range(num_views)
        ]
        distance = max(view.placed(stage.points, aspect=width / height)[1] for view in cameras)
        return [stage.picture(replace(view, distance=distance)) for view in cameras]


def contact_sheet(
    images: Sequence[UInt8[np.ndarray, "H W 3"]],
    columns: int,
    labels: Sequence[str] | None = None,
) -> UInt8[np.ndarray, "H2 W2 3"]:
    """Lays pictures of one size out in rows, each with a line of text below it.

    Args:
        images: Pictures of one size.
        columns: How many side by side.
        labels: A text for each picture; no lines of text if None.
    """
    if not images:
        raise InvalidValueError("contact_sheet: there are no images; give one or more.")
    sizes = {image.shape for image in images}
    if len(sizes) != 1:
        raise InvalidValueError(
            f"contact_sheet: images have shapes {sorted(sizes)}; expected one shape for all."
        )
    if columns < 1:
        raise InvalidValueError(f"contact_sheet: columns is {columns}; expected 1 or more.")
    if labels is not None and len(labels) != len(images):
        raise InvalidValueError(
            f"contact_sheet: {len(labels)} labels for {len(images)} images; expected one for each."
        )
    height, width, _ = images[0].shape
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    text_size = max(11, height // 18)
    text_height = 0 if labels is None else round(1.6 * text_size)
    cell_width, cell_height = width + _GAP, height + text_height + _GAP
    paper = tuple(round(255 * c) for c in BACKGROUND)
    sheet = Image.new("RGB", (columns * cell_width + _GAP, rows * cell_height + _GAP), paper)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=text_size)
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        left, top = _GAP + column * cell_width, _GAP + row * cell_height
        sheet.paste(Image.fromarray(np.ascontiguousarray(image)), (left, top))
        if labels is not None:
            middle = (left + width // 2, top + height + text_height // 2)
            draw.text(middle, labels[number], fill=_INK, font=font, anchor="mm")
    return np.asarray(sheet).copy()


def sheet_rows(name: str, pose: str) -> dict[str, Sequence[Drawn]]:
    """What to draw in each row of the sheet, by its label.

    A hand is drawn in a named pose, or in ``all``; a shape has the pose ``rest`` only.
    """
    if name in SHAPES:
        if pose != "rest":
            raise InvalidValueError(
                f"'{name}' is a shape and has no pose '{pose}'. Leave --pose out."
            )
        return {name: [body_item(make_shape(name))]}
    if name not in HANDS:
        raise UnknownNameError("hand or shape", name, [*HANDS, *SHAPES])
    model = make_hand(name)
    names = list(model.poses) if pose == "all" else [pose]
    # A bare hand is shown with its fingers up; an arm reaches forward with the thumb up.
    thumb_up = np.pi / 2.0 if model.side == "right" else -np.pi / 2.0
    turn = [0.0, -np.pi / 2.0, 0.0] if model.wrist_link == 0 else [thumb_up, 0.0, 0.0]
    root = Pose(np.zeros(3), rotation.exp(turn))
    return {row: hand_items(model, model.pose(row), root) for row in names}
