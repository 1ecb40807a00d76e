"""Kernels against their peers: kinematics (mujoco), distances (igl), inverse kinematics (mink)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.bars import bars_met, bars_table
from benchmarks.kernels.distances import measure_distances, measure_rays
from benchmarks.kernels.hands import measure_forward, measure_inverse

if TYPE_CHECKING:
    from rich.table import Table

BARS: dict[str, tuple[str, float]] = {
    "fk_vs_mujoco": (">=", 2.5),
    "sdf_vs_igl": (">=", 10.0),
    "sdf_error_mm_max": ("<=", 0.5),
    "ik_vs_mink": (">=", 50.0),
}

_MEANINGS = {
    "fk_us": "forward kinematics and 5 fingertip Jacobians, 30 joints, µs",
    "fk_mujoco_us": "the same work through mujoco, µs",
    "fk_vs_mujoco": "ratio of the two",
    "fk_error": "largest disagreement with mujoco, m",
    "sdf_points_us": "95 distances with gradients, slowest of three bodies, µs",
    "sdf_vs_igl": "igl.signed_distance on the same points / ours, least of three bodies",
    "sdf_vs_igl_tree": "the same with igl's search tree built beforehand",
    "sdf_error_mm_max": "largest error of the field on box, torus and mug, mm",
    "ik_ms": "five digits to the next frame's targets, ms",
    "ik_mink_ms": "the same targets through mink and daqp, ms",
    "ik_vs_mink": "ratio of the two",
    "ik_error_mm": "largest distance from a target, ours, mm",
    "ik_mink_error_mm": "largest distance from a target, mink, mm",
    "ik_collision_ms": "as ik_ms, while avoiding an object and each other, ms",
    "rays_us": "624 rays against the mug, µs",
}


def run() -> dict[str, float | bool]:
    """Measures all kernels; about half a minute with warm caches."""
    result: dict[str, float | bool] = {}
    result |= measure_forward()
    result |= measure_distances()
    result |= measure_inverse()
    result |= measure_rays()
    result["bars_met"] = bars_met(result, BARS)
    return result


def describe(result: dict[str, float | bool]) -> Table:
    """The result as a table."""
    return bars_table("Kernels (one thread, best of several repeats)", result, _MEANINGS, BARS)
