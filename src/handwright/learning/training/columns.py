"""Which columns of features and outputs belong together, and which of them a recipe lets see."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from handwright.learning.training.recipe import Recipe
from handwright.methods.neural.sensing.sensors import POSE_SIZE
from handwright.methods.neural.sensing.table import FEATURES, FIXED_SIZE, OUTPUTS, Feature

Columns = Int[np.ndarray, " _"]
FEATURE_GROUPS: dict[str, slice] = {one.name: one.slice for one in FEATURES}
"""Columns of one kind and unit among all features."""
FIXED_GROUPS: dict[str, slice] = {
    name: slice(where.start - POSE_SIZE, where.stop - POSE_SIZE)
    for name, where in FEATURE_GROUPS.items()
    if POSE_SIZE <= where.start < POSE_SIZE + FIXED_SIZE
}
"""The same among the features that do not depend on fingers."""
FINGER_GROUPS: dict[str, slice] = {
    name: where
    if where.start < POSE_SIZE
    else slice(where.start - FIXED_SIZE, where.stop - FIXED_SIZE)
    for name, where in FEATURE_GROUPS.items()
    if name not in FIXED_GROUPS
}
"""The same among those that do."""
OUTPUT_GROUPS: dict[str, slice] = {one.name: one.slice for one in OUTPUTS}
"""Columns of one kind and unit among the outputs."""
DISTANCES = OUTPUT_GROUPS["distance"]
POSE = slice(0, POSE_SIZE)
"""Columns of the pose, among features and among outputs."""

_POSE = ("joint_position", "joint_rotation")
_TRAJECTORY = ("wrist_position", "wrist_rotation", "other_distance", "object_center", "object_spin")
_DISTANCE = ("proximity", "signed_distance", "normal")
# Moments of the present and of 0.1 s ahead; an angular velocity looks one frame further than its
# moment, so the last one of a short horizon is not seen.
_SHORT = dict.fromkeys(_TRAJECTORY, 13) | {"object_spin": 12}
_SHORT |= {"proximity": 2, "signed_distance": 2}


def frame_columns(recipe: Recipe) -> dict[str, Columns]:
    """Columns of all features that each encoder sees, by its name."""
    sensors = ("ambient",) * recipe.ambient + _DISTANCE * recipe.distance
    return _chosen(
        recipe, {"pose": _POSE, "trajectory": _TRAJECTORY, "sensors": sensors}, FEATURE_GROUPS
    )


def fixed_columns(recipe: Recipe) -> dict[str, Columns]:
    """Columns of the fixed features that each encoder of a first pass sees."""
    groups = {"trajectory": _TRAJECTORY, "ambient": ("ambient",) * recipe.ambient}
    return _chosen(recipe, groups, FIXED_GROUPS)


def finger_columns(recipe: Recipe) -> dict[str, Columns]:
    """Columns of the finger features that each encoder of a second pass sees."""
    groups = {"pose": _POSE, "sensors": _DISTANCE * recipe.distance}
    return _chosen(recipe, groups, FINGER_GROUPS)


def _chosen(
    recipe: Recipe, groups: dict[str, tuple[str, ...]], where: dict[str, slice]
) -> dict[str, Columns]:
    table = {one.name: one for one in FEATURES}
    return {
        group: np.concatenate([_seen(recipe, table[name], where[name].start) for name in names])
        for group, names in groups.items()
        if names
    }


def _seen(recipe: Recipe, feature: Feature, start: int) -> Columns:
    """Columns of a feature within the horizon; its first axis is time where it looks ahead."""
    columns = start + np.arange(np.prod(feature.shape)).reshape(feature.shape)
    if recipe.horizon == "0.1" and feature.name in _SHORT:
        columns = columns[: _SHORT[feature.name]]
    return columns.reshape(-1)
