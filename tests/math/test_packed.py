"""Packed tuples: compiled code reads and writes what Python holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from handwright.math.compiled import kernel
from handwright.math.packed import Packed


class Inner(NamedTuple):
    row: np.ndarray
    scale: float


class Outer(NamedTuple):
    table: np.ndarray
    count: int
    inner: Inner
    is_on: bool


@kernel
def _mix(given: Outer, column: int) -> float:
    total = 0.0
    for n in range(given.count):
        total += given.table[n, column] * given.inner.row[n]
        given.inner.row[n] = -1.0
    return given.inner.scale * total if given.is_on else 0.0


def make(is_on: bool = True) -> Outer:
    table = np.arange(12.0).reshape(4, 3)
    return Outer(table, 3, Inner(np.array([1.0, 10.0, 100.0, 7.0]), 0.5), is_on)


def test_compiled_code_sees_arrays_numbers_and_inner_tuples():
    assert _mix(Packed(make()), 2) == 0.5 * (2.0 + 50.0 + 800.0)
    assert _mix(Packed(make(is_on=False)), 2) == 0.0


def test_what_compiled_code_writes_is_seen_in_python():
    outer = make()
    _mix(Packed(outer), 0)
    assert outer.inner.row.tolist() == [-1.0, -1.0, -1.0, 7.0]


def test_tuples_alike_are_of_one_type_whatever_their_sizes():
    small = make()._replace(table=np.zeros((9, 5)))
    assert Packed(small).packed_type == Packed(make()).packed_type
    other = make()._replace(table=np.asfortranarray(np.zeros((4, 3))))
    assert Packed(other).packed_type != Packed(make()).packed_type


def test_what_cannot_be_packed_is_named():
    with pytest.raises(TypeError, match=r"Outer.count is a str; expected an array"):
        Packed(make()._replace(count="three"))
