"""Arrays kept on disk between runs: distance fields, skins and other slow results.

One file per key. A file is written under a temporary name and renamed, so that a reader sees
either nothing or the whole; it carries its key and a checksum, so that a damaged or foreign file
is noticed and built again. Where the system has advisory locks, a second process that asks for
the same key waits for the first instead of building too.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from handwright.errors import InvalidValueError
from handwright.folders import cache_dir

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind; the rename is enough there.
    fcntl = None  # type: ignore[assignment]

_logger = logging.getLogger(__name__)
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_CHECKSUM = "__checksum__"
_KEY_ENTRY = "__key__"


class _DamagedFileError(Exception):
    """A cache file that is there but does not hold what its name says."""


def load_or_build(key: str, build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Returns the arrays kept under a key, building and keeping them if they are not there.

    A damaged file is reported with a warning and replaced. A folder that cannot be written is
    reported with a warning too, and the built arrays are returned all the same.

    Args:
        key: Letters, digits, dots, dashes and underscores. It must name everything the result
            depends on: a hash of the input, the parameters and a version of the format.
        build: Makes the arrays; called at most once, with no arguments.

    Returns:
        Arrays by name, in C order, with the dtypes and shapes that ``build`` gave.
    """
    if not _KEY.fullmatch(key):
        raise InvalidValueError(
            f"Cache key '{key}' cannot be a file name; expected at most 200 letters, digits, "
            "dots, dashes and underscores, the first a letter or digit."
        )
    folder = cache_dir()
    path = folder / f"{key}.npz"
    # What is wrong with an unreadable file is said later, under the lock: by then another process
    # may have mended it.
    with contextlib.suppress(_DamagedFileError, FileNotFoundError, OSError):
        return _read(path, key)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _logger.warning("Cache folder '%s' cannot be made (%s); not caching.", folder, error)
        return _built(build)
    with _locked(folder / f"{key}.lock"):
        try:
            return _read(path, key)
        except FileNotFoundError:
            pass
        except (_DamagedFileError, OSError) as error:
            _logger.warning("Cache file '%s' is damaged (%s); building it again.", path, error)
        arrays = _built(build)
        try:
            _write(path, key, arrays)
        except OSError as error:
            _logger.warning("Cache file '%s' cannot be written (%s).", path, error)
    return arrays


def _built(build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    arrays = {name: np.asarray(array, order="C") for name, array in build().items()}
    for name, array in arrays.items():
        if name in (_CHECKSUM, _KEY_ENTRY) or array.dtype.hasobject:
            raise InvalidValueError(
                f"Array '{name}' of dtype {array.dtype} cannot be cached; expected numbers, "
                f"booleans or text under a name other than '{_CHECKSUM}' and '{_KEY_ENTRY}'."
            )
    return arrays


def _checksum(key: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(key.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        if array.size:
            digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _read(path: Path, key: str) -> dict[str, np.ndarray]:
    """Reads and checks a file; FileNotFoundError if there is none."""
    # Opened here so that a missing file is told apart from a damaged one.
    with path.open("rb") as stream:
        try:
            archive = np.load(stream, allow_pickle=False)
            # A file of one array is read as such; only an archive has names.
            arrays = dict(archive) if isinstance(archive, Mapping) else {}
        except Exception as error:
            # Damaged bytes can claim anything: to be huge, encrypted, or a header that is no
            # Python, and each has an error of its own. All mean that the file is built again.
            raise _DamagedFileError(str(error) or type(error).__name__) from error
    kept_key, checksum = arrays.pop(_KEY_ENTRY, None), arrays.pop(_CHECKSUM, None)
    if kept_key is None or checksum is None:
        raise _DamagedFileError("it was not written by this program")
    if str(kept_key) != key:
        raise _DamagedFileError(f"it belongs to the key '{kept_key}'")
    if str(checksum) != _checksum(key, arrays):
        raise _DamagedFileError("its checksum does not match its content")
    return arrays


def _write(path: Path, key: str, arrays: dict[str, np.ndarray]) -> None:
    stamped = {
        **arrays,
        _KEY_ENTRY: np.array(key),
        _CHECKSUM: np.array(_checksum(key, arrays)),
    }
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, allow_pickle=False, **stamped)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Holds an advisory lock on a file while the block runs, where the system can."""
    if fcntl is None:
        yield
        return
    try:
        stream = path.open("ab")
    except OSError as error:
        _logger.warning("Cache lock '%s' cannot be made (%s); going on without.", path, error)
        yield
        return
    # The lock goes with the file handle, also when the process dies; the empty file stays,
    # since removing it would let two processes lock two different files of the same name.
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError as error:
            _logger.warning("Cache lock '%s' does not work (%s); going on without.", path, error)
        yield
