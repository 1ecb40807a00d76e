"""Downloads: clips in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handwright.io.clip.resample import frame_times, resampled
from handwright.render.clip_scene import Overlay
from handwright.render.film import export
from handwright.studio.library.export_options import TAKES, ExportOptions
from handwright.studio.library.judging import loaded_clip

_FILMS = ("mp4", "gif", "png")


def export_clip(source: Path, target: Path, options: ExportOptions) -> None:
    """Writes a clip in another format.

    Args:
        source: The clip.
        target: Where to, with the suffix of the format.
        options: Format and what it takes.
    """
    options.check()
    clip = loaded_clip(source)
    if options.format in _FILMS:
        film: dict[str, Any] = {
            "overlay": Overlay(contacts=options.contacts, forces=options.forces)
        }
        if options.fps is not None:
            film["fps"] = options.fps
        export(clip, target, **film)
    elif options.format in ("npz", "csv"):
        export(resampled(clip, frame_times(clip, options.fps)), target)
    else:
        chosen = {name: getattr(options, name) for name in TAKES[options.format]}
        export(clip, target, **chosen)
