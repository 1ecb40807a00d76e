"""Files and folders to be read: that they are there, and are what they should be."""

from __future__ import annotations

from pathlib import Path

from handwright.errors import FileFormatError


def check_file(path: Path, kind: str) -> None:
    """Raises an error that says what a path is instead of a file.

    Args:
        path: What was given.
        kind: What was expected, such as ``a clip file (.npz)``.
    """
    if path.is_file():
        return
    if not path.exists():
        raise FileFormatError(f"{path}: there is no such file; expected {kind}.")
    if not path.is_dir():
        raise FileFormatError(f"{path}: is a pipe or a device, not a file; expected {kind}.")
    inside = sorted(path.glob("*.npz"))
    hint = (
        f"Give one of the {len(inside)} in it, such as {inside[0]}." if inside else "Name a file."
    )
    raise FileFormatError(f"{path}: is a folder; expected {kind}. {hint}")


def check_folder(path: str | Path, kind: str) -> None:
    """Raises an error that says what a path is instead of a folder.

    Args:
        path: What was given.
        kind: What was expected, such as ``a folder of recordings (.npz)``.
    """
    path = Path(path)
    if path.is_dir():
        return
    if path.exists():
        raise FileFormatError(
            f"{path}: is a file; expected {kind}. Give the folder that it is in, '{path.parent}'."
        )
    raise FileFormatError(f"{path}: there is no such folder; expected {kind}.")
