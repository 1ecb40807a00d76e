"""Plots of what a hand draws and dials: ``python -m tools.pictures.paths docs/images``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image, ImageDraw, ImageFont

from handwright.core.clip import Clip
from handwright.core.goal import Goal
from handwright.evidence import certify
from handwright.evidence.metrics.goals import feature_poses, worst_goal_error
from handwright.evidence.metrics.presses import presses
from handwright.geometry.shapes.phones import phone_keys
from handwright.methods import ContactInvariant
from handwright.render.scene import write_png
from handwright.scenes import load_scene
from handwright.synthesis import synthesize

_WIDTH, _HEIGHT, _EDGE = 620, 620, 60
_INK, _PALE = (60, 64, 72), (225, 228, 233)
# Half of a key that is drawn, m.
_KEY = np.array([0.0059, 0.0040, 0.0])
_WISHED, _DONE, _PRESSED = (235, 160, 60), (30, 90, 170), (200, 40, 50)


def drawn_path(clip: Clip) -> UInt8[np.ndarray, "H W 3"]:
    """Path of the point that goals of moments lead, seen from above, over the one they ask for."""
    goals = [g for g in clip.problem.goals if g.position is not None and g.start == g.end]
    goals = [g for g in goals if g.feature.point is not None]
    wished = np.array([g.position for g in goals])
    way = _way(clip, goals)
    image, draw, place = _canvas(np.concatenate([wished[:, :2], way[:, :2]]))
    draw.line([place(*p[:2]) for p in wished], fill=_WISHED, width=9)
    draw.line([place(*p[:2]) for p in way], fill=_DONE, width=2)
    for p in wished:
        x, y = place(*p[:2])
        draw.ellipse([x - 4, y - 4, x + 4, y + 4], outline=_INK)
    off, _ = worst_goal_error(clip)
    swing = 1e3 * float(np.ptp(way[:, 2]))
    _caption(
        draw,
        "asked for: orange, with its moments; tip of the pen: blue",
        f"at most {off:.2f} mm off at these moments; height varies by {swing:.2f} mm",
    )
    return np.asarray(image)


def dialled_path(clip: Clip) -> UInt8[np.ndarray, "H W 3"]:
    """Path of the fingertip that goals lead over a phone, seen from above, and what it presses."""
    goals = [g for g in clip.problem.goals if g.relative_to is not None]
    body = goals[0].relative_to or ""
    way, keys = _way(clip, goals), phone_keys()
    vertices = clip.problem.bodies[body].vertices
    image, draw, place = _canvas(np.concatenate([vertices[:, :2], way[:, :2]]))
    draw.rectangle(_corners(place, vertices.min(axis=0), vertices.max(axis=0)), outline=_INK)
    font = ImageFont.load_default(size=22)
    for middle in keys.values():
        draw.rectangle(_corners(place, middle - _KEY, middle + _KEY), outline=_INK, fill=_PALE)
    within = (clip.times >= goals[0].start) & (clip.times <= goals[-1].end)
    draw.line([place(*p[:2]) for p in way[within]], fill=_DONE, width=2)
    for name, middle in keys.items():
        draw.text(place(*middle[:2]), name, fill=_INK, font=font, anchor="mm")
    found = presses(clip, goals[0].feature.owner, body, keys)
    for press in found:
        x, y = place(*way[np.searchsorted(clip.times, 0.5 * (press.start + press.end)), :2])
        draw.ellipse([x - 13, y - 13, x + 13, y + 13], outline=_PRESSED, width=2)
    lines = [
        f"{one.key or 'nothing'}: {one.start:.2f} to {one.end:.2f} s, up to {one.force:.2f} N"
        for one in found
    ]
    _caption(draw, "middle of the fingertip: blue", "presses: red", *lines, left=_WIDTH - 200)
    return np.asarray(image)


def _way(clip: Clip, goals: Sequence[Goal]) -> Float[np.ndarray, "N 3"]:
    """Path of the feature of goals, in the frame of their body if they have one.

    Without one, from the first of their moments to the last.
    """
    poses = feature_poses(clip, goals[0].feature)
    body = goals[0].relative_to
    if body is not None:
        return (clip.bodies[body].inverse() @ poses).position
    within = (clip.times >= goals[0].start) & (clip.times <= goals[-1].end)
    return poses.position[within]


def _canvas(
    points: Float[np.ndarray, "N 2"],
) -> tuple[Image.Image, ImageDraw.ImageDraw, Callable[[float, float], tuple[float, float]]]:
    """A picture with a grid of centimetres around points, and where places are on it."""
    low, high = points.min(axis=0) - 0.005, points.max(axis=0) + 0.005
    scale = (min(_WIDTH, _HEIGHT) - 2 * _EDGE) / float((high - low).max())
    middle = 0.5 * (low + high)
    image = Image.new("RGB", (_WIDTH, _HEIGHT), "white")
    draw = ImageDraw.Draw(image)

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            0.5 * _WIDTH + scale * (x - float(middle[0])),
            0.5 * _HEIGHT - scale * (y - float(middle[1])),
        )

    font = ImageFont.load_default(size=13)
    for axis in range(2):
        for n in range(int(np.ceil(100 * low[axis])), int(np.floor(100 * high[axis])) + 1):
            ends = np.array([low, high])
            ends[:, axis] = 0.01 * n
            draw.line([place(*ends[0]), place(*ends[1])], fill=_PALE)
            x, y = place(*ends[0])
            shift, anchor = ((0, 6), "mt") if axis == 0 else ((-6, 0), "rm")
            draw.text((x + shift[0], y + shift[1]), str(n), fill=_INK, font=font, anchor=anchor)
    draw.text((_WIDTH - 8, _HEIGHT - 8), "cm", fill=_INK, font=font, anchor="rb")
    return image, draw, place


def _corners(
    place: Callable[[float, float], tuple[float, float]],
    low: Float[np.ndarray, "3"],
    high: Float[np.ndarray, "3"],
) -> list[float]:
    """Of a rectangle on the picture, where y goes down."""
    left, bottom = place(float(low[0]), float(low[1]))
    right, top = place(float(high[0]), float(high[1]))
    return [left, top, right, bottom]


def _caption(draw: ImageDraw.ImageDraw, *lines: str, left: int = 10) -> None:
    font = ImageFont.load_default(size=15)
    for number, line in enumerate(lines):
        draw.text((left, 8 + 20 * number), line, fill=_INK, font=font)


def main(folder: Path) -> None:
    """Solves both scenes and writes their plots."""
    folder.mkdir(parents=True, exist_ok=True)
    for scene, plot in (("draw_square", drawn_path), ("dial_phone", dialled_path)):
        result = synthesize(load_scene(scene), ContactInvariant(num_solutions=2), seed=0)
        clip = next((one for one in result.clips if certify(one).passed), None)
        if clip is None:
            sys.stdout.write(f"{scene}: {result.status.name}. {result.message}\n")
            continue
        write_png(plot(clip), folder / f"path_{scene}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"))
