"""The two chunks of a .glb file, and careful access to what they hold."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from handwright.core.read_limits import check_limit
from handwright.errors import FileFormatError
from handwright.io.gltf.buffers import BIN_CHUNK, FLOAT, JSON_CHUNK, MAGIC, TYPES
from handwright.io.strict_json import parse_json

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class GlbParts:
    """A .glb file taken apart; every access that finds something else is a clear error."""

    path: Path
    document: dict[str, Any]
    data: bytes

    def error(self, text: str) -> FileFormatError:
        """An error that names the file."""
        return FileFormatError(f"{self.path}: {text}")

    def table(self, holder: dict[str, Any], key: str, kind: type[Item], where: str) -> Item:
        """The entry of an object, which must be there and of a type."""
        value = holder.get(key)
        # True is an int to Python, but not to a reader of the file.
        if not isinstance(value, kind) or isinstance(value, bool):
            found = "missing" if value is None else f"a {type(value).__name__}"
            raise self.error(f"{where}/{key} is {found}; expected a {kind.__name__}.")
        return value

    def optional(
        self, holder: dict[str, Any], key: str, kind: type[Item], default: Item, where: str
    ) -> Item:
        """The entry of an object, or the default if there is none."""
        return self.table(holder, key, kind, where) if key in holder else default

    def rows(self, key: str) -> list[dict[str, Any]]:
        """One of the tables of the file, such as ``nodes``; empty if there is none."""
        rows = self.optional(self.document, key, list, [], "the document")
        if not all(isinstance(row, dict) for row in rows):
            raise self.error(f"{key} holds something other than objects.")
        return rows

    def index(self, holder: Any, key: str | int, count: int, where: str) -> int:  # noqa: ANN401
        """An entry that points into a table of so many rows."""
        value = holder.get(key) if isinstance(holder, dict) else holder[key]
        if type(value) is not int or not 0 <= value < count:
            raise self.error(f"{where}/{key} is {str(value)[:40]}; expected 0 to {count - 1}.")
        return value

    def texts(self, holder: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
        """An entry that is a list of texts."""
        texts = self.table(holder, key, list, where)
        if not all(isinstance(text, str) for text in texts):
            raise self.error(f"{where}/{key} holds something other than text.")
        return tuple(texts)

    def numbers(
        self,
        rows: list[Any],
        dtype: type[np.float64] | type[np.int64],
        shape: tuple[int, ...],
        where: str,
    ) -> np.ndarray:
        """Nested lists of finite numbers as an array of a known shape."""
        kinds = "if" if dtype is np.float64 else "i"
        try:
            array = np.array(rows) if rows else np.zeros(0, dtype)
        except (ValueError, OverflowError) as error:
            raise self.error(f"{where} is no table of numbers ({error}).") from error
        if array.dtype.kind not in kinds or array.size != np.prod(shape, dtype=np.int64):
            raise self.error(f"{where} has shape {array.shape}; expected {shape} of numbers.")
        if array.size and array.shape != shape:
            raise self.error(f"{where} has shape {array.shape}; expected {shape}.")
        if not np.isfinite(array).all():
            raise self.error(f"{where} holds numbers that are too large.")
        return array.astype(dtype).reshape(shape)

    def floats(self, accessor: int, kind: str, where: str) -> np.ndarray:
        """The numbers of an accessor in double precision; (count,) or (count, width)."""
        accessors, views = self.rows("accessors"), self.rows("bufferViews")
        if not 0 <= accessor < len(accessors):
            raise self.error(f"{where}: there is no accessor {accessor}.")
        entry = accessors[accessor]
        place = f"accessors/{accessor}"
        if entry.get("componentType") != FLOAT or entry.get("type") != kind or "sparse" in entry:
            raise self.error(f"{place} does not hold plain floats of type {kind}.")
        view = views[self.index(entry, "bufferView", len(views), place)]
        count, width = self.table(entry, "count", int, place), TYPES[kind]
        start = self.optional(view, "byteOffset", int, 0, place)
        start += self.optional(entry, "byteOffset", int, 0, place)
        end = start + 4 * count * width
        if count < 1 or start < 0 or end > len(self.data) or "byteStride" in view:
            raise self.error(f"{place} points to bytes {start} to {end} of {len(self.data)}.")
        values = np.frombuffer(self.data[start:end], dtype="<f4").astype(np.float64)
        if not np.isfinite(values).all():
            raise self.error(f"{place}, used by {where}, holds NaN or infinity.")
        return values if width == 1 else values.reshape(count, width)


def read_parts(path: str | Path) -> GlbParts:
    """Takes a .glb file apart.

    Args:
        path: The file, of glTF version 2.
    """
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(f"{path}: there is no such file.")
    size = path.stat().st_size
    check_limit(path, "file_bytes", size)
    content = path.read_bytes()
    if len(content) < 20 or struct.unpack_from("<I", content)[0] != MAGIC:
        raise FileFormatError(f"{path}: is no .glb file.")
    version, length = struct.unpack_from("<II", content, 4)
    if version != 2:
        raise FileFormatError(f"{path}: is of glTF version {version}; expected 2.")
    if length != len(content):
        raise FileFormatError(
            f"{path}: has {len(content)} bytes but says {length}; it is truncated or damaged. "
            "Get a fresh copy."
        )
    text = _chunk(path, content, 12, JSON_CHUNK)
    after = 20 + len(text)
    data = _chunk(path, content, after, BIN_CHUNK) if after < len(content) else b""
    try:
        document = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{path}: its JSON chunk is not valid ({error}).") from error
    if not isinstance(document, dict):
        raise FileFormatError(f"{path}: its JSON chunk is no object.")
    return GlbParts(path, document, data)


def _chunk(path: Path, content: bytes, start: int, kind: int) -> bytes:
    if start + 8 > len(content):
        raise FileFormatError(f"{path}: ends inside the header of a chunk.")
    length, found = struct.unpack_from("<II", content, start)
    if found != kind or start + 8 + length > len(content):
        raise FileFormatError(f"{path}: the chunk at byte {start} is damaged.")
    return content[start + 8 : start + 8 + length]
