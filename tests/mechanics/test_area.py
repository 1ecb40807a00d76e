"""Faces beside contacts at sharp edges."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.shapes import make_shape
from handwright.mechanics import edge_distance, edge_sides, force_contacts, least_forces

BOX = make_shape("box")
EXACT = ExactDistance.from_body(BOX)
TOP = BOX.bounds[1]
DOWN, LEFT = np.array([0.0, 0.0, -1.0]), np.array([-1.0, 0.0, 0.0])


def on_top(inset):
    """A point of the upper face so far from the edge at highest x."""
    return np.array([TOP[0] - inset, 0.0, TOP[2]])


def test_a_contact_near_an_edge_touches_the_other_face_too():
    sides = edge_sides(on_top(3e-4)[None], DOWN[None], np.zeros(1), EXACT, touching=1e-3)
    np.testing.assert_array_equal(sides.owner, [0])
    np.testing.assert_allclose(sides.normals, LEFT[None], atol=1e-12)
    np.testing.assert_allclose(EXACT.signed_distance(sides.points)[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(sides.points[0, 0], TOP[0], atol=1e-9)
    # A flat toucher on the upper face is as far from the side as the point lies below it.
    np.testing.assert_allclose(sides.gap, TOP[2] - sides.points[:, 2], atol=1e-12)


@pytest.mark.parametrize(("inset", "count"), [(0.00095, 1), (0.00105, 0)])
@pytest.mark.parametrize("noise", [0.0, 1e-12, -1e-12])
def test_faces_count_within_a_millimetre_straight_across_the_edge(inset, count, noise):
    normal = DOWN + np.array([noise, -noise, 0.0])
    sides = edge_sides(on_top(inset)[None], normal[None], np.zeros(1), EXACT, touching=1e-3)
    assert len(sides.owner) == count
    np.testing.assert_allclose(sides.points[:, 1], 0.0, atol=1e-9)


def test_a_contact_on_the_edge_itself_touches_both_faces():
    diagonal = (DOWN + LEFT) / np.sqrt(2.0)
    sides = edge_sides(on_top(0.0)[None], diagonal[None], np.zeros(1), EXACT, touching=1e-3)
    assert len(sides.owner) == 2
    for normal in (DOWN, LEFT):
        assert (np.abs(sides.normals - normal).max(axis=1) < 1e-12).sum() == 1


def test_a_face_that_is_not_touched_does_not_count():
    at = (on_top(3e-4)[None], DOWN[None])
    assert len(edge_sides(*at, np.zeros(1), EXACT, touching=3e-4).owner) == 0
    assert len(edge_sides(*at, np.full(1, 8e-4), EXACT, touching=1e-3).owner) == 0
    # One that is pressed in is.
    assert len(edge_sides(*at, np.full(1, -3e-4), EXACT, touching=3e-4).owner) == 1


def test_only_contacts_at_edges_have_sides():
    points = np.array([on_top(0.002), on_top(3e-4), on_top(TOP[0]), [TOP[0] - 1e-4, TOP[1], 0.0]])
    normals = np.array([DOWN, DOWN, DOWN, [0.0, -1.0, 0.0]])
    np.testing.assert_allclose(edge_distance(points, BOX)[:2], [0.002, 3e-4], atol=1e-12)
    sides = edge_sides(points, normals, np.zeros(4), EXACT, touching=1e-3)
    np.testing.assert_array_equal(sides.owner, [1, 3])


def test_a_round_body_has_none():
    ball = make_shape("sphere")
    points = ball.vertices[:50]
    normals = -points / np.linalg.norm(points, axis=1, keepdims=True)
    sides = edge_sides(points, normals, np.zeros(50), ExactDistance.from_body(ball), touching=1e-3)
    assert len(sides.owner) == 0
    assert np.isinf(edge_distance(points, ball)).all()


def test_two_edges_hold_what_two_points_cannot():
    """Fingers at opposite upper edges: the normals of the side faces make it a pinch."""
    points = np.array([on_top(3e-4), on_top(3e-4) * [-1.0, 1.0, 1.0]])
    normals = np.tile(DOWN, (2, 1))
    lift = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    plain = least_forces(force_contacts(points, normals, friction=0.8), lift)
    sides = edge_sides(points, normals, np.zeros(2), EXACT, touching=1e-3)
    points, normals = (
        np.concatenate([points, sides.points]),
        np.concatenate([normals, sides.normals]),
    )
    wide = least_forces(force_contacts(points, normals, friction=0.8), lift)
    assert not plain.is_feasible
    assert wide.is_feasible


def test_nonsense_is_refused():
    one = DOWN[None]
    with pytest.raises(InvalidValueError, match="shapes"):
        edge_sides(np.zeros((2, 3)), one, np.zeros(2), EXACT, touching=1e-3)
    with pytest.raises(InvalidValueError, match="gap has shape"):
        edge_sides(np.zeros((1, 3)), one, np.zeros(2), EXACT, touching=1e-3)
    with pytest.raises(InvalidValueError, match="NaN"):
        edge_sides(np.full((1, 3), np.nan), one, np.zeros(1), EXACT, touching=1e-3)
