"""The picture of how wide a search roams: values of one joint over the frames of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8
from PIL import Image, ImageDraw, ImageFont

_WIDTH, _HEIGHT = 1100, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 20, 40, 50
_INK, _PALE, _MARK = (60, 64, 72), (225, 228, 233), (30, 90, 170)


class Band(NamedTuple):
    """Postures that one search visited, in the order of their visits."""

    title: str
    frame: Int[np.ndarray, " N"]
    value: Float[np.ndarray, " N"]
    """rad."""


def strokes(
    frame: Int[np.ndarray, " N"], value: Float[np.ndarray, " N"]
) -> list[list[tuple[int, float]]]:
    """Curves: visits that follow each other frame by frame, each with where it branched off.

    A visit to frame t goes on from the latest visit to frame t - 1, as in a depth-first search.
    """
    latest: dict[int, float] = {}
    curves: list[list[tuple[int, float]]] = []
    last = -1
    for t, v in zip(frame.tolist(), value.tolist(), strict=True):
        if t == last + 1 and curves:
            curves[-1].append((t, v))
        elif t - 1 in latest:
            curves.append([(t - 1, latest[t - 1]), (t, v)])
        else:
            curves.append([(t, v)])
        latest[t] = v
        last = t
    return curves


def draw_bands(bands: Sequence[Band], *, last: int) -> UInt8[np.ndarray, "H W 3"]:
    """One plot below the other, with the same axes.

    Args:
        bands: What to draw.
        last: Last frame of the axis.
    """
    values = np.degrees(np.concatenate([np.zeros(0), *(band.value for band in bands)]))
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    pad = 0.05 * max(high - low, 1.0)
    low, high = low - pad, high + pad
    image = Image.new("RGB", (_WIDTH, _HEIGHT * len(bands)), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=15)
    for number, band in enumerate(bands):
        top = number * _HEIGHT + _TOP
        bottom = (number + 1) * _HEIGHT - _BOTTOM

        def place(t: float, degrees: float, top: int = top, bottom: int = bottom) -> tuple:
            x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * t / max(last, 1)
            return x, bottom - (bottom - top) * (degrees - low) / (high - low)

        draw.text((_LEFT, top - 28), band.title, fill=_INK, font=font)
        for degrees in _ticks(low, high):
            at = place(0, degrees)
            draw.line([at, place(last, degrees)], fill=_PALE)
            draw.text((at[0] - 8, at[1]), f"{degrees:g}°", fill=_INK, font=font, anchor="rm")
        for t in _ticks(0.0, float(last)):
            x = place(t, low)[0]
            draw.line([(x, bottom), (x, bottom + 5)], fill=_INK)
            draw.text((x, bottom + 8), f"{t:g}", fill=_INK, font=font, anchor="mt")
        draw.text((_WIDTH - _RIGHT, bottom + 26), "frame", fill=_INK, font=font, anchor="rt")
        draw.rectangle([place(0, high), place(last, low)], outline=_INK)
        for curve in strokes(band.frame, np.degrees(band.value)):
            points = [place(t, v) for t, v in curve]
            if len(points) > 1:
                draw.line(points, fill=_MARK, width=1)
            else:
                x, y = points[0]
                draw.ellipse([x - 1, y - 1, x + 1, y + 1], fill=_MARK)
    return np.asarray(image)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers within a range, some five of them."""
    span = max(high - low, 1e-9)
    base = 10.0 ** np.floor(np.log10(span / 5.0))
    step = next(base * k for k in (1.0, 2.0, 5.0, 10.0) if base * k >= span / 6.0)
    return [
        float(v) + 0.0 for v in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    ]
