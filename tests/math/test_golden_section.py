"""Golden-section search, on functions with a known least value."""

from __future__ import annotations

import pytest

from handwright.math.golden_section import golden_bracket, narrowed_bracket


def search(function, low, high, num_steps):
    bracket = golden_bracket(low, high)
    values = function(bracket.left), function(bracket.right)
    for _ in range(num_steps):
        is_left_less = values[0] < values[1]
        bracket = narrowed_bracket(bracket, is_left_less)
        if is_left_less:
            values = function(bracket.left), values[0]
        else:
            values = values[1], function(bracket.right)
        # A value that is carried over belongs to the point that it is carried over to.
        assert values == pytest.approx((function(bracket.left), function(bracket.right)), abs=1e-12)
    return bracket


@pytest.mark.parametrize("least", [-0.7, 0.0, 0.31, 1.2])
def test_the_least_value_is_found(least):
    bracket = search(lambda s: abs(s - least) + (s - least) ** 2, -1.0, 1.5, 40)
    assert bracket.low <= least <= bracket.high
    assert bracket.high - bracket.low < 1e-7


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_search_ends_at_an_end_where_that_is_least(sign):
    bracket = search(lambda s: sign * s, 2.0, 3.0, 40)
    assert 0.5 * (bracket.low + bracket.high) == pytest.approx(2.0 if sign > 0.0 else 3.0, abs=1e-7)


def test_points_divide_the_bracket_in_the_golden_ratio():
    b = golden_bracket(0.0, 1.0)
    assert b.right**2 == pytest.approx(1.0 - b.right)
    assert b.left == pytest.approx(1.0 - b.right)
    assert narrowed_bracket(b, True).right == b.left
    assert narrowed_bracket(b, False).left == b.right
