"""Films and strips of stills of a clip, and one function that writes it in any format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8
from PIL import Image
from rich.console import Console
from rich.progress import track

from handwright.core.clip import Clip
from handwright.errors import InvalidValueError, UnknownNameError, require
from handwright.io.atomic import whole_path
from handwright.io.formats import EXPORTERS
from handwright.io.formats import export as export_file
from handwright.render.camera import Camera
from handwright.render.clip_scene import ClipScene, Overlay
from handwright.render.scene import Stage, write_png
from handwright.render.sheet import contact_sheet

SUFFIXES = (".mp4", ".gif", ".png")
_FRAMING_FRAMES = 12
# Programs that show a .gif slow down pictures that are shorter than two hundredths of a second.
_GIF_FPS = 50.0
# Of a strip; rows are made as long as each other.
_MAX_COLUMNS = 4


@dataclass(frozen=True, slots=True)
class FilmSettings:
    """How a clip is filmed."""

    width: int = 640
    """Pixels, even."""
    height: int = 480
    """Pixels, even."""
    fps: float = 30.0
    """Frames of the film for each second of the motion; a .gif has at most 50."""
    stills: int = 8
    """Number of pictures in a strip (.png)."""
    camera: Camera | None = None
    """Where to look from; it frames the whole motion unless told otherwise. If None, people with
    arms are seen from the front, and other hands as a ``Camera`` does."""
    overlay: Overlay = field(default_factory=Overlay)

    def __post_init__(self) -> None:
        problems = []
        if self.width % 2 or self.height % 2 or min(self.width, self.height) < 16:
            problems.append(
                f"the film is {self.width} x {self.height} pixels, expected even numbers from 16 up"
            )
        if not 0.0 < self.fps <= 240.0:
            problems.append(f"fps is {self.fps}, expected above 0 up to 240")
        if self.stills < 1:
            problems.append(f"stills is {self.stills}, expected 1 or more")
        if problems:
            raise InvalidValueError("FilmSettings: " + "; ".join(problems) + ".")


def film_frames(clip: Clip, fps: float) -> Int[np.ndarray, " N"]:
    """Frames of a clip nearest to the ticks of a film."""
    duration = float(clip.times[-1] - clip.times[0])
    ticks = clip.times[0] + np.arange(int(np.floor(duration * fps + 1e-9)) + 1) / fps
    after = np.clip(np.searchsorted(clip.times, ticks), 0, clip.num_frames - 1)
    before = np.maximum(after - 1, 0)
    is_before = np.abs(clip.times[before] - ticks) < np.abs(clip.times[after] - ticks)
    return np.where(is_before, before, after).astype(np.int64)


def film_reach(clip: Clip, scene: ClipScene) -> Float[np.ndarray, "N 3"]:
    """Points (m) of hands and bodies, spread over the whole motion."""
    frames = np.unique(np.linspace(0, clip.num_frames - 1, _FRAMING_FRAMES).astype(int))
    return np.concatenate([item.vertices for f in frames for item in scene.moving(int(f))])


def pictures(
    clip: Clip, frames: Int[np.ndarray, " N"], settings: FilmSettings, *, samples: int = 2
) -> Iterator[UInt8[np.ndarray, "H W 3"]]:
    """Pictures of chosen frames from one camera, with 1 to 3 samples along each side of a pixel."""
    scene = ClipScene(clip, settings.overlay)
    reach = film_reach(clip, scene)
    camera = (settings.camera or scene.camera).framing(
        reach, aspect=settings.width / settings.height
    )
    with Stage(
        scene.items(int(frames[0])),
        width=settings.width,
        height=settings.height,
        samples=samples,
        reach=reach,
        max_markers=scene.max_markers,
    ) as stage:
        numbers, console = [int(frame) for frame in frames], Console(stderr=True)
        # Rich would leave an empty line in a log.
        is_log = not console.is_terminal
        for frame in track(numbers, "Drawing", transient=True, console=console, disable=is_log):
            stage.show(scene.items(frame), scene.markers(frame))
            yield stage.picture(camera)


def render_clip(clip: Clip, path: str | Path, settings: FilmSettings | None = None) -> Path:
    """Writes a film (.mp4, .gif) or a strip of stills (.png); half a file is never seen.

    Args:
        clip: The motion.
        path: Its suffix chooses the format; missing folders are made.
        settings: Size, rate, camera and overlays.
    """
    settings = FilmSettings() if settings is None else settings
    path = Path(path)
    if picture_suffix(path) == ".png":
        return _write_strip(clip, path, settings)
    frames = film_frames(clip, film_rate(path, settings))
    return write_film(pictures(clip, frames, settings), path, settings)


def picture_suffix(path: Path) -> str:
    """One of ``SUFFIXES``; refused, before anything is drawn, if the file cannot be written."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownNameError("picture format", suffix or str(path), SUFFIXES)
    if suffix == ".mp4":
        require("imageio_ffmpeg", extra="film", feature="Writing .mp4 films")
    return suffix


def film_rate(path: Path, settings: FilmSettings) -> float:
    """Frames of a film for each second of the motion: a .gif has no more than are shown."""
    return min(settings.fps, _GIF_FPS) if path.suffix.lower() == ".gif" else settings.fps


def write_film(
    images: Iterable[UInt8[np.ndarray, "H W 3"]], path: Path, settings: FilmSettings
) -> Path:
    """Writes pictures as a film (.mp4, .gif); half a file is never seen.

    Args:
        images: Of one size, even numbers of pixels for .mp4; taken one after the other.
        path: Its suffix chooses the format; missing folders are made.
        settings: Their rate counts.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write = _write_mp4 if path.suffix.lower() == ".mp4" else _write_gif
    with whole_path(path) as temporary:
        write(images, temporary, film_rate(path, settings))
    return path


def export(clip: Clip, path: str | Path, **options: Any) -> None:  # noqa: ANN401
    """Writes a clip; the suffix chooses the format.

    Args:
        clip: The motion.
        path: Such as ``turn.glb``, ``turn.npz``, ``turn.mp4``.
        **options: Of the format: fields of ``FilmSettings`` for pictures and films, else the
            keyword arguments of the format's own function.
    """
    suffix = Path(path).suffix.lower()
    if suffix in SUFFIXES:
        known = FilmSettings.__dataclass_fields__
        for name in options:
            if name not in known:
                raise UnknownNameError(f"option of {suffix} files", name, known)
        render_clip(clip, path, FilmSettings(**options))
    elif suffix in EXPORTERS:
        export_file(clip, path, **options)
    else:
        raise UnknownNameError("file suffix to write", suffix, (*EXPORTERS, *SUFFIXES))


def _write_strip(clip: Clip, path: Path, settings: FilmSettings) -> Path:
    count = min(settings.stills, clip.num_frames)
    frames = np.unique(np.linspace(0, clip.num_frames - 1, count).astype(np.int64))
    images = list(pictures(clip, frames, settings, samples=3))
    labels = [f"{clip.times[frame]:.2f} s" for frame in frames]
    rows = math.ceil(len(images) / _MAX_COLUMNS)
    return write_png(contact_sheet(images, math.ceil(len(images) / rows), labels), path)


def _write_mp4(images: Iterable[UInt8[np.ndarray, "H W 3"]], path: Path, fps: float) -> None:
    ffmpeg = require("imageio_ffmpeg", extra="film", feature="Writing .mp4 films")
    waiting = iter(images)
    first = next(waiting)
    writer = ffmpeg.write_frames(
        str(path),
        (first.shape[1], first.shape[0]),
        fps=fps,
        codec="libx264",
        macro_block_size=2,
        output_params=["-crf", "18", "-movflags", "+faststart"],
        ffmpeg_log_level="error",
    )
    writer.send(None)
    try:
        for image in chain([first], waiting):
            writer.send(np.ascontiguousarray(image))
    finally:
        writer.close()


def gif_durations(count: int, fps: float) -> list[int]:
    """How long each picture of a .gif is shown, ms: whole hundredths of a second, as it must be.

    They take turns being longer and shorter, so that the film as a whole is neither fast nor slow.
    """
    ends = np.round(100.0 * np.arange(count + 1) / fps).astype(int)
    return [10 * int(step) for step in np.diff(ends)]


def _write_gif(images: Iterable[UInt8[np.ndarray, "H W 3"]], path: Path, fps: float) -> None:
    shown = [Image.fromarray(np.ascontiguousarray(image)).quantize(128) for image in images]
    shown[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=shown[1:],
        duration=gif_durations(len(shown), fps),
        loop=0,
    )
