"""The cache of arrays: atomic, checked, and never in the way."""

from __future__ import annotations

import logging
import multiprocessing
import runpy
import sys
import threading

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.geometry import cache_dir, load_or_build

ARRAYS = {
    "values": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "scalar": np.array(0.25),
    "none": np.zeros((0, 3)),
    "names": np.array(["thumb", "index"]),
    "flags": np.array([True, False]),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Builder:
    def __init__(self, arrays=ARRAYS):
        self.arrays = arrays
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return dict(self.arrays)


def assert_equal(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].dtype == b[name].dtype
        assert a[name].shape == b[name].shape
        assert np.array_equal(a[name], b[name])


def test_builds_once_and_gives_back_the_same(folder):
    build = Builder()
    first = load_or_build("thing-1", build)
    second = load_or_build("thing-1", build)
    assert build.calls == 1
    assert_equal(first, ARRAYS)
    assert_equal(second, ARRAYS)
    assert (folder / "thing-1.npz").is_file()
    assert not list(folder.glob(".*.tmp"))
    load_or_build("thing-2", build)
    assert build.calls == 2


def _truncate(path):
    path.write_bytes(path.read_bytes()[:-200])


def _empty(path):
    path.write_bytes(b"")


def _flip_a_bit(path):
    content = bytearray(path.read_bytes())
    position = content.index(ARRAYS["values"].tobytes()) + 40
    content[position] ^= 1
    path.write_bytes(bytes(content))


def _other_program(path):
    np.savez(path, values=np.zeros(3))


def _plain_array(path):
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))


def _pickle(path):
    np.savez(path, values=np.array([{}], dtype=object), allow_pickle=True)


def _other_key(path):
    load_or_build("another", Builder({"values": np.ones(3)}))
    path.write_bytes(path.with_name("another.npz").read_bytes())


def _forged_content(path):
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays["values"] = arrays["values"] + 1
    np.savez(path, **arrays)


DAMAGES = [
    _truncate,
    _empty,
    _flip_a_bit,
    _other_program,
    _plain_array,
    _pickle,
    _other_key,
    _forged_content,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_reported_and_mended(damage, folder, caplog):
    build = Builder()
    load_or_build("thing", build)
    damage(folder / "thing.npz")
    with caplog.at_level(logging.WARNING):
        assert_equal(load_or_build("thing", build), ARRAYS)
    assert build.calls == 2
    assert caplog.text.count("is damaged") == 1
    assert_equal(load_or_build("thing", build), ARRAYS)
    assert build.calls == 2


@pytest.mark.parametrize("bits", [0x01, 0x08, 0x80, 0xFF])
def test_no_flipped_byte_anywhere_gets_through(bits, folder):
    arrays = {"values": np.arange(3, dtype=np.float32)}
    load_or_build("thing", Builder(arrays))
    path = folder / "thing.npz"
    whole = path.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= bits
        path.write_bytes(bytes(damaged))
        assert_equal(load_or_build("thing", Builder(arrays)), arrays)


def test_a_folder_that_cannot_be_made_is_no_obstacle(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HANDWRIGHT_CACHE", str(tmp_path / "file" / "cache"))
    build = Builder()
    assert_equal(load_or_build("thing", build), ARRAYS)
    assert build.calls == 1
    assert "not caching" in caplog.text


def test_a_file_that_cannot_be_written_is_no_obstacle(monkeypatch, folder, caplog):
    def refuse(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", refuse)
    assert_equal(load_or_build("thing", Builder()), ARRAYS)
    assert "cannot be written" in caplog.text
    assert not list(folder.glob("*.npz"))
    assert not list(folder.glob(".*.tmp"))


def test_a_failing_build_leaves_nothing(folder):
    def fail():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        load_or_build("thing", fail)
    assert not list(folder.glob("*.npz"))
    build = Builder()
    load_or_build("thing", build)
    assert build.calls == 1


@pytest.mark.parametrize("key", ["", "../thing", "a/b", ".hidden", "a b", "x" * 201])
def test_keys_that_are_no_file_names_are_refused(key):
    with pytest.raises(InvalidValueError, match="Cache key"):
        load_or_build(key, Builder())


def test_objects_are_refused(folder):
    with pytest.raises(InvalidValueError, match="cannot be cached"):
        load_or_build("thing", lambda: {"a": np.array([{}], dtype=object)})
    assert not list(folder.glob("*.npz"))


def test_threads_build_once():
    build = Builder()
    gate = threading.Barrier(4)

    def slow():
        build.calls += 1
        threading.Event().wait(0.1)
        return dict(ARRAYS)

    results = []

    def ask():
        gate.wait()
        results.append(load_or_build("thing", slow))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        assert_equal(result, ARRAYS)
    if sys.platform != "win32":
        assert build.calls == 1


# Run as a file, since a spawned process cannot import this one.
WORKER = """
import os
import numpy as np
os.environ["HANDWRIGHT_CACHE"] = folder
from handwright.geometry.cache import load_or_build

def build():
    with open(log, "a") as stream:
        stream.write("built\\n")
    return {"values": np.arange(200_000, dtype=np.float64)}

barrier.wait(timeout=60)
queue.put(float(load_or_build("shared", build)["values"].sum()))
"""


def test_processes_at_once_all_get_the_whole(tmp_path, folder):
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(2), context.Queue()
    worker, log = tmp_path / "worker.py", tmp_path / "log"
    worker.write_text(WORKER)
    names = {"folder": str(folder), "log": str(log), "barrier": barrier, "queue": queue}
    processes = [
        context.Process(target=runpy.run_path, args=(str(worker), names)) for _ in range(2)
    ]
    for process in processes:
        process.start()
    sums = [queue.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert sums == [np.arange(200_000).sum()] * 2
    if sys.platform != "win32":
        assert log.read_text() == "built\n"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="XDG folders are for Linux")
def test_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDWRIGHT_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_dir() == tmp_path / "mine"
    monkeypatch.delenv("HANDWRIGHT_CACHE")
    assert cache_dir() == tmp_path / "xdg" / "handwright"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/path")
    assert cache_dir() == tmp_path / "home" / ".cache" / "handwright"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == tmp_path / "home" / ".cache" / "handwright"
    assert not (tmp_path / "home").exists()


def test_a_flipped_bit_anywhere_is_noticed(folder):
    key, build = "flipped", Builder({"values": np.arange(3.0)})
    good = load_or_build(key, build)
    path = folder / f"{key}.npz"
    data = path.read_bytes()
    for place in range(0, len(data), 3):
        damaged = bytearray(data)
        damaged[place] ^= 1 << (place // 3 % 8)
        path.write_bytes(damaged)
        found = load_or_build(key, build)
        assert list(found) == list(good), place
        assert np.array_equal(found["values"], good["values"]), place
