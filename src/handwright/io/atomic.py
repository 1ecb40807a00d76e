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
    path = Path(path)
    if not path.parent.is_dir():
        raise InvalidValueError(f"{path}: there is no folder '{path.parent}'; make it first.")
    if path.is_dir():
        raise InvalidValueError(f"{path}: is a folder; expected the name of a file to write.")
    try:
        handle, temporary = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part"
        )
    except OSError as error:
        raise InvalidValueError(f"{path}: cannot be written ({error.strerror}).") from error
    try:
        # A temporary file is private; the finished one gets the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
