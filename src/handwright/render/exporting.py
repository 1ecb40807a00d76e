"""One function that writes a clip in any format, files and films alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from handwright.core.clip import Clip
from handwright.errors import UnknownNameError
from handwright.io.formats import EXPORTERS
from handwright.io.formats import export as export_file
from handwright.render.film import SUFFIXES, FilmSettings, render_clip


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
