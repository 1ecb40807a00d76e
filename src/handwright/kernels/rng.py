"""Random numbers for compiled code: the generator SplitMix64 (Steele, Lea & Flood 2014).

Its state is one word in an array, so that a search that is run again from the same seed gives the
same numbers wherever it runs.
"""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_SPARE_BITS, _UNIT = np.uint64(11), 2.0**-53


def make_dice(rng: np.random.Generator) -> np.ndarray:
    """(1,) state with a seed that is drawn."""
    return rng.integers(0, 2**63, size=1, dtype=np.uint64)


@inlined
def roll(dice: np.ndarray) -> float:
    """A number from 0 to before 1, evenly drawn; the state moves on."""
    dice[0] += _STEP
    z = dice[0]
    z = (z ^ (z >> _SHIFTS[0])) * _FIRST
    z = (z ^ (z >> _SHIFTS[1])) * _SECOND
    z = z ^ (z >> _SHIFTS[2])
    return np.float64(z >> _SPARE_BITS) * _UNIT


@inlined
def shuffle(dice: np.ndarray, order: np.ndarray, count: int) -> None:
    """Writes the numbers below ``count`` in a drawn order."""
    for n in range(count):
        m = int(roll(dice) * (n + 1))
        order[n] = order[m]
        order[m] = n


@inlined
def drawn_from(dice: np.ndarray, sums: np.ndarray) -> int:
    """A row drawn by its weight; ``sums`` are the weights added up, with more than 0 in all."""
    mark = roll(dice) * sums[-1]
    low, high = 0, sums.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > mark:
            high = middle
        else:
            low = middle + 1
    return low
