"""Which files can be written and read, by suffix: one table for each way.

To add a format, add an entry: the suffix and where its function is, as ``module:function``. The
module is loaded when the format is first used. Exporters take ``(clip, path, **options)``,
importers ``(path)``.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handwright.core.clip import Clip
from handwright.errors import InvalidValueError, UnknownNameError

EXPORTERS: dict[str, str] = {
    ".bvh": "handwright.io.bvh.files:write_bvh",
    ".csv": "handwright.io.tracks_csv:save_clip_tracks",
    ".glb": "handwright.io.gltf.write:save_glb",
    ".npz": "handwright.io.clip.file:save_clip",
    ".usd": "handwright.io.usd.stage:save_usd",
    ".usda": "handwright.io.usd.stage:save_usd",
    ".usdc": "handwright.io.usd.stage:save_usd",
}
IMPORTERS: dict[str, str] = {
    ".bvh": "handwright.io.bvh.files:read_bvh",
    ".csv": "handwright.io.tracks_csv:load_tracks",
    ".glb": "handwright.io.gltf.read:load_glb",
    ".npz": "handwright.io.clip.npz_file:load_npz",
}


def export(clip: Clip, path: str | Path, **options: Any) -> None:  # noqa: ANN401
    """Writes a clip in the format that the suffix of the path names.

    Args:
        clip: The motion.
        path: Where to; see ``EXPORTERS`` for the suffixes.
        **options: Of the format, such as ``fps=30`` for .glb; see its function.
    """
    write = _function(EXPORTERS, path, "file suffix to write")
    known = [
        name
        for name, parameter in inspect.signature(write).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    suffix = Path(path).suffix.lower()
    for name in options:
        if not known:
            raise InvalidValueError(
                f"{suffix} files take no options; '{name}' was given. Leave it out."
            )
        if name not in known:
            raise UnknownNameError(f"option of {suffix} files", name, known)
    write(clip, path, **options)


def load(path: str | Path) -> Any:  # noqa: ANN401  what the format holds
    """Reads a file in the format that its suffix names: a clip (.npz), a motion or tracks."""
    return _function(IMPORTERS, path, "file suffix to read")(path)


def _function(table: Mapping[str, str], path: str | Path, kind: str) -> Callable[..., Any]:
    suffix = Path(path).suffix.lower()
    if suffix not in table:
        raise UnknownNameError(kind, suffix, table)
    module, _, name = table[suffix].partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
