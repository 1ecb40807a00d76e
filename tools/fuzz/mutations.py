"""Ways to damage a file: blindly, or knowing what it is made of."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Mutation = Callable[[np.random.Generator, bytes], bytes]

_VALUES: list[Any] = [
    None, True, -1, 0, 1, 3, 1e9, 1e-9, 1e300, 2**70, -0.5, "", "x", "\x1b[2J", "a\nb", [], {},
    [[]], {"kind": "Pose"},
]  # fmt: skip
_WORDS = [
    b"nan", b"inf", b"-inf", b"1e400", b"1e300", b"1e-300", b"-1", b"0", b"1", b"2", b"7",
    b"99999999", b"4294967295", b"-2147483649", b"1e9", b"0.5", b"", b"x", b"0x10", b"1_0",
    b"\x00", b"3" * 400,
]  # fmt: skip
# What leaves a number plausible.
_FACTORS = np.array([0.5, 0.9, 1.1, 2.0, 10.0, 100.0, -1.0, 1e-3])
_FLOATS = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-300, 1e-9, 1e9, 1e150, 1e300, 0.5, 1e-3]
)
_WHOLES = np.array([0, 1, -1, 2, 7, 1000, 2**31 - 1, -(2**31), 2**40, -(2**63), 2**62])
_TOKEN = re.compile(rb"[-+0-9.eE]{1,40}|[A-Za-z_]{2,20}")


def pick(rng: np.random.Generator, options: Any) -> Any:  # noqa: ANN401  any list
    """One of several."""
    return options[int(rng.integers(0, len(options)))]


def flip_bits(rng: np.random.Generator, data: bytes) -> bytes:
    """Turns round a few bits."""
    damaged = bytearray(data)
    for place in rng.integers(0, max(len(data), 1), rng.integers(1, 6)) if data else ():
        damaged[place] ^= 1 << int(rng.integers(0, 8))
    return bytes(damaged)


def truncate(rng: np.random.Generator, data: bytes) -> bytes:
    """Cuts the end off."""
    return data[: int(rng.integers(0, len(data) + 1))]


def overwrite(rng: np.random.Generator, data: bytes) -> bytes:
    """Puts noise over a few bytes."""
    start = int(rng.integers(0, len(data) + 1))
    noise = rng.bytes(int(rng.integers(1, 64)))
    return data[:start] + noise + data[start + len(noise) :]


def insert(rng: np.random.Generator, data: bytes) -> bytes:
    """Puts noise between two bytes, or a piece of the file itself."""
    start, other = (int(rng.integers(0, len(data) + 1)) for _ in range(2))
    length = int(rng.integers(1, 200))
    piece = rng.bytes(length) if rng.random() < 0.5 else data[other : other + length]
    return data[:start] + piece + data[start:]


BLIND: tuple[Mutation, ...] = (flip_bits, truncate, overwrite, insert)


def change_text(rng: np.random.Generator, data: bytes) -> bytes:
    """Other words and numbers; lines dropped, repeated or swapped."""
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.7:
            words = list(_TOKEN.finditer(data))
            if words:
                found = pick(rng, words)
                chance = rng.random()
                if chance < 0.4:
                    other = _nudged(rng, found[0])
                else:
                    other = pick(rng, _WORDS) if chance < 0.8 else pick(rng, words)[0]
                data = data[: found.start()] + other + data[found.end() :]
            continue
        lines = data.split(b"\n")
        first, second = (int(rng.integers(0, len(lines))) for _ in range(2))
        kind = rng.integers(0, 3)
        if kind == 0:
            del lines[first]
        elif kind == 1:
            lines.insert(second, lines[first])
        else:
            lines[first], lines[second] = lines[second], lines[first]
        data = b"\n".join(lines)
    return data


def _nudged(rng: np.random.Generator, word: bytes) -> bytes:
    try:
        return repr(float(word) * float(pick(rng, _FACTORS))).encode()
    except ValueError:
        return word


def change_json(rng: np.random.Generator, document: Any) -> None:  # noqa: ANN401  any JSON
    """Walks to a random place of a document and puts something else there, or takes it away."""
    while document and isinstance(document, dict | list):
        keys = list(document) if isinstance(document, dict) else range(len(document))
        key = pick(rng, keys)
        if isinstance(document[key], dict | list) and document[key] and rng.random() < 0.85:
            document = document[key]
            continue
        if rng.random() < 0.2:
            del document[key]
        else:
            document[key] = pick(rng, _VALUES)
        return


def change_array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Other numbers, an other scale, an other order or an other shape."""
    array = array.copy()
    kind = rng.integers(0, 8)
    if kind == 0 and array.ndim:
        return array[: int(rng.integers(0, len(array) + 1))]
    if kind == 1 and array.ndim:
        return np.concatenate([array, array])
    if kind == 2 and array.ndim:
        return array[rng.permutation(len(array))]
    if array.dtype.kind == "f":
        if kind == 3:
            with np.errstate(all="ignore"):
                return np.asarray(array * pick(rng, _FLOATS))
        if kind > 5:
            flat = array.reshape(-1)
            places = slice(None) if kind == 6 else rng.integers(0, max(flat.size, 1), 3)
            flat[places if flat.size else slice(None)] *= pick(rng, _FACTORS)
            return flat.reshape(array.shape)
        values = _FLOATS
    elif array.dtype.kind == "b":
        return ~array
    elif array.dtype.kind in "iu":
        values = _WHOLES
    else:
        return array
    flat = array.reshape(-1)
    if flat.size:
        places = rng.integers(0, flat.size, rng.integers(1, 4))
        flat[places] = pick(rng, values).astype(flat.dtype)
    return flat.reshape(array.shape)


def pack(members: dict[str, bytes]) -> bytes:
    """An archive of members by name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def change_npz(rng: np.random.Generator, data: bytes) -> bytes:
    """A well-packed archive in which arrays, or values of its document, are replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in members if name.endswith(".npy")]
    for _ in range(int(rng.integers(1, 3))):
        if "clip.json" in members and rng.random() < 0.4:
            document = json.loads(members["clip.json"])
            change_json(rng, document.get("clip") if rng.random() < 0.9 else document)
            members["clip.json"] = json.dumps(document).encode()
            continue
        name = pick(rng, arrays)
        if rng.random() < 0.1:
            members[name] = pick(rng, BLIND)(rng, members[name])
            continue
        try:
            array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        except Exception:
            continue
        buffer = io.BytesIO()
        np.save(buffer, change_array(rng, array), allow_pickle=False)
        members[name] = buffer.getvalue()
    return pack(members)


def change_glb(rng: np.random.Generator, data: bytes) -> bytes:
    """A well-formed container with other values in its document, or other numbers."""
    (length,) = struct.unpack_from("<I", data, 12)
    document, rest = json.loads(data[20 : 20 + length]), data[20 + length :]
    if rng.random() < 0.6:
        change_json(rng, document)
    else:
        rest = rest[:8] + pick(rng, (flip_bits, overwrite))(rng, rest[8:])
    text = json.dumps(document).encode()
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + rest
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks
