"""Normals and areas of faces."""

from __future__ import annotations

import numpy as np

from handwright.geometry.mesh.normals import area_normals, face_areas, face_normals
from handwright.geometry.shapes import make_shape


def test_normals_of_a_triangle_follow_its_corners_anticlockwise():
    corners = np.array([[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]])
    np.testing.assert_allclose(face_normals(corners), [[0.0, 0.0, 1.0]])
    np.testing.assert_allclose(face_normals(corners[:, ::-1]), [[0.0, 0.0, -1.0]])
    np.testing.assert_allclose(face_areas(corners), [3.0])


def test_a_face_without_area_has_no_normal():
    corners = np.array([[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]])
    np.testing.assert_array_equal(face_normals(corners), np.zeros((1, 3)))
    np.testing.assert_array_equal(face_areas(corners), [0.0])


def test_normals_of_a_closed_body_point_out_of_it_and_areas_cancel():
    body = make_shape("box")
    corners = body.vertices[body.faces]
    normals, areas = face_normals(corners), face_areas(corners)
    outward = corners.mean(axis=1) - body.vertices.mean(axis=0)
    assert (np.einsum("fi,fi->f", normals, outward) > 0.0).all()
    np.testing.assert_allclose(areas @ normals, np.zeros(3), atol=1e-12)


def test_normals_at_vertices_are_those_of_the_faces_weighed_by_area():
    body = make_shape("box")
    faces = np.ascontiguousarray(body.faces, dtype=np.int64)
    found = np.zeros((len(body.vertices), 3))
    area_normals(np.ascontiguousarray(body.vertices), faces, found)
    corners = body.vertices[faces]
    expected = np.zeros_like(found)
    weighed = face_areas(corners)[:, None] * face_normals(corners)
    for column in faces.T:
        np.add.at(expected, column, weighed)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-12)
