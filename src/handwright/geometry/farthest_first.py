"""Rows that are spread out: each is the farthest from those chosen before it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int


def farthest_first(
    distances_from: Callable[[int], Float[np.ndarray, " N"]],
    *,
    first: int,
    count: int,
    apart: float = -np.inf,
) -> Int[np.ndarray, " K"]:
    """Chooses rows, each the farthest from those chosen before it.

    Of rows that are equally far the first one is taken, and no row is taken twice.

    Args:
        distances_from: Gives the distances of all rows from one; any measure that grows with the
            distance will do.
        first: The row to begin with.
        count: Largest number of rows.
        apart: Rows that are no farther than this from the chosen ones are not taken.

    Returns:
        The chosen rows in the order of choice.
    """
    chosen = [first]
    distance = np.array(distances_from(first))
    distance[first] = -np.inf
    while len(chosen) < count:
        farthest = int(distance.argmax())
        if not distance[farthest] > apart:
            break
        chosen.append(farthest)
        distance = np.minimum(distance, distances_from(farthest))
        distance[farthest] = -np.inf
    return np.array(chosen)
