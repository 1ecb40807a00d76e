"""Hollow bodies with thin walls: fingers stay on the side of the wall that they come from."""

from __future__ import annotations

import numpy as np
import pytest

import handwright as hw
from handwright.geometry.distance.exact import ExactDistance
from handwright.grasping.grip_styles import grip_style
from handwright.grasping.search import GraspSearch
from handwright.grasping.task import GraspOptions, GraspTask


@pytest.fixture(scope="module")
def glass() -> hw.RigidBody:
    return hw.make_shape("wine_glass")


@pytest.fixture(scope="module")
def across_the_wall(glass) -> tuple[np.ndarray, float]:
    """Points through the wall of the bowl from outside, 0.1 mm apart, and its thickness, m."""
    radii = np.arange(0.045, 0.030, -1e-4)
    points = np.column_stack([radii, np.zeros_like(radii), np.full_like(radii, 0.05)])
    exact = ExactDistance.from_body(glass).signed_distance(points)[0]
    return points, -2.0 * float(exact.min())


def test_distances_fall_all_the_way_through_a_thin_wall(glass, across_the_wall):
    points, wall = across_the_wall
    assert 1e-3 < wall < 2e-3
    search = GraspSearch.prepare(
        GraspTask(
            hw.human("right"),
            glass,
            grip_style("precision"),
            hw.Pose.identity(),
            None,
            (),
            GraspOptions(),
        )
    )
    assert isinstance(search, GraspSearch)
    for problem in (search.coarse, search.fine):
        gap, outward = problem.distances(points)
        # Every point is deeper than the one before it, and the way out is back where it came from.
        assert (np.diff(gap) < 0.0).all()
        assert gap.min() < -2.0 * wall
        assert (outward[:, 0] > 0.9).all()
    # The exact ones tell where the outer surface is.
    gap = search.fine.distances(points)[0]
    exact = ExactDistance.from_body(glass).signed_distance(points)[0]
    near = np.abs(exact) < 3e-4
    before_the_middle = np.arange(len(points)) < int(exact.argmin())
    np.testing.assert_allclose(
        gap[near & before_the_middle], exact[near & before_the_middle], atol=1e-9
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_a_glass_is_held_by_its_outside_from_few_start_poses(glass, seed):
    grasp = hw.find_grasp(
        hw.human("left"), glass, "precision", options=hw.GraspOptions(num_starts=6), seed=seed
    )
    assert not isinstance(grasp, hw.NoGrasp), grasp.reason
    for contact in grasp.contacts:
        assert contact.inward[:2] @ contact.body_point[:2] < 0.0
