"""Kernels by numba's public means alone: the same results, and nothing that is not public."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

_MODULE = '''
from typing import NamedTuple
import numpy as np
from handwright.kernels.decorators import compiled, inlined, inlined_loose, kernel, linked
from handwright.kernels.packed import Packed
from handwright.kernels.rng import roll

class Inner(NamedTuple):
    weights: np.ndarray
    is_on: bool

class Outer(NamedTuple):
    points: np.ndarray
    inner: Inner
    factor: float
    count: int

@inlined
def squared(x):
    return x * x

@inlined_loose
def doubled(x):
    return x + x

@linked
def weigh(outer, row):
    """Writes into the tuple's arrays, so that both ways must hand over the arrays themselves."""
    total = 0.0
    for k in range(outer.points.shape[1]):
        outer.points[row, k] += outer.factor * outer.inner.weights[row]
        total += squared(outer.points[row, k])
    return total, row

@kernel
def middle(outer, dice):
    total = 0.0
    for row in range(outer.count):
        if outer.inner.is_on:
            total += weigh(outer, row)[0] * roll(dice)
    return doubled(total)

@compiled
def solve(outer, dice):
    kept = np.zeros(2)
    kept[0] = middle(outer, dice)
    kept[1] = weigh(outer, 0)[0]
    return kept

def run():
    rng = np.random.default_rng(0)
    outer = Outer(rng.normal(size=(4, 3)), Inner(rng.normal(size=4), True), 0.7, 4)
    found = solve(Packed(outer), np.array([3], dtype=np.uint64))
    return [found.tobytes().hex(), outer.points.tobytes().hex()]
'''
_PRIVATE = ("cache", "fingerprint", "linked", "pointers", "tuned")
_REPORT = """
import json, logging, sys
logging.basicConfig(stream=sys.stderr)
{before}
import own
loaded = [name for name in sys.modules if name.startswith("handwright.kernels.")]
print(json.dumps([own.run(), loaded]))
"""


def run(folder, before="", **variables):
    """The digests of a small kernel's results in a new process, its modules, and its warnings."""
    (folder / "own.py").write_text(_MODULE)
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **variables}
    env["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run(
        [sys.executable, "-B", "-c", _REPORT.format(before=before)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results, loaded = json.loads(done.stdout)
    private = {name for name in _PRIVATE if f"handwright.kernels.{name}" in loaded}
    return results, private, done.stderr


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    results, private, _ = run(tmp_path_factory.mktemp("tuned"), HANDWRIGHT_PLAIN_KERNELS="0")
    assert private == set(_PRIVATE)
    return results


def test_plain_kernels_give_the_same_bytes(tuned, tmp_path):
    results, private, said = run(tmp_path, HANDWRIGHT_PLAIN_KERNELS="1")
    assert results == tuned
    assert private == set()
    assert "has not been tried" not in said
    assert list((tmp_path / "cache").rglob("*.nbc"))


def test_an_untried_numba_is_told_and_gives_the_same_bytes(tuned, tmp_path):
    results, private, said = run(
        tmp_path,
        before="import numba; numba.__version__ = '0.99.1'",
        HANDWRIGHT_PLAIN_KERNELS="",
    )
    assert results == tuned
    assert private == set()
    assert said.count("numba 0.99.1 has not been tried") == 1


def test_kernels_that_numba_cannot_keep_are_compiled_all_the_same(tmp_path):
    """A function without a file is one that numba has no locator for."""
    code = """
import logging, sys
logging.basicConfig(stream=sys.stderr)
from handwright.kernels.decorators import compiled

@compiled
def twice(x):
    return 2.0 * x

print(twice(3.0))
"""
    env = {**os.environ, "HANDWRIGHT_PLAIN_KERNELS": "1"}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "6.0", done.stderr
    assert "numba cannot keep the kernels of __main__" in done.stderr
