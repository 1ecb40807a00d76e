"""What a download may be asked for."""

from __future__ import annotations

from typing import NamedTuple

from handwright.studio.server.request_errors import TroubleError

MEDIA = {
    "glb": "model/gltf-binary",
    "bvh": "text/plain",
    "usd": "application/octet-stream",
    "npz": "application/zip",
    "csv": "text/csv",
    "mp4": "video/mp4",
    "gif": "image/gif",
    "png": "image/png",
}
"""Formats, and what browsers call them."""
TAKES = {
    "glb": ("fps", "skeleton", "environment", "contacts", "forces"),
    "bvh": ("fps", "skeleton"),
    "usd": ("fps", "skeleton"),
    "npz": ("fps",),
    "csv": ("fps",),
    "mp4": ("fps", "contacts", "forces"),
    "gif": ("fps", "contacts", "forces"),
    "png": ("contacts", "forces"),
}
"""Options of each format."""


class ExportOptions(NamedTuple):
    """A format and its options."""

    format: str
    fps: float | None = None
    """Frames a second; the clip's own, or 30 for films, if None."""
    skeleton: str | None = None
    """Whose joint names; our own if None."""
    environment: bool = True
    contacts: bool = True
    forces: bool = True

    def check(self) -> None:
        """Refuses options that the format does not take."""
        plain = ExportOptions(self.format)
        for name in ("fps", "skeleton", "environment", "contacts", "forces"):
            value = getattr(self, name)
            if value != getattr(plain, name) and name not in TAKES[self.format]:
                known = ", ".join(TAKES[self.format])
                raise TroubleError(
                    422, f".{self.format} files do not take {name}={value}; they take {known}."
                )
