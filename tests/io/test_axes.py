from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from handwright.io import axes
from handwright.math import rotation
from handwright.math.pose import Pose

TRIAD = np.eye(3)


def turned_by_matrix(xyzw: np.ndarray) -> np.ndarray:
    """Rotation matrix of a quaternion xyzw, written out from the definition."""
    x, y, z, w = xyzw
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_the_triad_goes_where_gltf_wants_it() -> None:
    right, ahead, up = axes.to_y_up(TRIAD)
    assert right.tolist() == [1, 0, 0]
    assert up.tolist() == [0, 1, 0]
    # What was ahead (+y) is into the picture, which is -z in glTF.
    assert ahead.tolist() == [0, 0, -1]
    assert np.linalg.det(axes.to_y_up(TRIAD)) == 1.0


def test_a_turn_about_up_stays_a_turn_about_up() -> None:
    quarter = rotation.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.pi / 2)
    np.testing.assert_allclose(axes.to_y_up_xyzw(quarter), [0, np.sqrt(0.5), 0, np.sqrt(0.5)])


@given(st.integers(0, 2**32 - 1))
def test_poses_of_a_triad_agree_in_both_worlds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pose = Pose(rng.standard_normal(3), rotation.random(rng))
    ours = axes.to_y_up(pose.apply(TRIAD))
    turn = turned_by_matrix(axes.to_y_up_xyzw(pose.wxyz))
    theirs = axes.to_y_up(TRIAD) @ turn.T + axes.to_y_up(pose.position)
    np.testing.assert_allclose(theirs, ours, atol=1e-14)


@given(st.integers(0, 2**32 - 1))
def test_there_and_back_loses_no_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors, quaternions = rng.standard_normal((2, 5, 3)), rng.standard_normal((2, 5, 4))
    assert np.array_equal(axes.to_z_up(axes.to_y_up(vectors)), vectors)
    assert np.array_equal(axes.to_y_up(axes.to_z_up(vectors)), vectors)
    assert np.array_equal(axes.to_z_up_wxyz(axes.to_y_up_xyzw(quaternions)), quaternions)


def test_scale_follows_its_axis() -> None:
    scale = np.array([2.0, 3.0, 5.0])
    # Stretching and then changing axes is changing axes and then stretching.
    for v in TRIAD:
        stretched = axes.to_y_up(scale * v)
        assert np.array_equal(stretched, axes.scale_to_y_up(scale) * axes.to_y_up(v))
