"""Means and spreads of what is taught, so that networks see and say all of it in like units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

LEAST_SHARE = 0.1
"""Least spread of a column, as a share of the spread of its group."""
_LEAST_SPREAD = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Normalisation:
    """Columns x become (x - mean) / spread."""

    mean: Float[np.ndarray, " N"]
    spread: Float[np.ndarray, " N"]
    """Above zero."""


class Moments:
    """Mean and spread of columns whose rows come in parts."""

    def __init__(self, num_columns: int) -> None:
        self._count = 0
        self._sum = np.zeros(num_columns)
        self._squares = np.zeros(num_columns)

    def add(self, rows: Float[np.ndarray, "M N"]) -> None:
        """Takes more rows into account."""
        self._count += len(rows)
        rows = rows.astype(float)
        self._sum += rows.sum(axis=0)
        self._squares += (rows * rows).sum(axis=0)

    @property
    def mean(self) -> Float[np.ndarray, " N"]:
        """Of each column."""
        return self._sum / self._count

    @property
    def deviation(self) -> Float[np.ndarray, " N"]:
        """Standard deviation of each column."""
        variance = self._squares / self._count - self.mean**2
        return np.sqrt(np.maximum(variance, 0.0))


def column_normalisation(moments: Moments, groups: Mapping[str, slice]) -> Normalisation:
    """Each column by its own spread, but no column by less than a share of its group's.

    A column that hardly moves, such as the place of a knuckle in the wrist's frame, would else
    become noise as loud as the columns that tell something.

    Args:
        moments: Of all columns.
        groups: Columns of one kind and unit, by name.
    """
    spread = moments.deviation
    for columns in groups.values():
        least = LEAST_SHARE * float(np.sqrt(np.mean(spread[columns] ** 2)))
        spread[columns] = np.maximum(spread[columns], max(least, _LEAST_SPREAD))
    return Normalisation(moments.mean, spread)


def group_normalisation(moments: Moments, groups: Mapping[str, slice]) -> Normalisation:
    """Each column by the spread of its group, so that those that move most count most.

    An error of a millimetre then weighs the same at every joint, and fingertips, which move
    farthest, are what a network learns first.

    Args:
        moments: Of all columns.
        groups: Columns of one kind and unit, by name.
    """
    spread = moments.deviation
    for columns in groups.values():
        spread[columns] = max(float(np.sqrt(np.mean(spread[columns] ** 2))), _LEAST_SPREAD)
    return Normalisation(moments.mean, spread)
