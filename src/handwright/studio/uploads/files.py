"""Where uploaded files are: ``uploads/<identifier>/<name>`` in what the studio keeps."""

from __future__ import annotations

import re
from pathlib import Path

from handwright.errors import InvalidValueError
from handwright.studio.library.folder import content_digest
from handwright.studio.server.request_errors import TroubleError

MAX_BYTES = 64 * 1024**2
"""Largest upload."""
MESHES = (".obj", ".stl", ".ply", ".off", ".glb")
TRACKS = (".bvh", ".csv", ".glb")
SUFFIXES = (".obj", ".stl", ".ply", ".off", ".glb", ".npz", ".bvh", ".csv", ".yaml", ".yml")
_ID = re.compile(r"[0-9a-f]{16}")


def safe_name(name: str) -> str:
    """The last part of a path, with nothing in it that a file system takes amiss."""
    last = re.split(r"[\\/]", name)[-1]
    stem, dot, suffix = last.rpartition(".")
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_")[:60]
    if not dot or f".{suffix.lower()}" not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise TroubleError(415, f"'{last[:80]}' is of another kind; expected one of {known}.")
    return f"{stem or 'upload'}.{suffix.lower()}"


def upload_id(name: str, path: Path) -> str:
    """What an upload is called: the same for the same file under the same name."""
    return content_digest(path, f"{name}\0")[:16]


def upload_path(hidden: Path, name: str) -> Path:
    """The file of an upload."""
    folder = hidden / "uploads" / name
    files = sorted(folder.glob("[!.]*")) if _ID.fullmatch(name) else []
    if not files:
        raise InvalidValueError(f"There is no upload '{name[:80]}'. Upload the file again.")
    return files[0]


def mesh_upload(hidden: Path, name: str) -> Path:
    """The file of an uploaded mesh."""
    path = upload_path(hidden, name)
    if path.suffix not in MESHES:
        raise InvalidValueError(
            f"The upload '{path.name}' is no mesh; expected one of {', '.join(MESHES)}."
        )
    return path
