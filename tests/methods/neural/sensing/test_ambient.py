"""The ambient sensor against cells that are looked at point by point."""

from __future__ import annotations

import numpy as np
import pytest
from sensed_motion import at_rate

from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kinematics.fk import frame_poses
from handwright.math.pose import Pose
from handwright.methods.neural.sensing import fixed_features, hand_view

HAND = human("right")
EDGE = 0.018
MOTION = at_rate(60.0, 1.0, seed=3)
FRAMES = np.array([0, 25, 50])
KNUCKLE = frame_poses(HAND, np.zeros(HAND.num_joints)).position[
    HAND.frames.index("middle_proximal")
]


def lattice(count: int, edge: float) -> np.ndarray:
    """(count^3, 3) points of a cube around the origin, x slowest, m."""
    line = edge * (np.arange(count) - 0.5 * (count - 1))
    return np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)


CELLS = lattice(10, EDGE) + KNUCKLE + np.array([0.04, 0.0, -0.09])


def ambient(body: object, wrist: Pose, held: Pose) -> np.ndarray:
    count = len(wrist)
    view = hand_view(HAND, body, np.arange(count) / 60.0, wrist, held)
    return fixed_features(view)[:, 336:]


@pytest.mark.parametrize("name", ["torus", "box", "paper_cup"])
def test_cells_are_filled_as_the_paper_has_it(name: str) -> None:
    """1 - d/s in cells that the body touches; 1 in 100 cells at most is taken for the other."""
    body = make_shape(name)
    exact = ExactDistance.from_body(body)
    got = ambient(body, MOTION.wrist, MOTION.object)[FRAMES]
    for row, frame in enumerate(FRAMES):
        into = MOTION.object[frame].inverse() @ MOTION.wrist[frame]
        far = np.maximum(exact.signed_distance(into.apply(CELLS))[0], 0.0)
        touched = far <= 0.5 * EDGE
        for cell in np.flatnonzero((far > 0.5 * EDGE) & (far < 0.5 * np.sqrt(3.0) * EDGE)):
            points = into.apply(CELLS[cell] + lattice(9, EDGE / 8.0))
            touched[cell] = exact.signed_distance(points)[0].min() <= 0.0
        same = (got[row] > 0.0) == touched
        assert same.mean() > 0.99
        np.testing.assert_allclose(
            got[row][same], np.where(touched, 1.0 - far / EDGE, 0.0)[same], atol=0.02
        )
        assert 0.02 < touched.mean() < 0.3


@pytest.mark.parametrize("normal", [(0.0, 0.0, -1.0), (0.6, 0.0, -0.8), (0.48, 0.6, -0.64)])
def test_flat_bodies_fill_exactly_the_cells_that_they_touch(normal: tuple) -> None:
    """A slab before the palm: cells that it touches have a corner in it."""
    slab = make_shape("box", width=0.6, depth=0.6, height=0.08)
    out = -np.array(normal)
    side = np.cross(out, [0.3, 0.9, 0.1])
    side /= np.linalg.norm(side)
    turn = np.stack([side, np.cross(out, side), out], axis=1)
    # Its upper face goes through the middle of the grid.
    middle = CELLS.mean(axis=0) - 0.04 * out
    held = Pose.from_matrix(
        np.block([[turn, middle[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    )
    got = ambient(slab, Pose.identity(2), Pose.stack([held, held]))[0]
    height = (CELLS - CELLS.mean(axis=0)) @ out
    lowest = height - 0.5 * EDGE * np.abs(out).sum()
    clear = np.abs(lowest) > 2e-4
    wanted = np.where(lowest < 0.0, 1.0 - np.maximum(height, 0.0) / EDGE, 0.0)
    inside = height > -0.05
    np.testing.assert_allclose(got[clear & inside], wanted[clear & inside], atol=0.01)
    assert (wanted[inside] > 0.0).any()
    assert (wanted[inside] == 0.0).any()
