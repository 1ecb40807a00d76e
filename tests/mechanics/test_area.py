"""Proxy points of contacts near sharp edges."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.geometry.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.mechanics import area_contacts, edge_distance, force_contacts, least_forces

BOX = make_shape("box")
TOP = BOX.bounds[1]
DOWN = np.array([0.0, 0.0, -1.0])


def on_top(inset):
    """A point of the upper face so far from the edge at highest x."""
    return np.array([TOP[0] - inset, 0.0, TOP[2]])


def test_a_contact_near_an_edge_reaches_both_faces():
    area = area_contacts(np.array([on_top(0.002)]), DOWN[None], BOX, radius=0.004, count=8)
    np.testing.assert_array_equal(area.points[0], on_top(0.002))
    distance, *_ = ExactDistance.from_body(BOX).signed_distance(area.points)
    np.testing.assert_allclose(distance, 0.0, atol=1e-9)
    across = np.abs(area.normals @ [-1.0, 0.0, 0.0] - 1.0) < 1e-9
    same = np.abs(area.normals @ DOWN - 1.0) < 1e-9
    assert across.sum() >= 2
    assert same.sum() >= 3
    assert np.all(across | same)
    np.testing.assert_allclose(area.points[across, 0], TOP[0], atol=1e-9)
    assert np.linalg.norm(area.points - area.points[0], axis=1).max() <= 0.006 + 1e-12


def test_only_contacts_near_edges_are_spread():
    points = np.array([on_top(0.002), on_top(TOP[0]), on_top(0.0041)])
    np.testing.assert_allclose(edge_distance(points, BOX)[[0, 2]], [0.002, 0.0041], atol=1e-12)
    area = area_contacts(points, np.tile(DOWN, (3, 1)), BOX, radius=0.004, count=6)
    counts = np.bincount(area.owner)
    assert counts[0] > 3
    np.testing.assert_array_equal(counts[1:], 1)
    assert np.all(np.diff(area.owner) >= 0)
    total = area.gathered(np.ones((len(area.points), 3)))
    np.testing.assert_array_equal(total[:, 0], counts)


def test_a_body_without_edges_is_left_alone():
    ball = make_shape("sphere")
    point = ball.vertices[:1]
    normal = -point / np.linalg.norm(point)
    area = area_contacts(point, normal, ball)
    np.testing.assert_array_equal(area.points, point)
    assert np.isinf(edge_distance(point, ball)).all()


def test_two_edges_hold_what_two_points_cannot():
    """Fingers at opposite upper edges: the normals of the side faces make it a pinch."""
    points = np.array([on_top(0.002), on_top(0.002) * [-1.0, 1.0, 1.0]])
    normals = np.tile(DOWN, (2, 1))
    lift = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    plain = least_forces(force_contacts(points, normals, friction=0.8), lift)
    area = area_contacts(points, normals, BOX, count=8)
    wide = least_forces(force_contacts(area.points, area.normals, friction=0.8), lift)
    assert not plain.is_feasible
    assert wide.is_feasible
    np.testing.assert_allclose(area.gathered(wide.forces).sum(axis=0), lift[:3], atol=1e-5)


def test_nonsense_is_refused():
    with pytest.raises(InvalidValueError, match="shapes"):
        area_contacts(np.zeros((2, 3)), np.zeros((1, 3)), BOX)
    with pytest.raises(InvalidValueError, match="radius"):
        area_contacts(np.zeros((1, 3)), DOWN[None], BOX, radius=0.0)
    with pytest.raises(InvalidValueError, match="NaN"):
        area_contacts(np.full((1, 3), np.nan), DOWN[None], BOX)
