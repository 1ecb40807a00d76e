"""Compiled kernels on disk: what makes them new, what does not, and damage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_INNER = '''
from handwright.kernels.decorators import compiled, inlined_loose, kernel, linked

FACTOR = 2.0
UNUSED = 1.0

@{decorator}
def inner(x):
    """Some words."""
    return x * FACTOR
'''
_OUTER = """
from typing import NamedTuple
import inner as module
from inner import inner
from handwright.kernels.decorators import compiled

class Pair(NamedTuple):
    first: float
    second: float

@compiled
def outer(x):
    return inner(x) + 1.0

@compiled
def difference(pair):
    return pair.first - pair.second

@compiled
def countdown(n):
    return 0 if n <= 0 else 1 + countdown(n - 1)
"""


class Project:
    """A folder with two modules of kernels, run by new processes."""

    def __init__(self, folder: Path, decorator: str) -> None:
        self.folder = folder
        self.write("inner.py", _INNER.format(decorator=decorator))
        self.write("outer.py", _OUTER)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def run(
        self, call: str = "outer(3.0)", name: str = "outer", hash_seed: str = "random"
    ) -> tuple[float, bool]:
        """The value of a call, and whether its code came from disk."""
        env = {**os.environ, "NUMBA_CACHE_DIR": str(self.folder / "cache")}
        env["PYTHONHASHSEED"] = hash_seed
        env["PYTHONPATH"] = os.pathsep.join([str(self.folder), *sys.path])
        code = f"from outer import *; print({call}, {name}.stats.cache_hits.total())"
        done = subprocess.run(
            [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=True
        )
        value, hits = done.stdout.split()
        return float(value), hits == "1"


@pytest.fixture(params=["compiled", "kernel", "linked"])
def project(tmp_path, request):
    return Project(tmp_path, request.param)


def test_an_edit_of_a_callee_in_another_file_compiles_its_callers_anew(project):
    assert project.run() == (7.0, False)
    assert project.run() == (7.0, True)
    project.edit("inner.py", "x * FACTOR", "x * FACTOR + 1.0")
    assert project.run() == (8.0, False)
    project.edit("inner.py", "FACTOR = 2.0", "FACTOR = 5.0")
    assert project.run() == (17.0, False)


def test_comments_docstrings_and_other_names_leave_kernels_as_they_are(project):
    project.run()
    project.edit("inner.py", "Some words.", "Other words.")
    project.edit("inner.py", "UNUSED = 1.0", "# A comment.\nUNUSED = 3.0\n")
    assert project.run() == (7.0, True)


def test_a_state_of_the_sources_that_was_compiled_before_is_found_again(project):
    project.run()
    project.edit("inner.py", "FACTOR = 2.0", "FACTOR = 5.0")
    assert project.run() == (16.0, False)
    project.edit("inner.py", "FACTOR = 5.0", "FACTOR = 2.0")
    assert project.run() == (7.0, True)


def test_the_order_of_sets_which_differs_between_processes_compiles_nothing_anew(tmp_path):
    # The freedom of the compiler in loose kernels is a set of four words.
    project = Project(tmp_path, "inlined_loose")
    orders = {_order_of_set(str(seed)) for seed in range(3)}
    assert len(orders) > 1
    assert project.run(hash_seed="0") == (7.0, False)
    assert [project.run(hash_seed=seed) for seed in ("1", "2")] == [(7.0, True)] * 2


def _order_of_set(hash_seed: str) -> str:
    """How a process with a seed for its hashes writes the compiler's freedom."""
    code = "from handwright.kernels import decorators; print(decorators._FREEDOM)"
    env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    ).stdout


def test_fields_of_a_named_tuple_in_another_order_compile_anew(tmp_path):
    project = Project(tmp_path, "kernel")
    call = "difference(Pair(first=5.0, second=3.0))"
    assert project.run(call, "difference") == (2.0, False)
    project.edit("outer.py", "first: float\n    second: float", "second: float\n    first: float")
    assert project.run(call, "difference") == (2.0, False)


def test_a_kernel_that_calls_itself_is_kept(tmp_path):
    project = Project(tmp_path, "kernel")
    assert project.run("countdown(3)", "countdown") == (3, False)
    assert project.run("countdown(3)", "countdown") == (3, True)


def test_a_damaged_file_is_compiled_anew(tmp_path):
    project = Project(tmp_path, "kernel")
    project.run()
    files = list((tmp_path / "cache").rglob("outer-*.nbc"))
    assert len(files) == 1
    files[0].write_bytes(files[0].read_bytes()[:100])
    assert project.run() == (7.0, False)
    assert project.run() == (7.0, True)


def test_kernels_run_where_nothing_can_be_kept(tmp_path):
    project = Project(tmp_path, "kernel")
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert project.run() == (7.0, False)
