"""Signed distance grids: building, reading, and chains of capsules against them."""

from __future__ import annotations

import multiprocessing
import runpy

import numba
import numpy as np
import pytest
import trimesh
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from handwright.errors import InvalidValueError
from handwright.geometry import (
    ExactDistance,
    Field,
    build_field,
    capsule_depth,
    capsules_to_field,
    field_error,
    field_value,
    field_value_gradient,
    make_field,
    sample_field,
    signed_distance_field,
    spheres_to_field,
)
from handwright.geometry.distance.sdf_build import FINEST_SPACING, MAX_NODES, choose_spacing
from handwright.geometry.mesh.bodies import body_from_mesh


def as_body(mesh):
    return body_from_mesh(mesh.vertices, mesh.faces, allow_any_size=True)


def make_cup():
    """A hollow cup on the origin, 10 cm tall, 8 cm across, with walls and floor of 3 mm."""
    profile = [[0, 0], [0.04, 0], [0.04, 0.1], [0.037, 0.1], [0.037, 0.003], [0, 0.003]]
    cup = trimesh.creation.revolve(np.array(profile), sections=64)
    assert cup.is_watertight
    assert cup.volume > 0
    return cup


BOX = as_body(trimesh.creation.box((0.06, 0.06, 0.16)))
TORUS = as_body(trimesh.creation.torus(0.04, 0.015, major_sections=80, minor_sections=32))
CUP = as_body(make_cup())


@pytest.fixture(scope="module")
def cup_field():
    return build_field(CUP.vertices, CUP.faces)


@pytest.fixture(scope="module")
def box_field():
    return build_field(BOX.vertices, BOX.faces, spacing=0.003)


def box_distance(points, half=(0.03, 0.03, 0.08)):
    """Signed distance to the box in closed form."""
    excess = np.abs(points) - np.array(half)
    outside = np.linalg.norm(np.maximum(excess, 0.0), axis=-1)
    return outside + np.minimum(excess.max(axis=-1), 0.0)


def check_default_field(body, field):
    error = field_error(body, field, 20_000, np.random.default_rng(1))
    assert error.max_mm <= 0.5
    assert error.mean_mm <= 0.01
    assert (field.origin <= body.vertices.min(axis=0) - 0.02 + 1e-12).all()
    assert (field.upper >= body.vertices.max(axis=0) + 0.02 - 1e-12).all()


@pytest.mark.parametrize("body", [BOX, TORUS], ids=["box", "torus"])
def test_default_field_is_within_half_a_millimetre(body):
    assert body is not TORUS or len(body.faces) == 5120
    check_default_field(body, build_field(body.vertices, body.faces))


def test_default_field_of_a_thin_wall_is_within_half_a_millimetre(cup_field):
    check_default_field(CUP, cup_field)


def test_field_error_sees_a_shifted_field(box_field):
    shifted = make_field(box_field.values + 0.002, box_field.origin, box_field.spacing)
    error = field_error(BOX, shifted, 500, np.random.default_rng(0))
    assert error.mean_mm == pytest.approx(2.0, abs=0.1)


def test_nodes_near_the_surface_hold_exact_distances(box_field):
    nodes = np.stack(np.indices(box_field.values.shape), axis=-1)
    exact = box_distance(box_field.origin + box_field.spacing * nodes)
    near = np.abs(exact) < 2.9 * box_field.spacing
    assert_allclose(box_field.values[near], exact[near], atol=2e-7)
    # Further away the nearest triangle may be missed, but only for one nearly as near.
    error = np.abs(box_field.values - exact)
    assert error.max() < 0.25 * box_field.spacing
    assert np.mean(error > 1e-6) < 0.01


def test_cup_is_hollow_and_its_wall_is_solid(cup_field):
    angles = np.linspace(0, 2 * np.pi, 50, endpoint=False)
    heights = np.linspace(0.006, 0.094, 23)
    angle, height = (a.ravel() for a in np.meshgrid(angles, heights))
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    up = np.stack([np.zeros_like(height), np.zeros_like(height), height], axis=1)
    for radius in (0.0, 0.02, 0.034):
        assert (sample_field(cup_field, radius * ring + up)[0] > 0.001).all()
    wall = sample_field(cup_field, 0.0385 * ring + up)[0]
    assert (wall < -0.0009).all()
    assert (wall > -0.0016).all()
    assert (sample_field(cup_field, 0.043 * ring + up)[0] > 0.002).all()
    floor = sample_field(cup_field, 0.5 * ring * 0.04 + [0, 0, 0.0015])[0]
    assert (floor < -0.0009).all()


def test_every_node_of_the_cup_has_the_sign_of_the_exact_winding_number(cup_field):
    rng = np.random.default_rng(4)
    nodes = np.stack([rng.integers(0, n, 4000) for n in cup_field.values.shape], axis=1)
    near = np.argwhere(np.abs(cup_field.values) < cup_field.spacing)
    nodes = np.concatenate([nodes, rng.choice(near, 4000)])
    values = cup_field.values[tuple(nodes.T)]
    exact = ExactDistance(CUP.vertices, CUP.faces)
    inside = exact.is_inside(cup_field.origin + cup_field.spacing * nodes)
    clear = np.abs(values) > 1e-6
    assert (inside == (values < 0))[clear].all()


def test_overlapping_parts_are_one_solid():
    head = trimesh.creation.box((0.1, 0.03, 0.03))
    handle = trimesh.creation.box((0.02, 0.02, 0.1))
    handle.apply_translation((0.0, 0.0, -0.045))
    both = trimesh.util.concatenate([head, handle])
    field = build_field(both.vertices, both.faces, spacing=0.001)
    # Within the head, the part of the handle that ends at its middle must leave no trace.
    line = np.stack([np.zeros(25), np.zeros(25), np.linspace(-0.008, 0.012, 25)], axis=1)
    line[:, 0] = 0.001
    values, _ = sample_field(field, line)
    assert (values < -0.002).all()
    beside = sample_field(field, np.array([[0.03, 0.0, 0.0]]))[0]
    assert beside[0] == pytest.approx(-0.015, abs=6e-4)
    inside_handle = sample_field(field, np.array([[0.0, 0.0, -0.05]]))[0]
    assert inside_handle[0] == pytest.approx(-0.01, abs=6e-4)


def test_a_cavity_stays_hollow():
    outer = trimesh.creation.icosphere(subdivisions=3, radius=0.03)
    cavity = trimesh.creation.icosphere(subdivisions=3, radius=0.02)
    cavity.invert()
    shell = trimesh.util.concatenate([outer, cavity])
    field = build_field(shell.vertices, shell.faces, spacing=0.001)
    values, _ = sample_field(field, np.array([[0.0, 0, 0], [0.025, 0, 0], [0, 0, 0.035]]))
    assert_allclose(values, [0.02, -0.005, 0.005], atol=9e-4)


def test_a_playing_card_keeps_its_thickness():
    card = trimesh.creation.box((0.063, 0.088, 0.0003))
    field = build_field(card.vertices, card.faces, padding=0.005)
    heights = np.linspace(-0.004, 0.004, 401)
    points = np.stack([np.full(401, 0.0011), np.full(401, -0.0017), heights], axis=1)
    assert_allclose(sample_field(field, points)[0], np.abs(heights) - 0.00015, atol=1e-7)


@given(
    st.tuples(*[st.floats(1e-4, 2.0)] * 3),
    st.floats(0.005, 0.05),
)
@settings(max_examples=60, deadline=None)
def test_spacing_respects_floor_and_cap(extents, padding):
    spacing = choose_spacing(np.array(extents), padding)
    assert spacing >= FINEST_SPACING
    half = np.ceil((np.array(extents) / 2 + padding) / spacing)
    assert np.prod(2 * half + 1) <= MAX_NODES


@pytest.mark.parametrize(
    "bad",
    [
        {"spacing": 0.0},
        {"spacing": np.nan},
        {"padding": -0.01},
        {"spacing": 1e-6},
        {"padding": 9.0},
    ],
)
def test_unusable_parameters_are_named(bad):
    with pytest.raises(InvalidValueError, match=next(iter(bad))):
        build_field(BOX.vertices, BOX.faces, **bad)


def random_field(seed=0, shape=(5, 6, 7)):
    rng = np.random.default_rng(seed)
    return make_field(rng.normal(size=shape), rng.normal(size=3), 0.1)


def test_interpolant_reproduces_nodes_and_trilinear_functions():
    field = random_field()
    nodes = np.stack(np.indices(field.values.shape), axis=-1).reshape(-1, 3)
    points = field.origin + field.spacing * nodes
    assert_allclose(sample_field(field, points)[0], field.values.reshape(-1), atol=1e-6)

    def f(p):
        x, y, z = np.moveaxis(p, -1, 0)
        return 1 + 2 * x - y + 0.5 * z + 3 * x * y - x * z + y * z + 2 * x * y * z

    grid = np.stack(np.indices((4, 4, 4)), axis=-1) * 0.5
    linear = make_field(f(grid), np.zeros(3), 0.5)
    inside = np.random.default_rng(1).uniform(0, 1.5, size=(200, 3))
    assert_allclose(sample_field(linear, inside)[0], f(inside), rtol=1e-5, atol=1e-5)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_gradient_is_the_derivative_of_the_value_inside_cells(seed):
    field = random_field()
    rng = np.random.default_rng(seed)
    cell = np.array([rng.integers(0, n - 1) for n in field.values.shape])
    point = field.origin + field.spacing * (cell + rng.uniform(0.05, 0.95, 3))
    check_gradient(field, point, step=1e-4)


def check_gradient(field, point, step):
    _, *gradient = field_value_gradient(field, *point)
    for axis in range(3):
        shift = step * np.eye(3)[axis]
        ahead = field_value(field, *(point + shift))
        behind = field_value(field, *(point - shift))
        assert gradient[axis] == pytest.approx((ahead - behind) / (2 * step), abs=2e-6, rel=1e-5)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_outside_is_continuous_a_lower_bound_and_differentiable(seed, box_field):
    rng = np.random.default_rng(seed)
    center = 0.5 * (box_field.origin + box_field.upper)
    half = 0.5 * (box_field.upper - box_field.origin)
    direction = rng.normal(size=3)
    direction /= np.abs(direction / half).max()
    border = center + direction
    # Continuity across the border of the grid.
    just_in = field_value(box_field, *(center + (1 - 1e-9) * direction))
    just_out = field_value(box_field, *(center + (1 + 1e-9) * direction))
    assert just_in == pytest.approx(just_out, abs=1e-7)
    # A lower bound that still grows along the way out.
    away = center + rng.uniform(1.001, 6.0) * direction
    value = field_value(box_field, *away)
    assert value <= box_distance(away) + 1e-4
    assert value >= 0.5 * box_distance(away)
    assert value >= field_value(box_field, *border) - 1e-6
    check_gradient_outside(box_field, away)


def check_gradient_outside(field, point):
    clamped = np.clip(point, field.origin, field.upper)
    cells = (clamped - field.origin) / field.spacing
    # Between cells the gradient jumps, along axes that do not stick out.
    smooth = (clamped != point) | (np.abs(cells - np.round(cells)) > 1e-3)
    assert smooth.any()
    _, *gradient = field_value_gradient(field, *point)
    for axis in np.flatnonzero(smooth):
        shift = 1e-7 * np.eye(3)[axis]
        ahead = field_value(field, *(point + shift))
        behind = field_value(field, *(point - shift))
        assert gradient[axis] == pytest.approx((ahead - behind) / 2e-7, abs=1e-5)


@given(low=st.floats(-1.0, 1.0), spacing=st.floats(1e-4, 1e-2), nudge=st.integers(-4, 4))
@example(low=-0.040024152384335654, spacing=0.004718332740966109, nudge=-2)
@settings(max_examples=100, deadline=None)
def test_gradient_on_the_last_node_is_that_of_the_last_cell(low, spacing, nudge):
    values = np.broadcast_to(np.arange(1.0, 9.0) * spacing, (8, 8, 8))
    field = make_field(values, np.full(3, low), spacing, margin=0.02)
    z = field.upper[2] + nudge * np.spacing(abs(field.upper[2]))
    middle = low + 3.5 * spacing
    d, gx, gy, gz = field_value_gradient(field, middle, middle, z)
    assert d == pytest.approx(8 * spacing, rel=1e-4)
    assert (gx, gy) == pytest.approx((0.0, 0.0), abs=1e-3)
    # Inside it is the slope of the cell, just outside that of the continuation; never reversed.
    assert gz > 0.0


def test_outside_is_exact_above_a_flat_face(box_field):
    points = np.array([[0.001, 0.002, 0.3], [0.5, -0.01, 0.02], [0.0, -1.0, 0.0]])
    values, gradients = sample_field(box_field, points)
    slip = box_field.upper - [0.05, 0.05, 0.1]
    assert_allclose(values, box_distance(points), atol=float(slip.max()) + 1e-6)
    assert_allclose(gradients, [[0, 0, 1], [1, 0, 0], [0, -1, 0]], atol=1e-3)


def test_a_field_negative_on_its_border_continues_without_a_jump():
    values = np.full((3, 3, 3), -0.5)
    field = make_field(values, np.zeros(3), 1.0)
    assert field_value(field, 2.0, 1.0, 1.0) == pytest.approx(-0.5)
    assert field_value(field, 2.25, 1.0, 1.0) == pytest.approx(-0.25)
    assert field_value_gradient(field, 2.25, 1.0, 1.0)[1:] == pytest.approx((1.0, 0.0, 0.0))


def test_nan_gives_nan_not_memory(box_field):
    for point in np.where(np.eye(3, dtype=bool), np.nan, 0.0):
        assert np.isnan(field_value(box_field, *point))
        assert np.isnan(field_value_gradient(box_field, *point)[0])
    assert np.isinf(field_value(box_field, np.inf, 0.0, 0.0))


def test_batched_and_scalar_agree_bit_for_bit(cup_field):
    rng = np.random.default_rng(2)
    points = rng.uniform(cup_field.origin - 0.03, cup_field.upper + 0.03, size=(500, 3))
    values, gradients = sample_field(cup_field, points)
    for point, value, gradient in zip(points, values, gradients, strict=True):
        d, *g = field_value_gradient(cup_field, *point)
        assert (d, *g) == (value, *gradient)
        assert field_value(cup_field, *point) == value


def test_field_is_a_numba_argument(box_field):
    @numba.njit
    def twice(field, x):
        return 2.0 * field_value(field, x, 0.0, 0.0)

    assert twice(box_field, 0.01) == 2.0 * field_value(box_field, 0.01, 0.0, 0.0)


def test_make_field_normalises_and_checks():
    field = make_field(np.zeros((2, 3, 4), order="F"), [0, 0, 0], 1)
    assert isinstance(field, Field)
    assert field.values.flags.c_contiguous
    assert field.values.dtype == np.float32
    assert not field.values.flags.writeable
    for bad in ((np.zeros((1, 3, 4)), [0, 0, 0], 1), (np.zeros((2, 2, 2)), [0, 0], 1)):
        with pytest.raises(InvalidValueError, match="expected"):
            make_field(*bad)
    with pytest.raises(InvalidValueError, match="spacing"):
        make_field(np.zeros((2, 2, 2)), [0, 0, 0], -1.0)
    with pytest.raises(InvalidValueError, match="margin inf"):
        make_field(np.zeros((2, 2, 2)), [0, 0, 0], 1.0, np.inf)
    holed = np.zeros((2, 2, 2))
    holed[1, 0, 1] = np.nan
    with pytest.raises(InvalidValueError, match=r"node \[1, 0, 1\] is NaN"):
        make_field(holed, [0, 0, 0], 1.0)


def test_points_without_three_coordinates_are_refused(box_field):
    with pytest.raises(InvalidValueError, match=r"shape \(N, 3\)"):
        sample_field(box_field, np.zeros((4, 2)))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_capsule_depth_finds_the_least_gap_along_the_axis(seed, cup_field):
    rng = np.random.default_rng(seed)
    p0, p1 = rng.uniform([-0.06, -0.06, -0.01], [0.06, 0.06, 0.11], size=(2, 3))
    p1 = p0 + (p1 - p0) * min(1.0, 0.04 / np.linalg.norm(p1 - p0))
    r0, r1 = rng.uniform(0.003, 0.01, size=2)
    gap, s, *gradient = capsule_depth(cup_field, *p0, *p1, r0, r1, 6)
    dense = np.linspace(0, 1, 4001)[:, None]
    distances = sample_field(cup_field, p0 + dense * (p1 - p0))[0]
    gaps = distances - (r0 + dense[:, 0] * (r1 - r0))
    assert 0.0 <= s <= 1.0
    # An axis that goes through the wall can have its deepest point between two samples.
    half_step = (np.linalg.norm(p1 - p0) + abs(r1 - r0)) / 5 / 2
    assert gap <= gaps.min() + (5e-5 if distances.min() > 0.0 else half_step)
    assert gap >= gaps.min() - 2e-5
    here = field_value_gradient(cup_field, *(p0 + s * (p1 - p0)))
    assert gap == pytest.approx(here[0] - (r0 + s * (r1 - r0)), abs=1e-15)
    assert tuple(gradient) == here[1:]


def test_capsule_of_no_length_is_a_sphere(cup_field):
    gap, _, *_ = capsule_depth(cup_field, 0.06, 0.0, 0.05, 0.06, 0.0, 0.05, 0.01, 0.01, 4)
    assert gap == pytest.approx(field_value(cup_field, 0.06, 0.0, 0.05) - 0.01, abs=1e-15)


def test_posed_chains_agree_with_the_body_frame(cup_field):
    rng = np.random.default_rng(3)
    R = Rotation.random(rng=rng).as_matrix()
    t = rng.normal(size=3)
    starts, ends = rng.uniform(-0.08, 0.12, size=(2, 20, 3))
    radii = rng.uniform(0.004, 0.012, size=(20, 2))
    gaps, parameters, normals = np.zeros(20), np.zeros(20), np.zeros((20, 3))
    posed = (starts @ R.T + t, ends @ R.T + t)
    capsules_to_field(cup_field, R, t, *posed, radii, 5, gaps, parameters, normals)
    for n in range(20):
        gap, s, *g = capsule_depth(cup_field, *starts[n], *ends[n], *radii[n], 5)
        assert gaps[n] == pytest.approx(gap, abs=1e-9)
        # The least gap may be reached at two places; both are right.
        if abs(parameters[n] - s) < 1e-6:
            assert_allclose(normals[n], R @ g, atol=1e-5)
    spheres_to_field(cup_field, R, t, posed[0], radii[:, 0], gaps, normals)
    values, gradients = sample_field(cup_field, starts)
    assert_allclose(gaps, values - radii[:, 0], atol=1e-12)
    assert_allclose(normals, gradients @ R.T, atol=1e-9)


def test_second_request_comes_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDWRIGHT_CACHE", str(tmp_path))
    body = as_body(trimesh.creation.icosphere(subdivisions=2, radius=0.03))
    built = signed_distance_field(body, spacing=0.002)
    monkeypatch.setattr("handwright.geometry.distance.sdf_build.build_field", None)
    kept = signed_distance_field(body, spacing=0.002)
    assert_same_field(built, kept)
    assert not kept.values.flags.writeable
    # Another spacing, padding or surface is another field.
    other = as_body(trimesh.creation.icosphere(subdivisions=2, radius=0.031))
    for args in ((body, 0.003, 0.02), (body, 0.002, 0.03), (other, 0.002, 0.02)):
        with pytest.raises(TypeError):
            signed_distance_field(args[0], spacing=args[1], padding=args[2])


def assert_same_field(a, b):
    assert np.array_equal(a.values, b.values)
    assert np.array_equal(a.origin, b.origin)
    assert (a.spacing, a.margin) == (b.spacing, b.margin)


def test_a_truncated_field_is_built_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("HANDWRIGHT_CACHE", str(tmp_path))
    body = as_body(trimesh.creation.icosphere(subdivisions=2, radius=0.03))
    first = signed_distance_field(body, spacing=0.002)
    (path,) = tmp_path.glob("field-*.npz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    again = signed_distance_field(body, spacing=0.002)
    assert_same_field(first, again)
    assert "damaged" in caplog.text
    assert path.stat().st_size == len(whole)


# Run as a file, since a spawned process cannot import this one.
WORKER = """
import os
import trimesh
os.environ["HANDWRIGHT_CACHE"] = folder
from handwright.geometry import signed_distance_field
from handwright.geometry.mesh.bodies import body_from_mesh
torus = trimesh.creation.torus(0.04, 0.015)
body = body_from_mesh(torus.vertices, torus.faces)
barrier.wait(timeout=60)
field = signed_distance_field(body, spacing=0.0015)
queue.put((field.values, field.origin, field.spacing, field.margin))
"""


def test_two_processes_at_once_both_get_a_correct_field(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(2), context.Queue()
    worker, folder = tmp_path / "worker.py", tmp_path / "cache"
    worker.write_text(WORKER)
    names = {"folder": str(folder), "barrier": barrier, "queue": queue}
    processes = [
        context.Process(target=runpy.run_path, args=(str(worker), names)) for _ in range(2)
    ]
    for process in processes:
        process.start()
    fields = [Field(*queue.get(timeout=60)) for _ in processes]
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    expected = as_body(trimesh.creation.torus(0.04, 0.015))
    for field in fields:
        assert_same_field(field, fields[0])
        error = field_error(expected, field, 2000, np.random.default_rng(0))
        assert error.max_mm < 1.1
    assert len(list(folder.glob("*.npz"))) == 1
    assert not list(folder.glob(".*.tmp"))
