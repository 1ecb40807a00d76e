"""Packed tuples: compiled code sees the same arrays and numbers as Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from handwright.kernels.decorators import compiled, kernel
from handwright.kernels.packed import Packed


class Inner(NamedTuple):
    weights: np.ndarray
    count: int


class Outer(NamedTuple):
    first: np.ndarray
    inner: Inner
    factor: float
    is_on: bool
    last: np.ndarray


@kernel
def _scale(outer: Outer, row: int) -> int:
    for k in range(outer.first.shape[1]):
        outer.first[row, k] *= outer.factor * outer.inner.weights[row]
    return outer.inner.count


@compiled
def _scale_all(outer: Outer) -> tuple[int, float]:
    total = 0
    for row in range(outer.first.shape[0]):
        total += _scale(outer, row)
    return total + 1000 * outer.is_on, outer.last[1, 2, 0]


def make(rows: int, is_on: bool) -> Outer:
    first = np.arange(2.0 * rows).reshape(rows, 2)
    return Outer(
        first, Inner(np.arange(1.0, rows + 1.0), 3), 0.5, is_on, np.arange(24).reshape(2, 3, 4)
    )


@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("is_on", [True, False])
def test_compiled_code_reads_and_writes_the_arrays_of_the_tuple(rows, is_on):
    outer, plain = make(rows, is_on), make(rows, is_on)
    wanted = plain.first * 0.5 * plain.inner.weights[:, None]
    assert _scale_all(Packed(outer)) == (3 * rows + 1000 * is_on, 20)
    np.testing.assert_array_equal(outer.first, wanted)
    # The tuple itself goes through the same functions, with the same result.
    assert _scale_all(plain) == (3 * rows + 1000 * is_on, 20)
    np.testing.assert_array_equal(plain.first, wanted)


def test_parts_of_larger_arrays_keep_their_steps():
    whole = np.zeros((6, 4))
    outer = make(3, False)._replace(first=whole[::2, 1:3])
    outer.first[:] = 1.0
    _scale_all(Packed(outer))
    np.testing.assert_array_equal(whole[::2, 1:3], 0.5 * np.array([[1.0], [2.0], [3.0]]) * [1, 1])
    assert whole[1::2].sum() == 0.0


def test_shapes_are_not_part_of_the_type():
    small, large = Packed(make(2, True)), Packed(make(9, False))
    assert small._numba_type_ == large._numba_type_
    other = Packed(make(2, True)._replace(first=np.zeros((2, 2), dtype=np.float32)))
    assert small._numba_type_ != other._numba_type_


def test_what_cannot_be_packed_is_named():
    with pytest.raises(TypeError, match=r"Outer\.factor is a str"):
        Packed(make(1, True)._replace(factor="half"))
