"""Folders of the user that the package writes to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from handwright.errors import InvalidValueError


def cache_dir() -> Path:
    r"""Folder of the cache: ``$HANDWRIGHT_CACHE``, or the usual one of the platform.

    That is ``$XDG_CACHE_HOME/handwright`` or ``~/.cache/handwright`` on Linux,
    ``~/Library/Caches/handwright`` on macOS and ``%LOCALAPPDATA%\handwright`` on Windows. It is
    not created here.
    """
    chosen = os.environ.get("HANDWRIGHT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else _home() / "AppData" / "Local") / "handwright"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "handwright"
    xdg = os.environ.get("XDG_CACHE_HOME")
    # The XDG rules say that a relative path is to be ignored.
    if xdg and Path(xdg).is_absolute():
        return Path(xdg) / "handwright"
    return _home() / ".cache" / "handwright"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError as error:
        raise InvalidValueError(
            "There is no home folder to put the cache in. Set HANDWRIGHT_CACHE to a folder."
        ) from error
