"""Single rotations against the ones of ``rotation``, which take batches and check what they get."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.math import one_turn, rotation


def turns() -> list[np.ndarray]:
    """Random rotations, none at all, and half turns."""
    rng = np.random.default_rng(0)
    vectors = [*rng.normal(size=(40, 3)), *1e-9 * rng.normal(size=(5, 3)), np.zeros(3)]
    vectors += [np.pi * axis for axis in np.eye(3)]
    return [rotation.exp(vector) for vector in vectors]


@pytest.mark.parametrize("number", range(len(turns())))
def test_single_rotations_are_those_of_batches(number):
    one, other = turns()[number], turns()[number - 1]
    matrix = rotation.to_matrix(one)
    close = {"rtol": 0.0, "atol": 1e-12}
    np.testing.assert_allclose(one_turn.matrix_of(one), matrix, **close)
    found = one_turn.of_matrix(matrix)
    np.testing.assert_allclose(rotation.to_matrix(found), matrix, **close)
    assert found[0] >= 0.0
    np.testing.assert_allclose(
        one_turn.multiplied(one, other), rotation.multiply(one, other), **close
    )
    vector = np.array([0.3, -0.2, 0.5]) * number
    np.testing.assert_allclose(
        rotation.to_matrix(one_turn.turned_by(one, vector)),
        rotation.to_matrix(rotation.multiply(one, rotation.exp(vector))),
        **close,
    )


@pytest.mark.parametrize("number", range(1, 40))
def test_turns_between_rotations_lead_from_one_to_the_other(number):
    one, other = turns()[number], turns()[number - 1]
    way = one_turn.turn_to(one, other)
    assert np.linalg.norm(way) <= np.pi + 1e-9
    np.testing.assert_allclose(
        rotation.to_matrix(rotation.multiply(rotation.exp(way), one)),
        rotation.to_matrix(other),
        rtol=0.0,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        one_turn.own_turn_to(one, other), rotation.to_matrix(one).T @ way, rtol=0.0, atol=1e-11
    )
