"""A .npz file, whoever wrote it: our own clips, and recordings of the ManipNet data set."""

from __future__ import annotations

from pathlib import Path

from handwright.core.clip import Clip
from handwright.io.clip.file import load_clip


def load_npz(path: str | Path) -> Clip:
    """Reads a clip file, or a whole recording at 60 Hz; which it is, its list of contents tells.

    Args:
        path: The .npz file.
    """
    from handwright.io.manipnet.dataset import is_recording, read_recording

    if is_recording(path):
        return read_recording(path).clip()
    return load_clip(path)
