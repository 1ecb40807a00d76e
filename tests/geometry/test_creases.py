"""Creases and normals for shading."""

from __future__ import annotations

import math

import numpy as np
import pytest

from handwright.errors import InvalidValueError
from handwright.geometry.mesh.creases import split_at_creases
from handwright.geometry.mesh.normals import area_normals
from handwright.geometry.shapes import make_shape
from handwright.geometry.shapes.surfaces import capsule_mesh


def normals_of(vertices, faces):
    normals = np.full(vertices.shape, 7.0)
    area_normals(vertices, faces, normals)
    return normals


def test_a_box_keeps_its_edges():
    box = make_shape("box")
    copied, faces = split_at_creases(box.vertices, box.faces)
    assert len(copied) == 24
    np.testing.assert_array_equal(box.vertices[copied][faces], box.vertices[box.faces])
    normals = normals_of(box.vertices[copied], faces)
    np.testing.assert_allclose(np.abs(normals).max(axis=1), 1.0)
    a, b, c = np.moveaxis(box.vertices[copied][faces], 1, 0)
    flat = np.cross(b - a, c - a)
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    np.testing.assert_allclose(normals[faces], np.repeat(flat[:, None], 3, axis=1), atol=1e-12)


def test_a_ball_is_smooth_unless_told_otherwise():
    vertices, faces = capsule_mesh(np.zeros(3), np.zeros(3), 0.03)
    copied, split = split_at_creases(vertices, faces)
    assert len(copied) == len(vertices)
    normals = normals_of(vertices[copied], split)
    outward = vertices[copied] / np.linalg.norm(vertices[copied], axis=1, keepdims=True)
    assert np.einsum("vi,vi->v", normals, outward).min() > 0.99
    copied, split = split_at_creases(vertices, faces, 0.0)
    assert len(copied) > 2 * len(vertices)
    facets = normals_of(vertices[copied], split)[split]
    np.testing.assert_allclose(facets[:, 0], facets[:, 1])


def test_copies_move_with_the_surface():
    box = make_shape("box")
    copied, faces = split_at_creases(box.vertices, box.faces)
    moved = box.vertices * [1.0, 2.0, 0.5] + 0.3
    np.testing.assert_array_equal(moved[copied][faces], moved[box.faces])


def test_faces_without_area_leave_a_normal_that_points_up():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    np.testing.assert_array_equal(
        normals_of(vertices, np.array([[0, 1, 2]])), np.tile([0.0, 0.0, 1.0], (3, 1))
    )


@pytest.mark.parametrize("length", [0.0, 0.05])
def test_a_capsule_mesh_is_closed_and_has_its_radius(length):
    start = np.array([0.1, 0.2, 0.3])
    end = start + length * np.array([0.6, 0, -0.8])
    vertices, faces = capsule_mesh(start, end, 0.02)
    axis = end - start
    along = np.clip((vertices - start) @ axis / max(length**2, 1e-12), 0.0, 1.0)
    gap = np.linalg.norm(vertices - start - along[:, None] * axis, axis=1)
    assert np.allclose(gap, 0.02, atol=1e-12)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there, back = ({tuple(edge) for edge in e.tolist()} for e in (edges, edges[:, ::-1]))
    assert len(there) == len(edges)
    assert there == back
    a, b, c = (vertices[faces[:, i]] - start for i in range(3))
    volume = float(np.einsum("fi,fi->f", a, np.cross(b, c)).sum()) / 6.0
    exact = math.pi * 0.02**2 * length + 4.0 / 3.0 * math.pi * 0.02**3
    assert 0.96 * exact < volume < exact


def test_fewer_triangles_on_request_and_no_radius_is_refused():
    fine, coarse = (
        len(capsule_mesh(np.zeros(3), np.ones(3), 0.1, num_around=n, num_rings=r)[1])
        for n, r in ((32, 8), (20, 5))
    )
    assert coarse < 0.5 * fine
    with pytest.raises(InvalidValueError, match=r"radius is 0\.0 m"):
        capsule_mesh(np.zeros(3), np.ones(3), 0.0)
