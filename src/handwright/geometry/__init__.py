"""Meshes to distances: grids, exact distances, capsules, rays and fixed surroundings."""

from __future__ import annotations

from handwright.core.surface import EnvironmentBox, HalfSpace
from handwright.folders import cache_dir
from handwright.geometry.cache import load_or_build
from handwright.geometry.distance.capsules import (
    capsule_capsule,
    capsule_pairs,
    point_segment,
    segment_segment,
    tapered_capsule_capsule,
)
from handwright.geometry.distance.environment import (
    EnvironmentArrays,
    environment_value_gradient,
    floor,
    pack_environment,
    surface_value_gradient,
    table,
    wall,
)
from handwright.geometry.distance.environment_capsules import (
    capsule_to_surface,
    capsules_to_environment,
)
from handwright.geometry.distance.exact import ExactDistance
from handwright.geometry.distance.sdf import (
    Field,
    field_value,
    field_value_gradient,
    make_field,
    sample_field,
)
from handwright.geometry.distance.sdf_build import (
    FieldError,
    build_field,
    field_error,
    signed_distance_field,
)
from handwright.geometry.distance.sdf_chains import (
    capsule_depth,
    capsules_to_field,
    spheres_to_field,
)
from handwright.geometry.mesh.outer_surface import outer_surface
from handwright.geometry.mesh.ray_search import ray_backend
from handwright.geometry.mesh.rays import RayCaster

__all__ = [
    "EnvironmentArrays",
    "EnvironmentBox",
    "ExactDistance",
    "Field",
    "FieldError",
    "HalfSpace",
    "RayCaster",
    "build_field",
    "cache_dir",
    "capsule_capsule",
    "capsule_depth",
    "capsule_pairs",
    "capsule_to_surface",
    "capsules_to_environment",
    "capsules_to_field",
    "environment_value_gradient",
    "field_error",
    "field_value",
    "field_value_gradient",
    "floor",
    "load_or_build",
    "make_field",
    "outer_surface",
    "pack_environment",
    "point_segment",
    "ray_backend",
    "sample_field",
    "segment_segment",
    "signed_distance_field",
    "spheres_to_field",
    "surface_value_gradient",
    "table",
    "tapered_capsule_capsule",
    "wall",
]
