"""Hands and shapes by their names, as rows of a contact sheet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from handwright.errors import InvalidValueError, UnknownNameError
from handwright.geometry.shapes import SHAPES, make_shape
from handwright.hands.registry import HANDS, make_hand
from handwright.math import Pose, rotation
from handwright.render.items import Drawn, body_item, hand_items


def sheet_rows(name: str, pose: str) -> dict[str, Sequence[Drawn]]:
    """What to draw in each row of the sheet, by its label.

    Args:
        name: Of a hand or a shape.
        pose: Named pose of a hand, or ``all``; ``rest`` for a shape.
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
