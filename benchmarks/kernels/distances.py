"""Signed distance fields against libigl, and ray casts."""

from __future__ import annotations

import igl
import numpy as np

from benchmarks.timing import best_seconds
from handwright.core.body import RigidBody
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import Field, field_value_gradient
from handwright.geometry.distance.sdf_build import field_error, signed_distance_field
from handwright.geometry.mesh.rays import RayCaster
from handwright.geometry.shapes import make_shape
from handwright.hands import human
from handwright.kernels.decorators import compiled
from handwright.kinematics import posed_capsules, posed_sites
from handwright.math.pose import Pose

_SHAPES = ("box", "torus", "mug")
_POINTS = 95
_LOOPS = 2000


@compiled
def _sample(field: Field, points: np.ndarray, loops: int) -> float:
    total = 0.0
    for _ in range(loops):
        for n in range(points.shape[0]):
            d, gx, gy, gz = field_value_gradient(field, points[n, 0], points[n, 1], points[n, 2])
            total += d + gx + gy + gz
    return total


def _hand_points(body: RigidBody) -> np.ndarray:
    """Five points on each of 19 capsule axes of a hand that holds the body."""
    model = human()
    pose = Pose(np.array([-0.11, 0.0, 0.05]), np.array([1.0, 0.0, 0.0, 0.0]))
    capsules = posed_capsules(model, model.pose("rest"), pose)
    share = np.linspace(0.0, 1.0, 5)[:, None, None]
    points = capsules.start + share * (capsules.end - capsules.start)
    return np.ascontiguousarray(points.reshape(-1, 3)[:_POINTS] + body.center)


def measure_distances() -> dict[str, float]:
    """Time and error of the field on three bodies, with igl on the same points."""
    times, ratios, tree_ratios, errors = [], [], [], []
    for name in _SHAPES:
        body = make_shape(name)
        field = signed_distance_field(body)
        points = _hand_points(body)
        ours = best_seconds(lambda: _sample(field, points, _LOOPS)) / _LOOPS  # noqa: B023
        vertices, faces = np.array(body.vertices), np.array(body.faces)
        theirs = best_seconds(
            lambda: igl.signed_distance(points, vertices, faces),  # noqa: B023
            repeats=5,
        )
        exact = ExactDistance.from_body(body)
        tree = best_seconds(lambda: exact.signed_distance(points), repeats=5)  # noqa: B023
        times.append(ours)
        ratios.append(theirs / ours)
        tree_ratios.append(tree / ours)
        errors.append(field_error(body, field, 20_000, np.random.default_rng(0)))
    return {
        "sdf_points_us": max(times) * 1e6,
        "sdf_vs_igl": min(ratios),
        "sdf_vs_igl_tree": min(tree_ratios),
        "sdf_error_mm_max": max(error.max_mm for error in errors),
    }


def measure_rays() -> dict[str, float]:
    """104 sensors at six poses against the mug."""
    model = human()
    caster = RayCaster(make_shape("mug"))
    shift = np.linspace(-0.16, -0.10, 6)
    root = Pose(
        np.stack([shift, 0.0 * shift, 0.04 + 0.0 * shift], axis=-1),
        np.tile([1.0, 0.0, 0.0, 0.0], (6, 1)),
    )
    sites = posed_sites(model, np.tile(model.pose("rest"), (6, 1)), root)
    count = 104
    pick = np.resize(np.arange(len(model.sites)), count)
    origins = np.ascontiguousarray(sites.position[:, pick].reshape(-1, 3))
    directions = np.ascontiguousarray(sites.normal[:, pick].reshape(-1, 3))
    seconds = best_seconds(lambda: caster.cast(origins, directions, max_distance=0.1), calls=20)
    return {"rays_us": seconds * 1e6}
