"""Mass properties against formulas, against trimesh and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from handwright.errors import InvalidValueError
from handwright.geometry.mesh.inertia import (
    MassProperties,
    combine,
    grid_properties,
    shell_properties,
    solid_properties,
    union_properties,
)
from handwright.geometry.shapes.surfaces import cube_grid, extrude, icosphere

LENGTHS = st.floats(0.005, 0.3)
OFFSETS = st.floats(-2.0, 2.0)


def brick(a, b, c):
    x, y = a / 2, b / 2
    return extrude(np.array([(-x, -y), (x, -y), (x, y), (-x, y)]), height=c)


def brick_inertia(mass, a, b, c):
    return mass / 12.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])


def rotation(axis_angle):
    return trimesh.transformations.rotation_matrix(
        np.linalg.norm(axis_angle) + 1e-12, np.asarray(axis_angle) + 1e-12
    )[:3, :3]


@given(a=LENGTHS, b=LENGTHS, c=LENGTHS, shift=st.tuples(OFFSETS, OFFSETS, OFFSETS))
def test_solid_brick_is_exact_wherever_it_stands(a, b, c, shift):
    vertices, faces = brick(a, b, c)
    found = solid_properties(vertices + shift, faces, density=700.0)
    assert found.mass == pytest.approx(700.0 * a * b * c, rel=1e-9)
    np.testing.assert_allclose(found.center, shift, atol=1e-12)
    expected = brick_inertia(found.mass, a, b, c)
    np.testing.assert_allclose(found.inertia, expected, atol=1e-9 * expected.max())


@given(turn=st.tuples(*[st.floats(-3.0, 3.0)] * 3))
def test_inertia_turns_with_the_body(turn):
    vertices, faces = brick(0.03, 0.07, 0.2)
    R = rotation(turn)
    straight = solid_properties(vertices, faces)
    turned = solid_properties(vertices @ R.T, faces)
    np.testing.assert_allclose(
        turned.inertia, R @ straight.inertia @ R.T, atol=1e-12 * straight.inertia.max()
    )


def test_ellipsoid_converges_to_formula_with_second_order():
    radii = np.array([0.05, 0.03, 0.02])
    errors = []
    for level in (2, 3, 4):
        vertices, faces = icosphere(level)
        found = solid_properties(vertices * radii, faces)
        mass = 4.0 / 3.0 * math.pi * radii.prod()
        a, b, c = radii**2
        expected = mass / 5.0 * np.diag([b + c, a + c, a + b])
        errors.append(abs(found.mass - mass) / mass)
        np.testing.assert_allclose(found.inertia, expected, atol=6.0 * errors[-1] * expected.max())
    assert errors[-1] < 2.5e-3
    # Half the edge, a quarter of the error.
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.15)


def test_irregular_mesh_agrees_with_trimesh():
    rng = np.random.default_rng(3)
    hull = trimesh.convex.convex_hull(rng.normal(size=(60, 3)) * [0.05, 0.03, 0.08] + 0.4)
    hull.density = 432.0
    found = solid_properties(np.array(hull.vertices), np.array(hull.faces), density=432.0)
    assert found.mass == pytest.approx(hull.mass, rel=1e-9)
    np.testing.assert_allclose(found.center, hull.center_mass, atol=1e-9)
    np.testing.assert_allclose(
        found.inertia, hull.moment_inertia, atol=1e-7 * np.abs(hull.moment_inertia).max()
    )


def test_inverted_mesh_has_negative_volume():
    vertices, faces = brick(0.1, 0.1, 0.1)
    assert solid_properties(vertices, faces[:, ::-1]).mass == pytest.approx(-1e-3)


def test_flat_mesh_has_no_inertia():
    with pytest.raises(InvalidValueError, match="encloses no volume"):
        solid_properties(np.eye(3), np.array([[0, 1, 2]]))


def test_shell_of_sphere_matches_formula():
    vertices, faces = icosphere(5)
    found = shell_properties(vertices * 0.05, faces, areal_density=3.0)
    mass = 3.0 * 4.0 * math.pi * 0.05**2
    assert found.mass == pytest.approx(mass, rel=1e-3)
    np.testing.assert_allclose(found.inertia, 2.0 / 3.0 * mass * 0.05**2 * np.eye(3), atol=2e-6)


def test_shell_is_the_limit_of_a_thin_wall():
    thin = 1e-4
    cube, cube_faces = cube_grid(2)
    outer, inner = (solid_properties(cube * s, cube_faces) for s in (0.05, 0.05 - thin))
    shell = shell_properties(cube * (0.05 - thin / 2), cube_faces, areal_density=thin)
    assert outer.mass - inner.mass == pytest.approx(shell.mass, rel=1e-4)
    np.testing.assert_allclose(outer.inertia - inner.inertia, shell.inertia, rtol=1e-4, atol=1e-14)


def test_union_counts_overlap_once():
    first, faces = brick(0.06, 0.06, 0.06)
    second = first + np.array([0.03, 0.0, 0.0])
    vertices = np.concatenate([first, second])
    both = np.concatenate([faces, faces + len(first)])
    assert solid_properties(vertices, both).mass == pytest.approx(2 * 0.06**3)
    found = union_properties(vertices, both, density=2.0)
    whole = brick_inertia(2.0 * 0.09 * 0.06**2, 0.09, 0.06, 0.06)
    assert found.mass == pytest.approx(2.0 * 0.09 * 0.06**2, rel=1e-6)
    np.testing.assert_allclose(found.center, [0.015, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(found.inertia, whole, atol=1e-6 * whole.max())


def test_union_of_one_solid_is_that_solid_within_a_percent():
    vertices, faces = icosphere(3)
    vertices = vertices * [0.05, 0.03, 0.04]
    exact, found = solid_properties(vertices, faces), union_properties(vertices, faces)
    assert found.mass == pytest.approx(exact.mass, rel=0.01)
    np.testing.assert_allclose(found.inertia, exact.inertia, atol=0.01 * exact.inertia.max())


def test_grid_of_one_box_is_that_box():
    sizes = np.array([0.1, 0.2, 0.3])
    found = grid_properties(np.array([[1.0, 2.0, 3.0]]), np.array([500.0]), sizes=sizes)
    expected = brick_inertia(500.0 * sizes.prod(), *sizes)
    np.testing.assert_allclose(found.center, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.inertia, expected, atol=1e-12)


@given(a=LENGTHS, b=LENGTHS, cut=st.floats(0.1, 0.9))
def test_halves_combine_to_the_whole(a, b, cut):
    length = 0.2
    left, faces = brick(a, b, length * cut)
    right, _ = brick(a, b, length * (1.0 - cut))
    whole, _ = brick(a, b, length)
    parts = combine(
        solid_properties(left + np.array([0, 0, length * cut / 2]), faces),
        solid_properties(right + np.array([0, 0, length * (1.0 + cut) / 2]), faces),
    )
    expected = solid_properties(whole + np.array([0, 0, length / 2]), faces)
    assert parts.mass == pytest.approx(expected.mass)
    np.testing.assert_allclose(parts.center, expected.center, atol=1e-12)
    np.testing.assert_allclose(parts.inertia, expected.inertia, atol=1e-9 * expected.inertia.max())


def test_with_mass_scales_inertia():
    start = MassProperties(2.0, np.zeros(3), np.diag([1.0, 2.0, 2.5]))
    heavy = start.with_mass(6.0)
    assert heavy.mass == 6.0
    np.testing.assert_allclose(heavy.inertia, np.diag([3.0, 6.0, 7.5]))
