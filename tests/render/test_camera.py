"""Directions of the camera, and how far it goes back to see everything."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handwright.render.camera import Camera


@pytest.mark.parametrize("azimuth", [-2.0, 0.0, 1.0, 3.0])
@pytest.mark.parametrize("elevation", [-1.2, 0.0, 0.7])
def test_axes_are_a_right_handed_frame_that_looks_from_where_it_is_told(azimuth, elevation):
    right, up, back = axes = Camera(azimuth=azimuth, elevation=elevation).axes()
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert math.atan2(back[1], back[0]) == pytest.approx(azimuth)
    assert math.asin(back[2]) == pytest.approx(elevation)
    assert right[2] == 0.0
    assert up[2] > 0.0


def test_seen_from_the_front_the_right_is_to_the_right():
    np.testing.assert_allclose(Camera(azimuth=0.0, elevation=0.0).axes()[0], [0.0, 1.0, 0.0])


def test_everything_is_within_the_picture_and_something_touches_its_border():
    camera = Camera(margin=0.1)
    points = np.random.default_rng(0).normal(size=(50, 3))
    target, distance = camera.placed(points, aspect=1.5)
    right, up, back = camera.axes() @ (points - target).T
    tangent = math.tan(0.5 * camera.field_of_view)
    share = np.maximum(np.abs(up) / tangent, np.abs(right) / (1.5 * tangent)) / (distance - back)
    assert share.max() == pytest.approx(0.8)
