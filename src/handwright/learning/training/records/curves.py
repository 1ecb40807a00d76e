"""Curves of a training run as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

from handwright.io.atomic import written_whole
from handwright.learning.training.records.checkpoints import Epoch, best_of

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 36, 40
_INK, _GRID = (70, 74, 82), (226, 228, 232)
_COLORS = ((31, 105, 180), (200, 84, 48))
_NUM_LINES = 5


class Curve(NamedTuple):
    """Values of one line, and what they are."""

    name: str
    values: Sequence[float]


def write_curves(history: Sequence[Epoch], path: Path) -> None:
    """Draws loss and closed-loop figures over the epochs.

    Args:
        history: One epoch or more.
        path: The picture (.png) to write.
    """
    best = best_of(list(history))
    mark = None if best is None else best.number
    panels = (
        (True, [Curve("loss", [epoch.loss for epoch in history])]),
        (
            False,
            [
                Curve("joint error, mm", [epoch.figures.error for epoch in history]),
                Curve("penetration, mm", [epoch.figures.penetration for epoch in history]),
            ],
        ),
        (False, [Curve("acceleration, cm/s^2", [one.figures.smoothness for one in history])]),
    )
    picture = Image.new("RGB", (_WIDTH, len(panels) * _HEIGHT), "white")
    draw = ImageDraw.Draw(picture)
    for number, (is_log, curves) in enumerate(panels):
        _panel(draw, number * _HEIGHT, curves, is_log=is_log, mark=mark)
    with written_whole(path) as file:
        picture.save(file, format="PNG")


def _panel(
    draw: ImageDraw.ImageDraw,
    top: int,
    curves: Sequence[Curve],
    *,
    is_log: bool,
    mark: int | None,
) -> None:
    """One diagram; ``mark`` is the best epoch."""
    font = ImageFont.load_default(size=13)
    scaled = [[_height(value, is_log) for value in curve.values] for curve in curves]
    every = [value for row in scaled for value in row if math.isfinite(value)] or [0.0]
    low = min(every) if is_log else min(0.0, *every)
    span = max(max(every) - low, 1e-9)
    count = len(curves[0].values)

    def place(epoch: int, value: float) -> tuple[float, float]:
        share = (epoch - 1) / max(count - 1, 1)
        x = _LEFT + share * (_WIDTH - _LEFT - _RIGHT)
        return x, top + _HEIGHT - _BOTTOM - (value - low) / span * (_HEIGHT - _TOP - _BOTTOM)

    for line in range(_NUM_LINES):
        value = low + span * line / (_NUM_LINES - 1)
        height = place(1, value)[1]
        draw.line([(_LEFT, height), (_WIDTH - _RIGHT, height)], fill=_GRID)
        text = f"{math.exp(value) if is_log else value:.3g}"
        draw.text((_LEFT - 8, height), text, fill=_INK, font=font, anchor="rm")
    if mark is not None:
        draw.line([place(mark, low), place(mark, low + span)], fill=_INK)
    for number, (curve, row) in enumerate(zip(curves, scaled, strict=True)):
        color = _COLORS[number % len(_COLORS)]
        points = [place(n + 1, value) for n, value in enumerate(row) if math.isfinite(value)]
        if len(points) == 1:
            draw.point(points, fill=color)
        draw.line(points, fill=color, width=2)
        draw.text((_LEFT + 220 * number, top + 10), curve.name, fill=color, font=font)
    for epoch in sorted({1, (count + 1) // 2, count}):
        x = place(epoch, low)[0]
        draw.text((x, top + _HEIGHT - _BOTTOM + 8), str(epoch), fill=_INK, font=font, anchor="mt")
    draw.text((_WIDTH - _RIGHT, top + _HEIGHT - 8), "epoch", fill=_INK, font=font, anchor="rb")


def _height(value: float, is_log: bool) -> float:
    if not is_log:
        return value
    return math.log(value) if value > 0.0 else math.nan
