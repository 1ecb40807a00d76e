"""Rows that are spread out, each the farthest from those before it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from handwright.geometry.farthest_first import farthest_first

LINE = np.array([0.0, 1.0, 2.0, 7.0, 10.0])


def along_line(row):
    return np.abs(LINE - LINE[row])


def test_each_row_is_the_farthest_from_those_before_it():
    assert farthest_first(along_line, first=0, count=4).tolist() == [0, 4, 3, 2]


def test_rows_that_are_too_near_are_left_out():
    assert farthest_first(along_line, first=0, count=5, apart=1.5).tolist() == [0, 4, 3, 2]
    assert farthest_first(along_line, first=0, count=5, apart=10.0).tolist() == [0]


def test_the_first_of_equally_far_rows_is_taken():
    corners = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    chosen = farthest_first(
        lambda row: np.linalg.norm(corners - corners[row], axis=1), first=0, count=2
    )
    assert chosen.tolist() == [0, 1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_no_row_is_taken_twice_even_of_equal_points(seed, count):
    points = np.random.default_rng(seed).integers(0, 2, size=(8, 2)).astype(float)
    chosen = farthest_first(
        lambda row: np.linalg.norm(points - points[row], axis=1), first=3, count=count
    )
    assert chosen[0] == 3
    assert len(set(chosen.tolist())) == len(chosen) == min(count, 8)
