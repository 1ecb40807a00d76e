"""Ray casts against a brute-force oracle, with both search structures."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from handwright.errors import InvalidValueError
from handwright.geometry import ExactDistance, RayCaster, ray_backend
from handwright.geometry.mesh import ray_search

BOX = trimesh.creation.box((0.06, 0.06, 0.16))
TORUS = trimesh.creation.torus(0.04, 0.015, major_sections=24, minor_sections=12)
# Faces of a fifth of a square millimetre: libigl by itself sees none of them.
FINE = trimesh.creation.icosphere(subdivisions=4, radius=0.01)
BACKENDS = ["embree", "libigl"]


def brute_force(mesh, origins, directions):
    """First hits by solving for the plane coordinates of every triangle (Moller-Trumbore)."""
    a, b, c = (mesh.triangles[None, :, k] for k in range(3))
    d = (directions / np.linalg.norm(directions, axis=1, keepdims=True))[:, None]
    cross = np.cross(d, c - a)
    determinant = np.einsum("...i,...i", b - a, cross)
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = origins[:, None] - a
        u = np.einsum("...i,...i", offset, cross) / determinant
        other = np.cross(offset, b - a)
        v = np.einsum("...i,...i", np.broadcast_to(d, other.shape), other) / determinant
        t = np.einsum("...i,...i", np.broadcast_to(c - a, other.shape), other) / determinant
        hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0)
    t = np.where(hit, t, np.inf)
    return t.min(axis=1), np.where(hit.any(axis=1), t.argmin(axis=1), -1)


def random_rays(count, seed=0):
    rng = np.random.default_rng(seed)
    origins = rng.normal(scale=0.08, size=(count, 3))
    return origins, 0.3 * rng.normal(size=(count, 3)) - 8 * origins


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Both search structures; Embree has no wheels for some machines."""
    if request.param == "embree":
        pytest.importorskip("embreex", reason="the package embreex is not installed")
    return request.param


@pytest.mark.parametrize(
    ("mesh", "scale"), [(BOX, 1.0), (TORUS, 1.0), (FINE, 0.2)], ids=["box", "torus", "fine"]
)
def test_agrees_with_brute_force_to_double_precision(mesh, scale, backend):
    origins, directions = random_rays(624)
    origins *= scale
    distances, faces = RayCaster(mesh, backend).cast(origins, directions)
    expected, expected_faces = brute_force(mesh, origins, directions)
    assert np.isfinite(expected).sum() > 100
    assert np.isinf(expected).sum() > 50
    assert np.array_equal(np.isfinite(distances), np.isfinite(expected))
    assert np.array_equal(faces, expected_faces)
    hit = np.isfinite(expected)
    assert_allclose(distances[hit], expected[hit], rtol=1e-10, atol=1e-13)


def test_limit_cuts_hits_off(backend):
    caster = RayCaster(BOX, backend)
    origin, direction = np.array([[0.13, 0.0, 0.001]]), np.array([[-3.0, 0.0, 0.0]])
    assert caster.cast(origin, direction, 0.1001)[0] == pytest.approx([0.1], abs=1e-12)
    distances, faces = caster.cast(origin, direction, 0.1 - 1e-9)
    assert np.isinf(distances).all()
    assert (faces == -1).all()
    assert caster.cast(origin, direction, 0.1 + 1e-9)[0] == pytest.approx([0.1], abs=1e-12)


def test_the_backend_in_use_can_be_asked_for():
    assert ray_backend() == ("embree" if find_spec("embreex") else "libigl")
    with pytest.raises(InvalidValueError, match="'embree' or 'libigl'"):
        RayCaster(BOX, "optix")


def test_without_embreex_rays_are_cast_by_libigl(monkeypatch):
    monkeypatch.setitem(sys.modules, "embreex", None)
    monkeypatch.setattr(ray_search, "find_spec", lambda name: None)
    assert ray_backend() == "libigl"
    origins, directions = random_rays(200)
    distances, faces = RayCaster(TORUS).cast(origins, directions)
    expected, expected_faces = RayCaster(TORUS, "libigl").cast(origins, directions)
    assert np.array_equal(distances, expected)
    assert np.array_equal(faces, expected_faces)
    with pytest.raises(InvalidValueError, match="embreex, which is not installed"):
        RayCaster(TORUS, "embree")


def test_leading_axes_are_kept(backend):
    caster = RayCaster(TORUS, backend)
    origins, directions = random_rays(60)
    flat = caster.cast(origins, directions)
    shaped = caster.cast(origins.reshape(3, 4, 5, 3), directions.reshape(3, 4, 5, 3))
    for a, b in zip(flat, shaped, strict=True):
        assert b.shape == (3, 4, 5)
        assert np.array_equal(a, b.reshape(-1))
    single = caster.cast(origins[0], directions[0])
    assert single[0].shape == ()
    assert caster.cast(np.zeros((0, 3)), np.zeros((0, 3)))[0].shape == (0,)


def test_posed_rays_agree_with_a_moved_mesh():
    rng = np.random.default_rng(2)
    origins, directions = (x.reshape(6, 104, 3) for x in random_rays(624, seed=3))
    rotations = Rotation.random(6, rng=rng).as_matrix()
    positions = rng.normal(scale=0.02, size=(6, 3))
    distances, faces = RayCaster(TORUS).cast_posed(origins, directions, rotations, positions)
    assert distances.shape == faces.shape == (6, 104)
    assert np.isfinite(distances).sum() > 50
    for p in range(6):
        moved = trimesh.Trimesh(
            TORUS.vertices @ rotations[p].T + positions[p], TORUS.faces, process=False
        )
        expected, expected_faces = brute_force(moved, origins[p], directions[p])
        assert np.array_equal(faces[p], expected_faces)
        hit = np.isfinite(expected)
        assert_allclose(distances[p][hit], expected[hit], rtol=1e-9, atol=1e-12)


def test_proximity_follows_manipnet(backend):
    caster = RayCaster(BOX, backend)
    origins = np.array([[0.05, 0.0, 0.01], [0.028, 0.0, 0.01], [0.2, 0.0, 0.0], [0.0, 0.05, 0.0]])
    directions = np.array([[-1.0, 0, 0], [-1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0]])
    inside = ExactDistance(BOX.vertices, BOX.faces).is_inside(origins)
    assert inside.tolist() == [False, True, False, False]
    # Outside, 2 cm away; inside, 2 mm below the surface behind it; too far; looking away.
    expected = [0.02, -0.002, 0.1, 0.1]
    assert_allclose(caster.proximity(origins, directions, inside), expected, atol=1e-12)
    # Inside and further from the surface than the limit.
    deep = caster.proximity(np.zeros((1, 3)), np.array([[0.0, 0, 1]]), np.array([True]), 0.05)
    assert deep == pytest.approx([-0.05])


def test_overlapping_parts_are_seen_as_one(backend):
    second = trimesh.creation.box((0.02, 0.02, 0.1))
    second.apply_translation((0, 0, 0.06))
    both = trimesh.util.concatenate([BOX, second])
    caster = RayCaster(both, backend)
    origin = np.array([[0.001, 0.002, 0.0]])
    # Up from within: through the end of the second part, out of its other end.
    distance, face = caster.cast(origin, np.array([[0.0, 0.0, 1.0]]))
    assert distance == pytest.approx([0.11], abs=1e-12)
    assert face[0] >= len(BOX.faces)


def test_mistakes_are_named():
    caster = RayCaster(BOX)
    with pytest.raises(InvalidValueError, match="Ray 1 has"):
        caster.cast(np.zeros((2, 3)), np.array([[1.0, 0, 0], [0, 0, 0]]))
    with pytest.raises(InvalidValueError, match="Ray 0 has"):
        caster.cast(np.full((1, 3), np.nan), np.ones((1, 3)))
    with pytest.raises(InvalidValueError, match="the same"):
        caster.cast(np.zeros((2, 3)), np.ones((1, 3)))
    with pytest.raises(InvalidValueError, match="max_distance"):
        caster.cast(np.zeros((1, 3)), np.ones((1, 3)), 0.0)
    with pytest.raises(InvalidValueError, match="one per ray"):
        caster.proximity(np.zeros((2, 3)), np.ones((2, 3)), np.array([True]))
    with pytest.raises(InvalidValueError, match="expected"):
        caster.cast_posed(np.zeros((2, 4, 3)), np.ones((2, 4, 3)), np.eye(3), np.zeros(3))
