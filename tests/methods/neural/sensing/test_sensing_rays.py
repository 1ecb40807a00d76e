"""Rays and distances against exact casts: random rays at hard bodies, thin walls, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from handwright.core.body import RigidBody
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.mesh.rays import RayCaster
from handwright.geometry.shapes import make_shape
from handwright.kernels.decorators import compiled
from handwright.kernels.packed import Packed
from handwright.math import rotation
from handwright.methods.neural.sensing import sensed_body
from handwright.methods.neural.sensing.rays import body_distance_normal, proximity

REACH = 0.1
NUM_RAYS = 2000


@compiled
def _cast(body: object, origins: np.ndarray, normals: np.ndarray, out: np.ndarray) -> None:
    for n in range(len(origins)):
        p, u = origins[n], normals[n]
        out[n] = proximity(body, (p[0], p[1], p[2]), (u[0], u[1], u[2]), REACH)


def cast(body: RigidBody, origins: np.ndarray, normals: np.ndarray) -> np.ndarray:
    out = np.zeros(len(origins))
    _cast(Packed(sensed_body(body)), origins, normals, out)
    return out


def random_rays(body: RigidBody, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    low, high = body.bounds
    origins = rng.uniform(low - 0.03, high + 0.03, (NUM_RAYS, 3))
    normals = rng.standard_normal((NUM_RAYS, 3))
    return origins, normals / np.linalg.norm(normals, axis=1)[:, None]


def exact_readings(body: RigidBody, origins: np.ndarray, normals: np.ndarray) -> np.ndarray:
    inside = ExactDistance.from_body(body).is_inside(origins)
    return RayCaster(body).proximity(origins, normals, inside, REACH)


@pytest.mark.parametrize("name", ["torus", "box", "paper_cup", "pen"])
def test_random_rays_are_those_of_the_mesh(name: str) -> None:
    """Within 0.4 mm, but for rays that pass within 0.4 mm of what they miss or barely hit."""
    body = make_shape(name)
    origins, normals = random_rays(body, 0)
    wanted = exact_readings(body, origins, normals)
    got = cast(body, origins, normals)
    side = np.cross(normals, [0.3, 0.5, 0.8])
    side *= 4e-4 / np.linalg.norm(side, axis=1)[:, None]
    up = np.cross(normals, side)
    beside = np.array([
        exact_readings(body, origins + shift, normals) for shift in (side, -side, up, -up)
    ])  # fmt: skip
    is_clear = (np.abs(beside - wanted) < 1.5e-3).all(axis=0)
    error = np.abs(got - wanted)
    assert is_clear.mean() > 0.95
    assert error[is_clear].max() < 4e-4
    assert (error > 1e-3).mean() < 0.0025, "few rays that graze are decided otherwise"
    assert np.abs(got).max() <= REACH


def sheet_askew(thickness: float) -> tuple[RigidBody, np.ndarray]:
    """A sheet in no plane of the axes, and the matrix that turned it there."""
    sheet = make_shape("box", width=0.08, depth=0.08, height=thickness)
    turn = rotation.to_matrix(rotation.from_axis_angle([1.0, 0.5, 0.2], 0.6))
    inertia = turn @ sheet.inertia @ turn.T
    return replace(sheet, vertices=sheet.vertices @ turn.T, inertia=inertia), turn


@pytest.mark.parametrize("thickness", [0.0003, 0.0005, 0.001])
def test_walls_thinner_than_the_grid_are_hit(thickness: float) -> None:
    """A sheet whose inside the grid loses still stops rays."""
    askew, turn = sheet_askew(thickness)
    assert sensed_body(askew).near.spacing > 7e-4
    rng = np.random.default_rng(1)
    aims = rng.uniform(-0.037, 0.037, (500, 3)) * [1.0, 1.0, 0.0]
    rise = rng.uniform(0.3, 1.0, 500) * rng.choice([-1.0, 1.0], 500)
    ways = np.stack([*rng.uniform(-0.5, 0.5, (2, 500)), rise], axis=1)
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    far = rng.uniform(0.003, 0.08, 500)
    origins = (aims - far[:, None] * ways) @ turn.T
    got = cast(askew, origins, ways @ turn.T)
    wanted = far - 0.5 * thickness / np.abs(ways[:, 2])
    np.testing.assert_allclose(got, wanted, atol=1.2e-3)


def test_sensors_in_a_thin_wall_know_that_they_are_inside() -> None:
    """The coarse grid has lost the wall, the fine one has not."""
    askew, turn = sheet_askew(0.002)
    rng = np.random.default_rng(2)
    height = rng.uniform(-6e-4, 6e-4, 200)
    places = np.stack([*rng.uniform(-0.035, 0.035, (2, 200)), height], axis=1)
    up = np.tile([0.0, 0.0, 1.0], (200, 1))
    got = cast(askew, places @ turn.T, up @ turn.T)
    np.testing.assert_allclose(got, -(height + 0.001), atol=2e-4)


def test_a_sensor_inside_reads_how_deep_it_is_against_its_normal() -> None:
    box = make_shape("box", width=0.3, depth=0.06, height=0.04)
    origins = np.array([[0.0, 0.0, 0.012], [0.0, 0.0, 0.012], [0.0, 0.0, 0.012]])
    normals = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    # Down through 32 mm, up through 8 mm, and along the box for longer than a ray is.
    np.testing.assert_allclose(cast(box, origins, normals), [-0.032, -0.008, -REACH], atol=1e-5)


def test_rays_along_a_face_do_not_hit_it() -> None:
    box = make_shape("box", width=0.06, depth=0.06, height=0.06)
    origins = np.array([[-0.05, 0.0, 0.0305], [-0.029, 0.01, 0.0301], [0.0, 0.0, 0.0301]])
    normals = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(cast(box, origins, normals), REACH)


def test_rays_reach_as_far_as_they_should() -> None:
    box = make_shape("box", width=0.06, depth=0.06, height=0.06)
    gaps = np.array([0.0995, 0.0999, 0.1001, 0.2])
    origins = np.stack([0.0 * gaps, 0.0 * gaps, 0.03 + gaps], axis=1)
    down = np.tile([0.0, 0.0, -1.0], (4, 1))
    np.testing.assert_allclose(cast(box, origins, down), np.minimum(gaps, REACH), atol=1e-5)


def test_a_ray_that_is_no_number_ends() -> None:
    box = make_shape("box")
    nothing = np.full((1, 3), np.nan)
    good = np.array([[0.0, 0.0, 0.1]])
    for origins, normals in ((nothing, good), (good, nothing), (nothing, nothing)):
        assert abs(cast(box, origins, normals)[0]) <= REACH


@compiled
def _normal(body: object, x: float, y: float, z: float) -> tuple:
    return body_distance_normal(body, x, y, z)


def test_normals_fade_where_several_sides_are_equally_near() -> None:
    box = Packed(sensed_body(make_shape("box", width=0.06, depth=0.06, height=0.06)))
    along = [np.array(_normal(box, x, 0.0, 0.0)) for x in np.linspace(-0.002, 0.002, 81)]
    # In the middle of the box, and on either side of it.
    np.testing.assert_allclose(along[40][1:], 0.0, atol=1e-6)
    np.testing.assert_allclose([along[0][1], along[-1][1]], [-1.0, 1.0], atol=1e-3)
    leaps = np.abs(np.diff(along, axis=0)).max()
    assert leaps < 0.3, "no leap from one side to the other"
    for d, *normal in along:
        assert np.linalg.norm(normal) < 1.0 + 1e-9
        assert -0.031 < d < -0.027
