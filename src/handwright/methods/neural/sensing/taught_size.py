"""Hands of all sizes in the world of the one that networks are taught with.

Features are lengths. So that they mean the same for every hand, a hand senses its scene in units in
which it is as long as the taught one: the hand, its object and the ways of both are scaled alike.
Joint values have no unit of length, and hold for the hand as it is.
"""

from __future__ import annotations

from functools import lru_cache

from handwright.core.hand import HandModel
from handwright.hands.human.model import human
from handwright.hands.registry import straight_length
from handwright.hands.scaled import scaled

# Hands that differ by less are of one size; a mirrored hand is as long but for rounding.
_SAME = 1e-6


@lru_cache(maxsize=64)
def size_of(model: HandModel) -> float:
    """Length of a human hand over that of the hand that networks are taught with."""
    size = straight_length(model) / _taught_length()
    return 1.0 if abs(size - 1.0) < _SAME else size


@lru_cache(maxsize=64)
def at_taught_size(model: HandModel) -> HandModel:
    """A human hand, with its own proportions, grown or shrunk to the length of the taught one."""
    size = size_of(model)
    return model if size == 1.0 else scaled(model, 1.0 / size)


@lru_cache(maxsize=1)
def _taught_length() -> float:
    return straight_length(human())
