"""Skin in a box and in a floor, held against the depths that follow from their equations."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.geometry.distance.environment import floor, pack_environment, table
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.hands.skin.build import skin_of
from handwright.kinematics import posed_skin
from handwright.kinematics.obstacles import seen_over
from handwright.math.pose import Pose
from handwright.methods.sampling.finish.exact_depth import skin_depths

HAND, BOX = human(), make_shape("box", width=0.06, depth=0.06, height=0.06)
HALF = np.array([0.03, 0.03, 0.03])
Q = np.stack([HAND.pose("rest")] * 3)


def depths(position, surfaces=(), body=None):
    wxyz = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    root = Pose(np.asarray(position), wxyz)
    here = Pose(np.zeros((3, 3)), wxyz) if body is None else body
    around = seen_over(pack_environment(surfaces), here)
    local = here.inverse() @ root
    found = skin_depths(
        HAND, Q, local, signed_distance_field(BOX), ExactDistance.from_body(BOX), around
    )
    skin = skin_of(HAND)
    return found, np.stack([posed_skin(HAND, skin, Q[t], root[t]) for t in range(3)])


def test_skin_in_a_box_is_as_deep_as_the_boxs_equation_says():
    position = np.array([[-0.12, 0.0, 0.03], [-0.13, 0.01, 0.035], [-0.5, 0.0, 0.0]])
    found, vertices = depths(position)
    inside = -(np.abs(vertices) - HALF).max(axis=2).min(axis=1)
    assert inside[0] > 1e-3
    np.testing.assert_allclose(found, np.maximum(inside, 0.0), atol=1e-9)
    assert found[2] == 0.0


@pytest.mark.parametrize("kind", ["floor", "table"])
def test_skin_in_the_surroundings_is_seen_from_a_moving_body(kind):
    rng = np.random.default_rng(2)
    body = Pose.normalized(
        rng.normal(size=(3, 3)) + np.array([2.0, 0.0, 0.0]), rng.normal(size=(3, 4))
    )
    position = np.array([[0.0, 0.0, 0.42], [0.0, 0.0, 0.41], [0.0, 0.0, 0.9]])
    surface = floor(0.4) if kind == "floor" else table(0.4, thickness=0.2)
    found, vertices = depths(position, (surface,), body)
    expected = np.maximum(0.4 - vertices[:, :, 2].min(axis=1), 0.0)
    assert expected[1] > 1e-3
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_vertex_is_looked_at_again_in_time_when_fingers_bend_and_the_hand_comes():
    """Far at first, then into the box while all joints move: against all vertices at all times."""
    count, rng = 24, np.random.default_rng(5)
    share = np.linspace(0.0, 1.0, count)[:, None]
    q = (1.0 - share) * HAND.pose("open") + share * HAND.pose("closed")
    q = HAND.joints.clamp(q + 0.05 * np.sin(9.0 * share + rng.uniform(0.0, 6.0, q.shape[1])))
    start, end = np.array([-0.30, 0.05, 0.10]), np.array([-0.11, 0.0, 0.03])
    root = Pose(start + share * (end - start), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)))
    around = seen_over(pack_environment(()), Pose.identity(count))
    found = skin_depths(
        HAND, q, root, signed_distance_field(BOX), ExactDistance.from_body(BOX), around
    )
    inside = -(np.abs(posed_skin(HAND, skin_of(HAND), q, root)) - HALF).max(axis=2).min(axis=1)
    # Shallow depths, below 0.3 mm in the grid, are not held against the mesh.
    deep = inside > 1e-3
    assert inside[0] < -0.05
    assert 3 <= deep.sum() < count
    np.testing.assert_allclose(found[deep], inside[deep], atol=1e-9)
    assert found[inside < 0.0].max() == 0.0
