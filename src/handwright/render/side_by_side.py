"""Several motions in one film or picture, for comparison: the same moments, seen from one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from handwright.core.clip import Clip
from handwright.errors import InvalidValueError
from handwright.render.clip_scene import ClipScene
from handwright.render.film import (
    FilmSettings,
    film_frames,
    film_rate,
    film_reach,
    picture_suffix,
    pictures,
    write_film,
)
from handwright.render.scene import write_png
from handwright.render.sheet import contact_sheet


def render_side_by_side(
    clips: Mapping[str, Clip], path: str | Path, settings: FilmSettings | None = None
) -> Path:
    """Writes a film (.mp4, .gif) of motions beside each other, or stills (.png), a row for each.

    The camera sees all of every motion. In a film, a motion that is over stays as it ends.

    Args:
        clips: The motions, by the texts that are written below them.
        path: Its suffix chooses the format; missing folders are made.
        settings: Size of the picture of one motion, rate, camera and overlays.
    """
    if not clips:
        raise InvalidValueError("There is nothing to film: give one clip or more.")
    path = Path(path)
    is_still = picture_suffix(path) == ".png"
    settings = _framed(clips, FilmSettings() if settings is None else settings)
    if is_still:
        return write_png(_stills(clips, settings), path)
    return write_film(_shots(clips, film_rate(path, settings), settings), path, settings)


def _framed(clips: Mapping[str, Clip], settings: FilmSettings) -> FilmSettings:
    """The settings with one camera for all."""
    scenes = [ClipScene(clip, settings.overlay) for clip in clips.values()]
    pairs = zip(clips.values(), scenes, strict=True)
    reach = np.concatenate([film_reach(clip, scene) for clip, scene in pairs])
    camera = settings.camera or scenes[0].camera
    return replace(settings, camera=camera.framing(reach, aspect=settings.width / settings.height))


def _shots(
    clips: Mapping[str, Clip], fps: float, settings: FilmSettings
) -> Iterator[UInt8[np.ndarray, "H W 3"]]:
    """Pictures of all motions at each tick of the film."""
    # One after the other: stages share the graphics device, and only the newest can draw.
    drawn = [list(pictures(clip, film_frames(clip, fps), settings)) for clip in clips.values()]
    ends = [images[-1] for images in drawn]
    for tick in zip_longest(*drawn):
        shown = [end if image is None else image for image, end in zip(tick, ends, strict=True)]
        sheet = contact_sheet(shown, len(shown), list(clips))
        height, width = (2 * (size // 2) for size in sheet.shape[:2])
        yield sheet[:height, :width]


def _stills(clips: Mapping[str, Clip], settings: FilmSettings) -> UInt8[np.ndarray, "H W 3"]:
    """A row for each motion, at times spread evenly over the longest."""
    longest = max(clips.values(), key=lambda clip: clip.times[-1] - clip.times[0])
    times = np.linspace(longest.times[0], longest.times[-1], settings.stills)
    images, labels = [], []
    for name, clip in clips.items():
        frames = np.abs(clip.times[:, None] - times).argmin(axis=0)
        images += list(pictures(clip, frames, settings, samples=3))
        labels += [f"{name}, {time:.2f} s" for time in times]
    return contact_sheet(images, settings.stills, labels)
