"""Zip archives of .npy arrays with one JSON document: what ``numpy.load`` reads, with guards.

Before any array is read, its size, type and shape are known from the headers alone, so that a
file cannot make the reader allocate what it does not hold. Only plain numbers are accepted:
pickled objects, which could run code, never reach numpy.
"""

from __future__ import annotations

import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from handwright.errors import FileFormatError
from handwright.io.atomic import written_whole
from handwright.io.input_files import check_file
from handwright.io.strict_json import parse_json
from handwright.read_limits import check_limit, over_limit

MAX_DOCUMENT_BYTES = 16 * 1024**2
_MAX_MEMBERS = 20_000
_MAX_HEADER = 1024
_MAGIC = b"\x93NUMPY"
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[a-zA-Z]\d*)', 'fortran_order': (True|False), "
    rb"'shape': \(([0-9, ]{0,200})\), \} *\n"
)
_ARRAY_TYPES = {"<f8", "<f4", "<i8", "<i4", "|b1"}
# One moment for all members, so that the same content gives the same bytes.
_ZIP = b"PK"
"""How files of this kind begin."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    # zipfile raises these for encrypted members and unknown ways of packing.
    NotImplementedError,
    RuntimeError,
)


class Kind(NamedTuple):
    """What archives with a certain document are called."""

    noun: str
    writer: str
    """Who writes them."""


KINDS = {
    "clip.json": Kind("clip file", "handwright"),
    "motion.json": Kind("taught motion", "'handwright data make'"),
}
"""By the names of their documents."""


@dataclass(frozen=True, slots=True)
class ArrayHeader:
    """What an array of the archive is said to be."""

    dtype: str
    """numpy's name, such as ``<f8``."""
    shape: tuple[int, ...]
    is_fortran: bool
    start: int
    """Bytes before the first number."""


def header_of(array: np.ndarray) -> ArrayHeader:
    """The header that an array would have in a file."""
    return ArrayHeader(array.dtype.str, array.shape, False, 0)


def type_problem(dtype: str) -> str | None:
    """Why a type of number is not accepted in a file, or None if it is."""
    if dtype in _ARRAY_TYPES:
        return None
    if dtype in ("|O", "O"):
        return "holds pickled Python objects, which could run code; expected plain numbers"
    return f"has type '{dtype}'; expected one of {', '.join(sorted(_ARRAY_TYPES))}"


def write_archive(
    path: str | Path, document_name: str, document: object, arrays: Mapping[str, np.ndarray]
) -> None:
    """Writes an archive, whole or not at all; the same content gives the same bytes.

    Args:
        path: Where to write.
        document_name: Member that holds the JSON text.
        document: What it holds.
        arrays: By member name, without ``.npy``.
    """
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1)
    with written_whole(path) as file, zipfile.ZipFile(file, "w") as archive:
        _add(archive, document_name, text.encode("utf-8"))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            _add(archive, f"{name}.npy", buffer.getvalue())


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, data, compresslevel=6)


class Archive:
    """An open archive whose members have been checked from their headers; see ``open_archive``."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, document_name: str) -> None:
        self._path = path
        self._archive = archive
        self._members = {info.filename: info for info in archive.infolist()}
        self._check_members(document_name)
        self.document = self._read_document(document_name)

    def _check_members(self, document_name: str) -> None:
        infos = self._archive.infolist()
        if len(infos) > _MAX_MEMBERS:
            raise self._error(f"holds {len(infos)} members; expected at most {_MAX_MEMBERS}.")
        total = sum(info.file_size for info in infos)
        if over := over_limit("file_bytes", total):
            raise self._error(f"unpacks to {over}. Cut the clip into shorter ones.")
        if len(self._members) != len(infos):
            raise self._error("holds two members of the same name.")
        if document_name not in self._members:
            raise self._error(self._other_kind(KINDS[document_name], document_name))
        for info in infos:
            if info.flag_bits & 0x1:
                raise self._error(f"member '{info.filename}' is encrypted.")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self._error(f"member '{info.filename}' is packed in an unknown way.")
            if info.filename != document_name and not info.filename.endswith(".npy"):
                raise self._error(f"member '{info.filename}' does not belong into it.")
        if self._members[document_name].file_size > MAX_DOCUMENT_BYTES:
            raise self._error(
                f"member '{document_name}' is larger than {MAX_DOCUMENT_BYTES // 1024**2} MB."
            )

    def _other_kind(self, wanted: Kind, document_name: str) -> str:
        """What the archive is instead of what was expected."""
        others = [kind for document, kind in KINDS.items() if document in self._members]
        if others:
            found = f"is a {others[0].noun}, but no {wanted.noun}"
        else:
            holds = (
                f"only {', '.join(list(self._members)[:3])}" if self._members else "nothing at all"
            )
            found = f"is a .npz file, but no {wanted.noun}: it holds {holds}, no '{document_name}'"
        return f"{found}. Give one that {wanted.writer} wrote."

    def _read_document(self, name: str) -> Any:  # noqa: ANN401  whatever JSON holds
        text = self._archive.read(self._members[name])
        try:
            return parse_json(text)
        except (ValueError, RecursionError) as error:
            raise self._error(f"member '{name}' is not valid JSON ({error}).") from error

    def _error(self, text: str) -> FileFormatError:
        return FileFormatError(f"{self._path}: {text}")

    def headers(self, document_name: str) -> tuple[dict[str, ArrayHeader], list[str]]:
        """Headers of all arrays by name, and what is wrong with those left out."""
        headers, problems = {}, []
        for filename, info in self._members.items():
            if filename == document_name:
                continue
            name = filename.removesuffix(".npy")
            with self._archive.open(info) as file:
                found = _parse_header(file.read(_MAX_HEADER), info.file_size)
            if isinstance(found, str):
                problems.append(f"{name} {found}")
            else:
                headers[name] = found
        return headers, problems

    def array(self, name: str, header: ArrayHeader) -> np.ndarray:
        """The numbers of one array, read-only."""
        data = self._archive.read(self._members[f"{name}.npy"])
        array = np.frombuffer(data, dtype=header.dtype, offset=header.start)
        return array.reshape(header.shape, order="F" if header.is_fortran else "C")


def _parse_header(data: bytes, size: int) -> ArrayHeader | str:
    """The header of a .npy member of so many bytes, or what is wrong with it."""
    if data[:6] != _MAGIC or len(data) < 12 or data[6] not in (1, 2, 3):
        return "is not a .npy array"
    wide = data[6] > 1
    start = 12 if wide else 10
    end = start + int.from_bytes(data[8:start], "little")
    if b"'descr': '|O'" in data[:end]:
        return str(type_problem("|O"))
    match = _HEADER.fullmatch(data[start:end])
    if end > len(data) or match is None:
        return "has a damaged header, or one that does not describe plain numbers"
    dtype = match[1].decode("ascii")
    problem = type_problem(dtype)
    if problem is not None:
        return problem
    try:
        shape = tuple(int(part) for part in match[3].split(b",") if part.strip())
    except ValueError:
        return "has a damaged shape in its header"
    if len(shape) > 8 or math.prod(shape) * np.dtype(dtype).itemsize + end != size:
        return f"says it has shape {shape} of '{dtype}', but holds {size - end} bytes"
    return ArrayHeader(dtype, shape, match[2] == b"True", end)


@contextmanager
def open_archive(path: str | Path, document_name: str) -> Iterator[Archive]:
    """Opens an archive; whatever is wrong with it is a ``FileFormatError`` that names it.

    Args:
        path: The file.
        document_name: One of ``KINDS``.
    """
    path = Path(path)
    kind = KINDS[document_name]
    check_file(path, f"a {kind.noun} (.npz)")
    check_limit(path, "file_bytes", path.stat().st_size)
    try:
        with zipfile.ZipFile(path) as archive:
            yield Archive(path, archive, document_name)
    except FileFormatError:
        raise
    except _UNREADABLE as error:
        why = f"{error or type(error).__name__}"
        raise FileFormatError(f"{path}: {_why_unreadable(path, why, kind)}") from error


def _why_unreadable(path: Path, why: str, kind: Kind) -> str:
    """What is wrong with a file that is no archive, in a sentence or two."""
    if path.stat().st_size == 0:
        return f"is an empty file; expected a {kind.noun} (.npz). Get a fresh copy."
    # Somebody who gives a .glb file has no damaged copy, but the wrong file.
    if path.suffix.lower() != ".npz" and not zipfile.is_zipfile(path):
        return f"is no {kind.noun}; expected one that {kind.writer} wrote as .npz."
    with path.open("rb") as file:
        start = file.read(512)
    if not start.startswith(_ZIP) and start.isascii() and b"\0" not in start:
        return f"is a text file; expected a {kind.noun} that {kind.writer} wrote as .npz."
    return f"is truncated, damaged or no .npz file ({why}). Get a fresh copy."
