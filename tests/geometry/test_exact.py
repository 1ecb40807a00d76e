"""Exact signed distances and the outer surface of overlapping parts."""

from __future__ import annotations

import igl
import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from handwright.errors import InvalidValueError, MeshError
from handwright.geometry import ExactDistance, outer_surface
from handwright.geometry.distance.sdf_kernels import triangle_squared, triangle_table
from handwright.geometry.mesh.bodies import body_from_mesh


def closest_on_triangle(p, a, b, c):
    """Nearest point by trying the plane, the three edges and the three corners."""
    candidates = [a, b, c]
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        length = edge @ edge
        if length > 0:
            candidates.append(start + np.clip((p - start) @ edge / length, 0, 1) * edge)
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal)
    # Below this the corners lie on a line but for rounding, and the edges are all there is.
    if size > 1e-12 * np.linalg.norm(b - a) * np.linalg.norm(c - a):
        inverse = np.linalg.inv(np.stack([b - a, c - a, normal / size], axis=1))
        v, w, _ = inverse @ (p - a)
        if v >= 0 and w >= 0 and v + w <= 1:
            candidates.append(a + v * (b - a) + w * (c - a))
    return min(candidates, key=lambda q: np.linalg.norm(p - q))


def brute_force(points, mesh):
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.faces)]
    closest = np.array(
        [
            min(
                (closest_on_triangle(p, *triangle) for triangle in corners),
                key=lambda q: np.linalg.norm(p - q),
            )
            for p in points
        ]
    )
    return np.linalg.norm(points - closest, axis=1), closest


def solid_angle_inside(points, mesh):
    """Winding number by summing solid angles (Van Oosterom and Strackee)."""
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.faces)]
    a, b, c = (corners[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    numerator = np.einsum("pfi,pfi->pf", a, np.cross(b, c))
    denominator = (
        la * lb * lc
        + np.einsum("pfi,pfi->pf", a, b) * lc
        + np.einsum("pfi,pfi->pf", b, c) * la
        + np.einsum("pfi,pfi->pf", c, a) * lb
    )
    return np.arctan2(numerator, denominator).sum(axis=1) / (2 * np.pi) > 0.5


def l_shape():
    """A concave solid: an L-shaped prism."""
    outline = [[0, 0], [0.06, 0], [0.06, 0.02], [0.02, 0.02], [0.02, 0.06], [0, 0.06]]
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
    return trimesh.creation.extrude_triangulation(np.array(outline), faces, 0.03)


MESHES = {
    "box": trimesh.creation.box((0.06, 0.05, 0.16)),
    "L": l_shape(),
    "torus": trimesh.creation.torus(0.04, 0.015, major_sections=8, minor_sections=6),
    "sliver": trimesh.creation.cone(0.001, 0.1, sections=5),
}


@pytest.mark.parametrize("name", MESHES)
def test_agrees_with_brute_force(name):
    mesh = MESHES[name]
    rng = np.random.default_rng(7)
    points = rng.uniform(mesh.bounds[0] - 0.01, mesh.bounds[1] + 0.01, size=(40, 3))
    distance, closest, face, normal = ExactDistance(mesh.vertices, mesh.faces).signed_distance(
        points
    )
    expected, _ = brute_force(points, mesh)
    assert_allclose(np.abs(distance), expected, atol=1e-12)
    assert_allclose(np.linalg.norm(points - closest, axis=1), expected, atol=1e-12)
    inside = solid_angle_inside(points, mesh)
    assert inside.sum() > 0 or name == "sliver"
    assert ((distance < 0) == inside).all()
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.faces)[face]]
    for p, q, triangle in zip(points, closest, corners, strict=True):
        assert np.linalg.norm(closest_on_triangle(q, *triangle) - q) < 1e-10
        assert np.linalg.norm(closest_on_triangle(p, *triangle) - p) == pytest.approx(
            np.linalg.norm(p - q), abs=1e-12
        )
    # Moving against the normal by the distance lands on the surface.
    assert_allclose(points - distance[:, None] * normal, closest, atol=1e-12)
    assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-9)


def test_normal_on_the_surface_is_that_of_the_face():
    mesh = MESHES["box"]
    points = mesh.triangles_center
    distance, _, face, normal = ExactDistance(mesh.vertices, mesh.faces).signed_distance(points)
    assert_allclose(distance, 0.0, atol=1e-12)
    assert_allclose(normal, mesh.face_normals[face], atol=1e-9)
    assert (np.einsum("ni,ni->n", normal, points) > 0).all()


def test_trees_are_built_once(monkeypatch):
    built = []

    def counting(kind):
        class Counting:
            def __init__(self):
                self.inner = kind()

            def init(self, *args):
                built.append(kind.__name__)
                self.inner.init(*args)

            def __getattr__(self, name):
                return getattr(self.inner, name)

        return Counting

    monkeypatch.setattr(igl, "AABB", counting(igl.AABB))
    monkeypatch.setattr(igl, "FastWindingNumberBVH", counting(igl.FastWindingNumberBVH))
    mesh = MESHES["torus"]
    exact = ExactDistance(mesh.vertices, mesh.faces)
    points = np.random.default_rng(0).normal(scale=0.03, size=(10, 3))
    first = exact.signed_distance(points)[0]
    assert np.array_equal(exact.signed_distance(points)[0], first)
    assert sorted(built) == ["AABB", "FastWindingNumberBVH"]


def test_one_point_and_no_point():
    mesh = MESHES["box"]
    exact = ExactDistance(mesh.vertices, mesh.faces)
    distance, closest, face, normal = exact.signed_distance(np.array([[0.0, 0.0, 0.1]]))
    assert distance == pytest.approx([0.02])
    assert_allclose(closest, [[0, 0, 0.08]], atol=1e-12)
    assert face.shape == (1,)
    assert_allclose(normal, [[0, 0, 1]], atol=1e-12)
    assert [a.shape for a in exact.signed_distance(np.zeros((0, 3)))] == [
        (0,),
        (0, 3),
        (0,),
        (0, 3),
    ]


def test_works_on_read_only_arrays_and_bodies():
    mesh = MESHES["box"]
    body = body_from_mesh(mesh.vertices, mesh.faces)
    assert not body.vertices.flags.writeable
    exact = ExactDistance.from_body(body)
    assert exact.signed_distance(np.zeros((1, 3)))[0] == pytest.approx([-0.025])


def test_mistakes_are_named():
    mesh = MESHES["box"]
    exact = ExactDistance(mesh.vertices, mesh.faces)
    with pytest.raises(InvalidValueError, match=r"points\[1\]"):
        exact.signed_distance(np.array([[0.0, 0, 0], [np.nan, 0, 0]]))
    with pytest.raises(InvalidValueError, match="faces points to"):
        ExactDistance(mesh.vertices, np.array([[0, 1, 99]]))
    with pytest.raises(InvalidValueError, match="not finite"):
        ExactDistance(np.full((3, 3), np.nan), np.array([[0, 1, 2]]))
    with pytest.raises(InvalidValueError, match="shape"):
        ExactDistance(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))


@given(seed=st.integers(0, 2**32 - 1), flat=st.sampled_from([1.0, 1e-3, 1e-9, 0.0]))
@settings(max_examples=150, deadline=None)
def test_triangle_kernel_agrees_with_the_oracle(seed, flat):
    rng = np.random.default_rng(seed)
    a, b, c, p = rng.normal(size=(4, 3))
    # From a proper triangle to a degenerate one whose corners lie on a line.
    c = a + rng.uniform(-1, 2) * (b - a) + flat * (c - a)
    squared = triangle_squared(triangle_table(np.array([[a, b, c]])), 0, *p)
    expected = np.linalg.norm(p - closest_on_triangle(p, a, b, c))
    assert np.sqrt(squared) == pytest.approx(expected, abs=1e-6)


def test_triangle_kernel_on_a_single_point():
    table = triangle_table(np.ones((1, 3, 3)))
    assert triangle_squared(table, 0, 1.0, 1.0, 3.0) == pytest.approx(4.0)


def box_at(size, center, rotation=None):
    box = trimesh.creation.box(size)
    if rotation is not None:
        box.apply_transform(np.block([[rotation, np.zeros((3, 1))], [np.zeros((1, 3)), 1.0]]))
    box.apply_translation(center)
    return box


def test_separate_parts_come_back_untouched():
    both = trimesh.util.concatenate([box_at((1, 1, 1), (0, 0, 0)), box_at((1, 1, 1), (3, 0, 0))])
    surface = outer_surface(both.vertices, both.faces)
    assert not surface.is_cut
    assert np.array_equal(surface.faces, both.faces)
    assert np.array_equal(surface.source, np.arange(len(both.faces)))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_union_of_two_boxes_has_the_distance_of_the_union(seed):
    rng = np.random.default_rng(seed)
    turn = Rotation.random(rng=rng).as_matrix()
    first = box_at((0.05, 0.04, 0.03), (0.0, 0.0, 0.0))
    second = box_at((0.02, 0.02, 0.06), rng.uniform(-0.02, 0.02, 3), turn)
    both = trimesh.util.concatenate([first, second])
    exact = ExactDistance(both.vertices, both.faces)
    points = rng.uniform(-0.05, 0.05, size=(150, 3))
    distance, _, face, _ = exact.signed_distance(points)
    one = ExactDistance(first.vertices, first.faces).signed_distance(points)[0]
    two = ExactDistance(second.vertices, second.faces).signed_distance(points)[0]
    outside = (one > 0) & (two > 0)
    assert ((distance > 0) == outside).all()
    assert_allclose(distance[outside], np.minimum(one, two)[outside], atol=1e-4)
    # Inside, the union is at least as deep as its deeper part, and its surface holds no point
    # that is inside the other part: sample the boundary of the union to see how deep it is.
    assert (distance[~outside] <= np.minimum(one, two)[~outside] + 1e-4).all()
    samples = union_boundary(first, second)
    nearest = np.linalg.norm(points[~outside, None] - samples[None], axis=2).min(axis=1)
    assert_allclose(-distance[~outside], nearest, atol=1.5e-3)
    assert (face < len(both.faces)).all()


def union_boundary(first, second):
    """Points of each box that are not in the other, about 1 mm apart."""
    kept = []
    for mesh, other in ((first, second), (second, first)):
        points = []
        for a, b, c in mesh.triangles:
            count = int(np.ceil(max(np.linalg.norm(b - a), np.linalg.norm(c - a)) / 0.001))
            v, w = (x.ravel() / count for x in np.meshgrid(*[np.arange(count + 1)] * 2))
            inside = v + w <= 1 + 1e-9
            points.append(a + v[inside, None] * (b - a) + w[inside, None] * (c - a))
        points = np.concatenate(points)
        kept.append(points[~solid_angle_inside(points, other)])
    return np.concatenate(kept)


def test_flush_faces_leave_one_solid():
    # Two boxes that touch along a whole face, opposite orientations there.
    stacked = trimesh.util.concatenate(
        [box_at((0.02, 0.02, 0.02), (0, 0, 0.01)), box_at((0.02, 0.02, 0.02), (0, 0, -0.01))]
    )
    exact = ExactDistance(stacked.vertices, stacked.faces)
    distance = exact.signed_distance(np.array([[0, 0, 0.001], [0.001, 0, -0.002], [0, 0, 0.019]]))
    assert_allclose(distance[0], [-0.01, -0.009, -0.001], atol=1e-4)


def test_flush_overlapping_parts_keep_their_common_faces():
    # The sides of the two boxes lie in the same planes, oriented alike.
    row = trimesh.util.concatenate(
        [box_at((0.03, 0.02, 0.02), (0, 0, 0)), box_at((0.03, 0.02, 0.02), (0.02, 0, 0))]
    )
    surface = outer_surface(row.vertices, row.faces)
    assert surface.is_cut
    assert len(surface.faces) < 50_000
    exact = ExactDistance(row.vertices, row.faces)
    points = np.array([[0.01, 0.0, 0.004], [0.01, 0.001, 0.012], [0.005, 0.0, 0.0]])
    assert_allclose(exact.signed_distance(points)[0], [-0.006, 0.002, -0.01], atol=1e-6)


def test_vertices_repeated_in_every_face_still_make_parts():
    torn = box_at((0.02, 0.02, 0.02), (0, 0, 0))
    second = box_at((0.01, 0.01, 0.05), (0, 0, 0.01))
    both = trimesh.util.concatenate([torn, second])
    corners = both.triangles.reshape(-1, 3)
    exact = ExactDistance(corners, np.arange(len(corners)).reshape(-1, 3))
    whole = ExactDistance(both.vertices, both.faces)
    points = np.random.default_rng(0).uniform(-0.02, 0.02, size=(50, 3))
    assert_allclose(exact.signed_distance(points)[0], whole.signed_distance(points)[0], atol=1e-9)


def test_two_solids_turned_inside_out_have_no_surface():
    inverted = trimesh.util.concatenate(
        [box_at((0.02, 0.02, 0.02), (0, 0, 0)), box_at((0.02, 0.02, 0.02), (0.01, 0, 0))]
    )
    inverted.invert()
    with pytest.raises(MeshError, match="no outside"):
        ExactDistance(inverted.vertices, inverted.faces)


def test_points_beyond_a_sharp_edge_and_out_of_the_box_are_outside():
    # Behind an edge of ten degrees both faces look away from many points that are nearest to it.
    angle = np.radians(10.0)
    triangle = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1 * np.tan(angle)]])
    low, high = (np.column_stack([triangle, np.full(3, z)]) for z in (0.0, 0.05))
    sides = [(0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5)]
    faces = np.array([(0, 2, 1), (3, 4, 5), *sides])
    wedge = ExactDistance(np.concatenate([low, high]), faces)
    rng = np.random.default_rng(0)
    points = rng.uniform([-0.05, -0.05, 0.0], [-0.001, 0.05, 0.05], (500, 3))
    distance, closest, face, _ = wedge.signed_distance(points)
    looks_away = np.einsum("ni,ni->n", points - closest, wedge.face_normals(face)) < 0.0
    assert looks_away.any()
    assert np.all(distance > 0.0)
