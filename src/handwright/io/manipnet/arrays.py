"""Arrays of the ManipNet data set: .npz files whose every size is known before it is read."""

from __future__ import annotations

import math
import sys
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from tokenize import TokenError

import numpy as np

from handwright.errors import FileFormatError
from handwright.io.input_files import check_file

MAX_BYTES = 512 * 1024**2
"""Largest sum of the sizes of a file's arrays."""
MAX_FRAMES = 200_000
"""Longest recording that is read: 28 minutes at 120 Hz."""
_NUMBERS_AND_TEXT = "fiuU"
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    TokenError,
    MemoryError,
)


def array_names(path: str | Path) -> tuple[str, ...]:
    """Names of the arrays of a .npz file, from its list of contents; () if it is no such file."""
    if not Path(path).is_file():
        # A pipe would be waited for.
        return ()
    try:
        with zipfile.ZipFile(path) as archive:
            return tuple(name.removesuffix(".npy") for name in archive.namelist())
    except _UNREADABLE:
        return ()


def load_arrays(path: Path, needed: Sequence[str], *, kind: str) -> dict[str, np.ndarray]:
    """Reads all arrays of a file; numbers as float64 or int64.

    Args:
        path: The .npz file.
        needed: Arrays that must be there.
        kind: What the file should be, for messages, such as ``a ManipNet recording``.
    """
    check_file(path, f"{kind} (.npz)")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(path, archive)
        with np.load(path, allow_pickle=False) as loaded:
            missing = [key for key in needed if key not in loaded.files]
            if missing:
                raise FileFormatError(
                    f"{path}: arrays {', '.join(missing)} are missing; expected {kind}."
                )
            arrays = {key: loaded[key] for key in loaded.files}
    except _UNREADABLE as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path}: not a readable .npz file ({error}).") from error
    for key, value in arrays.items():
        if value.dtype.kind == "f":
            if not np.isfinite(value).all():
                raise FileFormatError(f"{path}: array {key} holds NaN or infinity.")
            arrays[key] = value.astype(np.float64)
        elif value.dtype.kind in "iu":
            arrays[key] = value.astype(np.int64)
        elif not _is_text(value):
            raise FileFormatError(
                f"{path}: array {key} holds numbers that stand for no character; expected text."
            )
    return arrays


def _is_text(array: np.ndarray) -> bool:
    """Whether every character exists: numpy takes any 32 bits for one, and no file may print it."""
    codes = np.frombuffer(array.astype(array.dtype.newbyteorder("=")).tobytes(), dtype=np.uint32)
    return bool((codes <= sys.maxunicode).all())


def _check_sizes(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuses arrays that are pickled, or that say they hold more than they do."""
    total = sum(info.file_size for info in archive.infolist())
    if total > MAX_BYTES:
        raise FileFormatError(
            f"{path}: unpacks to {total // 1024**2} MB; expected at most {MAX_BYTES // 1024**2}."
        )
    for info in archive.infolist():
        with archive.open(info) as file:
            version = np.lib.format.read_magic(file)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version)
            if read is None:
                raise FileFormatError(f"{path}: {info.filename} is of an unknown .npy version.")
            shape, _, dtype = read(file, max_header_size=10_000)
            if dtype.kind not in _NUMBERS_AND_TEXT:
                raise FileFormatError(
                    f"{path}: {info.filename} holds {dtype}; expected numbers or text."
                )
            if math.prod(shape) * dtype.itemsize + file.tell() != info.file_size:
                raise FileFormatError(
                    f"{path}: {info.filename} says it has shape {shape} of {dtype}, "
                    "but holds another number of bytes. Get a fresh copy."
                )


def check_shape(
    path: Path, arrays: dict[str, np.ndarray], key: str, shape: tuple[int | None, ...]
) -> np.ndarray:
    """An array of numbers that must have a shape; None stands for any size.

    Args:
        path: For messages.
        arrays: From ``load_arrays``.
        key: Which of them.
        shape: What is expected.
    """
    array = arrays[key]
    fits = array.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits or array.dtype.kind not in "fi":
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise FileFormatError(
            f"{path}: array {key} has shape {array.shape} of {array.dtype}; "
            f"expected numbers of shape ({wanted})."
        )
    return array


def unit_quaternions(path: Path, key: str, wxyz: np.ndarray) -> np.ndarray:
    """Quaternions made exactly unit; refused where they are not nearly so."""
    length = np.linalg.norm(wxyz, axis=-1, keepdims=True)
    if np.any(np.abs(length - 1.0) > 1e-2):
        raise FileFormatError(
            f"{path}: array {key} has a quaternion of length "
            f"{float(length.flat[np.abs(length - 1.0).argmax()]):.3g}; expected 1."
        )
    return np.asarray(wxyz / length)
