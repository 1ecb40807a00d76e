"""Tables, walls and floors."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from handwright.errors import InvalidValueError
from handwright.geometry import (
    EnvironmentBox,
    ExactDistance,
    HalfSpace,
    environment_value_gradient,
    floor,
    pack_environment,
    surface_value_gradient,
    table,
    wall,
)
from handwright.math.pose import Pose

# Users may hand in lists, and wrong shapes get a message of their own.
pytestmark = pytest.mark.usefixtures("user_view")

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def random_box(rng):
    x, y, z, w = Rotation.random(rng=rng).as_quat()
    pose = Pose(rng.normal(scale=0.2, size=3), np.array([w, x, y, z]))
    return EnvironmentBox(pose, rng.uniform(0.02, 0.3, 3), 0.5)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_box_agrees_with_its_mesh(seed):
    rng = np.random.default_rng(seed)
    box = random_box(rng)
    mesh = trimesh.creation.box(2 * box.half_extents)
    x, y, z, w = (*box.pose.wxyz[1:], box.pose.wxyz[0])
    R = Rotation.from_quat([x, y, z, w]).as_matrix()
    exact = ExactDistance(mesh.vertices @ R.T + box.pose.position, mesh.faces)
    env = pack_environment([box])
    points = rng.normal(scale=0.3, size=(20, 3))
    expected, _, _, normals = exact.signed_distance(points)
    for point, distance, normal in zip(points, expected, normals, strict=True):
        d, *gradient, index = environment_value_gradient(env, *point)
        assert d == pytest.approx(distance, abs=1e-9)
        assert_allclose(gradient, normal, atol=1e-6)
        assert index == 0


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_nearest_surface_and_gradient(seed):
    rng = np.random.default_rng(seed)
    surfaces = [
        random_box(rng),
        floor(-0.4, friction=0.7),
        random_box(rng),
        wall([1, 0, 0], [-2, 0, 1]),
    ]
    env = pack_environment(surfaces)
    assert env.frictions.tolist() == [0.7, 0.6, 0.5, 0.5]
    point = rng.normal(scale=0.4, size=3)
    d, *gradient, index = environment_value_gradient(env, *point)
    each = [surface_value_gradient(env, n, *point) for n in range(4)]
    assert d == min(e[0] for e in each)
    assert each[index] == (d, *gradient)
    assert np.linalg.norm(gradient) == pytest.approx(1.0)
    step = 1e-6
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        ahead = environment_value_gradient(env, *(point + shift))
        behind = environment_value_gradient(env, *(point - shift))
        same_piece = np.allclose(ahead[1:4], behind[1:4], atol=1e-3)
        if ahead[4] == behind[4] == index and same_piece:
            slope = (ahead[0] - behind[0]) / (2 * step)
            assert gradient[axis] == pytest.approx(slope, abs=1e-5)


def test_half_spaces():
    env = pack_environment([HalfSpace([0, 0, 2], 0.5)])
    assert environment_value_gradient(env, 3.0, -2.0, 0.75) == (0.25, 0.0, 0.0, 1.0, 0)
    assert environment_value_gradient(env, 0.0, 0.0, 0.0)[0] == -0.5
    ground = pack_environment([floor()])
    assert environment_value_gradient(ground, 1.0, 1.0, 0.1)[0] == 0.1
    side = pack_environment([wall([0.5, 7.0, -3.0], [-4.0, 0.0, 0.0])])
    assert environment_value_gradient(side, 0.2, 0.0, 0.0) == pytest.approx((0.3, -1, 0, 0, 0))


def test_table_has_a_top_edges_and_an_underside():
    env = pack_environment([table(0.7, size=(1.0, 0.6), center=(0.2, 0.0), thickness=0.05)])
    assert environment_value_gradient(env, 0.2, 0.1, 0.8)[:4] == pytest.approx((0.1, 0, 0, 1))
    assert environment_value_gradient(env, 0.2, 0.1, 0.6)[:4] == pytest.approx((0.05, 0, 0, -1))
    assert environment_value_gradient(env, 0.9, 0.0, 0.68)[:4] == pytest.approx((0.2, 1, 0, 0))
    assert environment_value_gradient(env, 0.2, 0.0, 0.69)[0] == pytest.approx(-0.01)


def test_nothing_is_infinitely_far_and_nan_shows():
    assert environment_value_gradient(pack_environment([]), 0.0, 0.0, 0.0) == (np.inf, 0, 0, 0, -1)
    env = pack_environment([table(), floor()])
    for point in np.where(np.eye(3, dtype=bool), np.nan, 0.0):
        assert np.isnan(environment_value_gradient(env, *point)[0])


def test_surfaces_are_read_only():
    surface = HalfSpace([0, 3, 4], 1.0)
    assert_allclose(surface.normal, [0, 0.6, 0.8])
    with pytest.raises(ValueError, match="read-only"):
        surface.normal[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        table().half_extents[0] = 1.0


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: HalfSpace([0, 0, 0], 0.0), "normal"),
        (lambda: HalfSpace([0, 1], 0.0), "normal"),
        (lambda: HalfSpace([0, 0, 1], np.nan), "offset"),
        (lambda: floor(friction=-0.1), "friction"),
        (lambda: EnvironmentBox(Pose(np.zeros(3), IDENTITY), [1, 0, 1]), "half_extents"),
        (lambda: EnvironmentBox(Pose(np.zeros((2, 3)), IDENTITY), [1, 1, 1]), "expected one"),
        (lambda: table(friction=np.inf), "friction"),
    ],
)
def test_mistakes_are_named(make, word):
    with pytest.raises(InvalidValueError, match=word):
        make()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 3.0, 1e200])
def test_the_length_of_a_normal_does_not_matter(scale):
    plane = HalfSpace(scale * np.array([3.0, 0.0, 4.0]), 0.1)
    np.testing.assert_allclose(plane.normal, [0.6, 0.0, 0.8], rtol=1e-15)
