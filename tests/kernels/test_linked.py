"""Functions that are called by their symbols, from Python, from compiled code and from disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from handwright.kernels.decorators import compiled, kernel, linked

_MODULE = """
import numpy as np
from handwright.kernels.decorators import compiled, kernel, linked

@linked
def inner(x, n):
    return x[n] * FACTOR, n

@kernel
def middle(x, n):
    return inner(x, n)[0]

@compiled
def outer(x, n):
    return middle(x, n) + inner(x, 0)[0]

@compiled
def other(x, n):
    return middle(x, n)
"""
_CALL = "import numpy as np, own; print({call}, own.{name}.stats.cache_hits.total())"


@linked
def _scaled(x, factor):
    total = 0.0
    for n in range(x.shape[0]):
        x[n] *= factor
        total += x[n]
    return total, x.shape[0]


@kernel
def _twice(x):
    return _scaled(x, 2.0)[0]


@compiled
def _all(x):
    before = _twice(x)
    return before, _scaled(x, 1.0)[0], _scaled(x, 0.5)[1]


def test_a_linked_function_is_called_from_everywhere():
    assert _all(np.array([1.0, 2.0])) == (6.0, 6.0, 2)
    assert _scaled(np.array([1.0, 2.0]), 3.0) == (9.0, 2)


def test_a_linked_function_keeps_its_name_and_text():
    assert _scaled.__name__ == "_scaled"
    assert linked.__doc__


def _run(folder: Path, call: str, name: str) -> list[str]:
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    env["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    code = _CALL.format(call=call, name=name)
    done = subprocess.run(
        [sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.slow
def test_code_from_disk_finds_what_it_calls(tmp_path):
    """Also where a caller is compiled after the function in between has been loaded."""
    (tmp_path / "own.py").write_text(_MODULE.replace("FACTOR", "2.0"))
    first = _run(tmp_path, "own.outer(np.array([1.0, 3.0]), 1)", "outer")
    assert first == ["8.0", "0"]
    assert _run(tmp_path, "own.outer(np.array([1.0, 3.0]), 1)", "outer") == ["8.0", "1"]
    assert _run(tmp_path, "own.other(np.array([1.0, 3.0]), 1)", "other") == ["6.0", "0"]
    assert _run(tmp_path, "own.other(np.array([1.0, 3.0]), 1)", "other") == ["6.0", "1"]
