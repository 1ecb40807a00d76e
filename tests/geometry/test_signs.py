"""Inside and outside of meshes that fold, cross, repeat or enclose themselves."""

from __future__ import annotations

import numpy as np
import pytest

from handwright.geometry import ExactDistance
from handwright.geometry.mesh.crossings import crossed_faces
from tests.geometry.test_exact import solid_angle_inside
from tools.signs import MESHES, crossings_above, points_around, wrong_signs


@pytest.mark.parametrize("name", MESHES)
def test_every_point_is_on_the_side_that_the_winding_number_says(name):
    wrong = wrong_signs(MESHES[name](), 4_000, seed=1)
    assert wrong.asked > 3_500
    assert wrong[:3] == (0, 0, 0)


@pytest.mark.parametrize("name", ["crumpled", "star", "ball in a cavity", "twice the same"])
def test_the_oracle_agrees_with_solid_angles(name):
    mesh = MESHES[name]()
    points = points_around(mesh, 600, seed=2)
    inside = crossings_above(mesh, points) > 0.5
    assert inside.any()
    assert not inside.all()
    assert np.array_equal(inside, solid_angle_inside(points, mesh))


def test_faces_that_cross_or_lie_on_others_are_found():
    for name, expected in {
        "slivers": 0,
        "cavity": 0,
        "ball in a ball": 0,
        "twice the same": 24,
        "one face twice": 3,
        "star": 16,
    }.items():
        mesh = MESHES[name]()
        found = crossed_faces(mesh.triangles, np.asarray(mesh.faces), 1e-12, 1_000_000)
        assert found.sum() == expected, name


def test_too_many_pairs_of_faces_are_not_looked_at():
    ball = MESHES["cavity"]()
    assert crossed_faces(ball.triangles, np.asarray(ball.faces), 1e-12, 100).all()


def test_where_nothing_crosses_the_winding_number_is_hardly_asked(monkeypatch):
    mesh = MESHES["slivers"]()
    exact = ExactDistance(mesh.vertices, mesh.faces)
    asked = []
    inside = exact._winding.is_inside
    monkeypatch.setattr(
        exact._winding, "is_inside", lambda points: asked.append(len(points)) or inside(points)
    )
    exact.signed_distance(mesh.triangles_center * 0.99)
    assert asked == [0]
