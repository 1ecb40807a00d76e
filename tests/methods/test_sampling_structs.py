"""Arrays that are allocated by their annotations, and vectors of compiled functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from jaxtyping import Bool, Float, Int

from handwright.kinematics.tree import Links
from handwright.math import rotation
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.structs import zeros


class Inner(NamedTuple):
    count: Int[np.ndarray, " D"]
    is_on: Bool[np.ndarray, "T D"]


class Outer(NamedTuple):
    inner: Inner
    point: Float[np.ndarray, "T D 3"]
    bare: np.ndarray


def test_annotations_say_shapes_and_types():
    bare = np.ones(2)
    made = zeros(Outer, {"T": 4, "D": 2, "J": 9}, bare=bare)
    assert made.bare is bare
    shapes = [(made.inner.count, (2,), np.int64), (made.inner.is_on, (4, 2), np.bool_)]
    for array, shape, kind in [*shapes, (made.point, (4, 2, 3), np.float64)]:
        assert (array.shape, array.dtype) == (shape, kind)
        assert not array.any()


def test_a_size_that_is_missing_is_named():
    with pytest.raises(KeyError, match="T"):
        zeros(Inner, {"D": 2})


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    return rng.normal(size=3), rng.normal(size=3)


def test_products_of_vectors_are_those_of_numpy(pair):
    a, b = (tuple(vector) for vector in pair)
    np.testing.assert_allclose(vec3.dot(a, b), np.dot(a, b), rtol=1e-14)
    np.testing.assert_allclose(vec3.cross(a, b), np.cross(a, b), rtol=1e-14)
    normal = vec3.divided(b, vec3.length(b))
    across = vec3.tangential(a, normal)
    np.testing.assert_allclose(np.dot(across, normal), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.cross(across, normal), np.cross(a, normal), atol=1e-14)


def test_a_point_of_a_link_is_found_again_in_its_frame(pair):
    away, local = pair
    turn = rotation.to_matrix(rotation.exp(np.array([0.4, -0.7, 0.2])))
    links = Links(np.stack([np.eye(3), turn]), np.stack([np.zeros(3), away]), np.zeros((1, 3)))
    point = vec3.point_of(links, 1, local)
    np.testing.assert_allclose(point, turn @ local + away, rtol=1e-14)
    np.testing.assert_allclose(vec3.local_of(links, 1, point), local, rtol=1e-12)
