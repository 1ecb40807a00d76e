"""Unions of overlapping parts: exact where manifold3d takes them, in pieces where it does not."""

from __future__ import annotations

import igl
import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from handwright.geometry import ExactDistance, outer_surface
from handwright.geometry.mesh.inertia import signed_volume
from handwright.geometry.mesh.outer_surface import SEAM_TOLERANCE, _others_by_part, _parts, _pieced

TILT = Rotation.from_rotvec([0.3, 0.5, 0.7]).as_matrix()


def box_at(size, center, rotation=None):
    box = trimesh.creation.box(size)
    vertices = box.vertices + center
    return trimesh.Trimesh(
        vertices if rotation is None else vertices @ rotation.T, box.faces, process=False
    )


def together(*meshes):
    return trimesh.util.concatenate(meshes)


def hammer():
    """A round handle that ends in the middle of a round head."""
    head = trimesh.creation.cylinder(0.014, 0.1, sections=48)
    handle = trimesh.creation.cylinder(0.01, 0.25, sections=40)
    handle.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, (0, 1, 0)))
    handle.apply_translation((0.125, 0.0005, 0.003))
    return together(head, handle)


OVERLAPPING = {
    "boxes": together(
        box_at((0.06, 0.06, 0.16), (0, 0, 0)), box_at((0.02, 0.02, 0.1), (0, 0, 0.06))
    ),
    "tilted boxes": together(
        box_at((0.05, 0.04, 0.03), (0, 0, 0)), box_at((0.02, 0.02, 0.06), (0.01, 0, 0.01), TILT)
    ),
    "flush": together(
        box_at((0.02, 0.02, 0.02), (0, 0, 0.01)),
        box_at((0.013, 0.011, 0.02), (0.001, 0.002, -0.01)),
    ),
    "hammer": hammer(),
}


@pytest.mark.parametrize("mesh", OVERLAPPING.values(), ids=OVERLAPPING.keys())
def test_the_surface_of_a_union_is_closed_and_lies_in_its_sources(mesh):
    surface = outer_surface(mesh.vertices, mesh.faces)
    assert surface.is_cut
    assert surface.is_exact
    assert igl.is_edge_manifold(surface.faces)[0]
    assert len(igl.boundary_facets(surface.faces)[0]) == 0
    # Every piece lies in the plane of the face that it comes from and faces the same way.
    normal = mesh.face_normals[surface.source]
    corners = surface.vertices[surface.faces]
    height = np.einsum("nci,ni->nc", corners - mesh.triangles[surface.source][:, :1], normal)
    assert np.abs(height).max() < 1e-9
    own = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.einsum("ni,ni->n", own, normal).min() > -1e-15


def test_volumes_are_those_of_the_unions():
    wanted = {
        "boxes": 0.06 * 0.06 * 0.16 + 0.02 * 0.02 * 0.03,
        "flush": 0.02**3 + 0.013 * 0.011 * 0.02,
    }
    for name, volume in wanted.items():
        surface = outer_surface(OVERLAPPING[name].vertices, OVERLAPPING[name].faces)
        assert signed_volume(surface.vertices, surface.faces) == pytest.approx(volume, rel=1e-9)


@pytest.mark.parametrize("name", ["boxes", "tilted boxes", "hammer"])
def test_the_exact_union_and_the_pieces_are_the_same_surface(name):
    mesh = OVERLAPPING[name]
    vertices, faces = np.array(mesh.vertices), np.array(mesh.faces, dtype=np.int64)
    exact, part = outer_surface(vertices, faces), _parts(faces)
    near = _others_by_part(vertices, faces, part)
    pieces = _pieced(vertices, faces, part, near, SEAM_TOLERANCE)
    assert not pieces.is_exact
    rng = np.random.default_rng(0)
    points = rng.uniform(vertices.min(axis=0) - 0.02, vertices.max(axis=0) + 0.02, (2000, 3))
    found = []
    for surface in (exact, pieces):
        tree = igl.AABB()
        tree.init(surface.vertices, surface.faces)
        found.append(np.sqrt(tree.squared_distance(surface.vertices, surface.faces, points)[0]))
    assert_allclose(found[0], found[1], atol=2 * SEAM_TOLERANCE)


@pytest.mark.parametrize("gap", [1e-12, 1e-9, 1e-7, 2e-6])
@pytest.mark.parametrize("rotation", [None, TILT], ids=["upright", "tilted"])
def test_parts_that_touch_almost_are_one_solid(gap, rotation):
    """A wall across the middle would make a point there lie on the surface."""
    below = box_at((0.013, 0.011, 0.02), (0.001, 0.002, -0.01 - gap), rotation)
    mesh = together(box_at((0.02, 0.02, 0.02), (0, 0, 0.01), rotation), below)
    point = np.array([[0.001, 0.002, 1e-4]])
    middle = point if rotation is None else point @ rotation.T
    distance = ExactDistance(mesh.vertices, mesh.faces).signed_distance(middle)[0]
    assert_allclose(distance, [-0.0055], atol=1.5e-4)


def test_parts_rounded_to_single_precision_are_one_solid():
    mesh = OVERLAPPING["flush"]
    vertices = (mesh.vertices @ TILT.T).astype(np.float32).astype(np.float64)
    middle = np.array([[0.001, 0.002, 1e-4]]) @ TILT.T
    distance = ExactDistance(vertices, mesh.faces).signed_distance(middle)[0]
    assert_allclose(distance, [-0.0055], atol=1.5e-4)


def test_crossed_bars_that_touch_almost_are_one_solid():
    mesh = together(
        box_at((0.3, 0.02, 0.02), (0, 0, 0.01)), box_at((0.02, 0.3, 0.02), (0, 0, -0.01 - 1e-9))
    )
    distance = ExactDistance(mesh.vertices, mesh.faces).signed_distance(np.array([[0, 0, 1e-4]]))
    assert_allclose(distance[0], [-0.01], atol=1.5e-4)


def test_a_gap_that_can_be_seen_is_kept():
    mesh = together(box_at((0.02,) * 3, (0, 0, 0.01)), box_at((0.02,) * 3, (0, 0, -0.0101)))
    distance = ExactDistance(mesh.vertices, mesh.faces).signed_distance(np.array([[0, 0, -5e-5]]))
    assert_allclose(distance[0], [5e-5], atol=1e-9)


def test_a_bar_through_a_cavity_fills_it_in_part():
    shell, cavity = box_at((0.06,) * 3, (0, 0, 0)), box_at((0.04,) * 3, (0, 0, 0))
    cavity.invert()
    mesh = together(shell, cavity, box_at((0.01, 0.01, 0.1), (0, 0, 0)))
    surface = outer_surface(mesh.vertices, mesh.faces)
    assert surface.is_exact
    wanted = 0.06**3 - 0.04**3 + 0.01**2 * (0.04 + 0.04)
    assert signed_volume(surface.vertices, surface.faces) == pytest.approx(wanted, rel=1e-9)
    points = np.array([[0, 0, 0], [0.012, 0, 0], [0.025, 0, 0]])
    distance = ExactDistance(mesh.vertices, mesh.faces).signed_distance(points)[0]
    assert_allclose(distance, [-0.005, 0.007, -0.005], atol=1e-9)


def test_a_cavity_across_two_parts_is_cut_in_pieces():
    cavity = box_at((0.04, 0.01, 0.01), (0, 0, 0))
    cavity.invert()
    mesh = together(
        box_at((0.04, 0.04, 0.04), (-0.02, 0, 0)), box_at((0.04, 0.04, 0.04), (0.02, 0, 0)), cavity
    )
    surface = outer_surface(mesh.vertices, mesh.faces)
    assert not surface.is_exact
    distance = ExactDistance(mesh.vertices, mesh.faces).signed_distance(np.array([[0.01, 0, 0]]))
    assert_allclose(distance[0], [0.005], atol=1e-4)


def test_an_open_part_is_cut_in_pieces():
    mesh = OVERLAPPING["boxes"]
    surface = outer_surface(mesh.vertices, mesh.faces[:-1])
    assert surface.is_cut
    assert not surface.is_exact


def test_parts_beside_a_union_stay_as_they_are():
    far = box_at((0.02,) * 3, (0.5, 0, 0))
    mesh = together(far, OVERLAPPING["boxes"])
    surface = outer_surface(mesh.vertices, mesh.faces)
    untouched = surface.source < len(far.faces)
    assert np.array_equal(surface.source[untouched], np.arange(len(far.faces)))
    assert_allclose(surface.vertices[surface.faces[untouched]], far.triangles, atol=0.0)


def test_unions_are_the_same_every_time():
    mesh = OVERLAPPING["hammer"]
    first, second = (outer_surface(mesh.vertices, mesh.faces) for _ in range(2))
    assert np.array_equal(first.vertices, second.vertices)
    assert np.array_equal(first.faces, second.faces)
    assert np.array_equal(first.source, second.source)
