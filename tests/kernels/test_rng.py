"""Random numbers of compiled code."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import compiled
from handwright.kernels.rng import drawn_from, make_dice, roll, shuffle


@compiled
def _rolls(dice, count):
    found = np.zeros(count)
    for n in range(count):
        found[n] = roll(dice)
    return found


@compiled
def _draws(dice, sums, count):
    found = np.zeros(count, dtype=np.int64)
    for n in range(count):
        found[n] = drawn_from(dice, sums)
    return found


@compiled
def _shuffled(dice, count):
    order = np.zeros(count, dtype=np.int64)
    shuffle(dice, order, count)
    return order


def test_numbers_are_those_of_the_published_generator():
    # SplitMix64 from seed 1234567: 6457827717110365317, 3203168211198807973, ...
    dice = np.array([1234567], dtype=np.uint64)
    wanted = np.array([6457827717110365317, 3203168211198807973], dtype=np.uint64) >> np.uint64(11)
    np.testing.assert_array_equal(_rolls(dice, 2), wanted * 2.0**-53)


def test_numbers_are_even_and_the_same_again():
    first, again = (_rolls(make_dice(np.random.default_rng(3)), 20_000) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.min() >= 0.0
    assert first.max() < 1.0
    counts = np.histogram(first, bins=10, range=(0.0, 1.0))[0]
    np.testing.assert_allclose(counts, 2000, atol=200)


def test_rows_are_drawn_by_their_weights():
    weights = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    found = np.bincount(_draws(make_dice(np.random.default_rng(0)), np.cumsum(weights), 8000))
    assert set(np.flatnonzero(found)) == {1, 3}
    np.testing.assert_allclose(found[3] / found[1], 3.0, rtol=0.1)


def test_all_orders_come_equally_often():
    dice = make_dice(np.random.default_rng(1))
    orders = [tuple(_shuffled(dice, 3)) for _ in range(6000)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    np.testing.assert_allclose(counts, 1000, atol=150)
