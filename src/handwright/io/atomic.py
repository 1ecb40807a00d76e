"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from handwright.errors import InvalidValueError


@contextlib.contextmanager
def written_whole(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the name ``path`` only when all has been written.

    Args:
        path: Where the file shall be; what is there already is replaced at the end, or left alone
            if anything fails.
    """
    with whole_path(path) as temporary, temporary.open("wb") as file:
        yield file


@contextlib.contextmanager
def whole_path(path: str | Path) -> Iterator[Path]:
    """The name of an empty file to write to, which takes the name ``path`` at the end.

    It is for other programs, which want a name; for what is written here use ``written_whole``.

    Args:
        path: Where the file shall be; what is there already is replaced at the end, or left alone
            if anything fails. The name that is given has the same suffix.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InvalidValueError(f"{path}: there is no folder '{path.parent}'; make it first.")
    if path.is_dir():
        raise InvalidValueError(f"{path}: is a folder; expected the name of a file to write.")
    try:
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:100]}.", suffix=f".part{path.suffix}"
        )
    except OSError as error:
        raise InvalidValueError(f"{path}: cannot be written ({error.strerror}).") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        # A temporary file is private; the finished one gets the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, name):
            # A disk that is full tells neither the file nor, if it does, the name it will have.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
