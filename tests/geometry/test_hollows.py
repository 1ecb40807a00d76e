"""Bodies whose hollows are filled: solid inside, open where lines go through, exact outside."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import sample_field
from handwright.geometry.distance.sdf_build import signed_distance_field
from handwright.geometry.mesh.rays import RayCaster
from handwright.geometry.regions.hollows import filled_field, is_hollow
from handwright.geometry.shapes import make_shape


@pytest.fixture(scope="module")
def mug():
    body = make_shape("mug")
    field = signed_distance_field(body, spacing=1.2e-3)
    return body, field, filled_field(body, field)


def points_around(body, count=4000):
    low, high = body.vertices.min(axis=0) - 0.01, body.vertices.max(axis=0) + 0.01
    return np.random.default_rng(1).uniform(low, high, size=(count, 3))


def test_a_solid_body_keeps_its_grid():
    body = make_shape("box")
    field = signed_distance_field(body)
    assert filled_field(body, field) is field


def test_the_inside_of_a_mug_is_filled_and_walls_have_no_middle(mug):
    body, field, filled = mug
    points = points_around(body)
    before, after = sample_field(field, points)[0], sample_field(filled, points)[0]
    gone = (before > 3e-3) & (after < -3e-3)
    assert gone.sum() > 200
    # Filling takes room away and gives none.
    assert np.all(after <= before + field.spacing)
    away = np.zeros((int(gone.sum()), 3))
    away[:, 0] = 1.0
    assert is_hollow(RayCaster(body), points[gone], away).all()


def test_from_outside_a_filled_mug_is_the_mug(mug):
    body, field, filled = mug
    points = points_around(body)
    exact = ExactDistance.from_body(body).signed_distance(points)[0]
    # Below the rim, and thereby far from the lid.
    near = (exact > 1e-3) & (exact < 8e-3) & (points[:, 2] < body.vertices[:, 2].max() - 0.01)
    points, exact = points[near], exact[near]
    away = ExactDistance.from_body(body).signed_distance(points)[3]
    outside = ~is_hollow(RayCaster(body), points, away)
    assert outside.sum() > 100
    missed = np.abs(sample_field(filled, points[outside])[0] - exact[outside])
    assert np.percentile(missed, 99.0) < 0.5 * field.spacing


def test_the_eye_of_a_ring_stays_open():
    body = make_shape("torus")
    points = np.zeros((1, 3)) + body.center
    assert ExactDistance.from_body(body).signed_distance(points)[0][0] > 0.0
    assert not is_hollow(RayCaster(body), points, np.array([[1.0, 0.0, 0.0]])).any()
