"""Damaged files give clean errors: thousands of mutations, the same in every run."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from handwright.core.clip import Clip
from handwright.errors import HandwrightError
from handwright.io import formats
from tools.fuzz.mutations import pack

Mutation = Callable[[np.random.Generator, bytes], bytes]

PALETTE = [None, True, -1, 0, 3, 1e9, 2**70, -0.5, "", "x", [], {}, [[]], {"kind": "Pose"}]


def flip_bits(rng: np.random.Generator, data: bytes) -> bytes:
    damaged = bytearray(data)
    for place in rng.integers(0, len(data), rng.integers(1, 6)):
        damaged[place] ^= 1 << int(rng.integers(0, 8))
    return bytes(damaged)


def truncate(rng: np.random.Generator, data: bytes) -> bytes:
    return data[: int(rng.integers(0, len(data)))]


def overwrite(rng: np.random.Generator, data: bytes) -> bytes:
    start = int(rng.integers(0, len(data)))
    noise = rng.bytes(int(rng.integers(1, 64)))
    return data[:start] + noise + data[start + len(noise) :]


def insert(rng: np.random.Generator, data: bytes) -> bytes:
    start = int(rng.integers(0, len(data)))
    return data[:start] + rng.bytes(int(rng.integers(1, 64))) + data[start:]


def noise(rng: np.random.Generator, data: bytes) -> bytes:
    return data[: int(rng.integers(0, 32))] + rng.bytes(int(rng.integers(0, 300)))


BLIND: list[Mutation] = [flip_bits, truncate, overwrite, insert, noise]


def change_json(rng: np.random.Generator, document: Any) -> None:
    """Walks to a random place of a document and puts something else there, or takes it away."""
    while True:
        keys = list(document) if isinstance(document, dict) else range(len(document))
        key = keys[int(rng.integers(0, len(keys)))]
        if isinstance(document[key], dict | list) and document[key] and rng.random() < 0.85:
            document = document[key]
            continue
        if rng.random() < 0.2:
            del document[key]
        else:
            document[key] = PALETTE[int(rng.integers(0, len(PALETTE)))]
        return


def change_npz(rng: np.random.Generator, data: bytes) -> bytes:
    """A well-packed archive with one array or one value of the document replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if rng.random() < 0.5:
        document = json.loads(members["clip.json"])
        change_json(rng, document)
        members["clip.json"] = json.dumps(document).encode()
    else:
        names = [name for name in members if name.endswith(".npy")]
        name = names[int(rng.integers(0, len(names)))]
        members[name] = BLIND[int(rng.integers(0, 4))](rng, members[name])
    return pack(members)


def change_glb(rng: np.random.Generator, data: bytes) -> bytes:
    """A well-formed container with one value of the document replaced."""
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    change_json(rng, document)
    text = json.dumps(document).encode()
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + data[20 + length :]
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


def change_csv(rng: np.random.Generator, data: bytes) -> bytes:
    lines = [line.split(b",") for line in data.split(b"\n")]
    line = lines[int(rng.integers(0, len(lines)))]
    cells = [b"", b"nan", b"1e400", b"-", b'"', b"#", b"\x00", b"0x10", b"1_0", b"inf", b"7" * 400]
    line[int(rng.integers(0, len(line)))] = cells[int(rng.integers(0, len(cells)))]
    return b"\n".join(b",".join(line) for line in lines)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("suffix", "knowing", "count"),
    [(".npz", change_npz, 800), (".glb", change_glb, 700), (".csv", change_csv, 500)],
)
def test_damaged_files_give_clean_errors(
    tiny_clip: Clip, tmp_path: Path, suffix: str, knowing: Mutation, count: int, user_view: None
) -> None:
    path = tmp_path / f"clip{suffix}"
    formats.export(tiny_clip, path)
    data = path.read_bytes()
    rng = np.random.default_rng(20_000 + count)
    messages = []
    for number in range(count):
        mutation = knowing if number % 2 else BLIND[number // 2 % len(BLIND)]
        path.write_bytes(mutation(rng, data))
        try:
            formats.load(path)
        except HandwrightError as error:
            messages.append(str(error))
    # Some damage is harmless, or makes another valid file.
    assert len(messages) > 0.4 * count
    assert [text for text in messages if path.name not in text] == []
