"""Golden-section search for the least value of a function of one variable.

Compiled functions cannot take functions as arguments and be kept on disk, so the search is given as
its bracket: the caller evaluates the function at ``left`` and ``right``, and narrows the bracket to
the side of the smaller value. One of the two values is known from the step before.
"""

from __future__ import annotations

from typing import NamedTuple

from handwright.kernels.decorators import inlined

_SHARE = 0.6180339887498949
"""Share of the bracket that each step keeps: the golden ratio minus one."""


class GoldenBracket(NamedTuple):
    """An interval, and the two points within it at which the function is compared."""

    low: float
    high: float
    left: float
    right: float


@inlined
def golden_bracket(low: float, high: float) -> GoldenBracket:
    """The bracket of an interval."""
    return GoldenBracket(low, high, high - _SHARE * (high - low), low + _SHARE * (high - low))


@inlined
def narrowed_bracket(b: GoldenBracket, is_left_less: bool) -> GoldenBracket:
    """The bracket after a step, in which the better of the two points is one of the new two.

    Args:
        b: The bracket.
        is_left_less: Whether the value at ``left`` is smaller; then ``right`` becomes the new end
            and ``left`` the new ``right``. Otherwise it is the other way round.
    """
    if is_left_less:
        return GoldenBracket(b.low, b.right, b.right - _SHARE * (b.right - b.low), b.left)
    return GoldenBracket(b.left, b.high, b.right, b.left + _SHARE * (b.high - b.left))
