"""What is refused before a motion is smoothed: the kernels look at nothing again."""

from __future__ import annotations

import numpy as np

from handwright.core.hand import HandModel
from handwright.errors import InvalidValueError
from handwright.geometry.distance.environment import EnvironmentArrays
from handwright.kinematics.spacetime.terms import Anchors, SpacetimeWeights
from handwright.math.pose import Pose


def check_frames(model: HandModel, root: Pose, q: np.ndarray, **arrays: np.ndarray) -> None:
    """Refuses shapes that do not fit each other, NaN, and bounds that leave no room.

    Args:
        model: The hand.
        root: Poses of its root.
        q: Joint values.
        **arrays: ``reference``, ``low`` and ``high``, at each frame or at all, and ``pinned``.
    """
    num_joints = model.num_joints
    if q.ndim != 2 or q.shape[1] != num_joints or len(q) == 0:
        raise InvalidValueError(
            f"Hand '{model.name}': q has shape {q.shape}; expected (T, {num_joints}), T > 0."
        )
    whole, one = q.shape, (num_joints,)
    shapes = {"root": root.shape} | {name: array.shape for name, array in arrays.items()}
    for name, shape in shapes.items():
        expected = (whole[:1],) if name in ("root", "pinned") else (whole, one)
        if shape not in expected:
            raise InvalidValueError(
                f"Hand '{model.name}': {name} has shape {shape}; expected "
                f"{' or '.join(str(e) for e in expected)}, for the {len(q)} frames of q."
            )
    for name, array in ({"q": q} | arrays).items():
        if not np.isfinite(array).all():
            at = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
            raise InvalidValueError(
                f"Hand '{model.name}': {name}{at} is NaN or infinite; expected rad."
            )
    low, high = arrays["low"], arrays["high"]
    if np.any(low > high):
        joint = int(np.argwhere(np.atleast_2d(low > high))[0][1])
        raise InvalidValueError(
            f"Hand '{model.name}': low is above high for joint '{model.joints.names[joint]}', "
            "after the joint limits are taken in. Widen the bounds of that joint."
        )


def check_anchors(model: HandModel, num_frames: int, anchors: Anchors) -> None:
    """Refuses anchors that are not those of this hand and motion."""
    count = len(anchors.digit)
    for name, column in zip(anchors._fields, anchors, strict=True):
        expected = (count, 3) if name in ("local", "target") else (count,)
        if np.shape(column) != expected:
            raise InvalidValueError(
                f"Anchors: {name} has shape {np.shape(column)}; expected {expected}, for as many "
                "anchors as there are digits in 'digit'."
            )
        if not np.isfinite(column).all():
            raise InvalidValueError(
                f"Anchors: {name} holds NaN or infinity. Leave out anchors without a place."
            )
    if np.any(anchors.weight < 0.0):
        raise InvalidValueError(
            f"Anchors: the least weight is {anchors.weight.min()}; expected 0 or more."
        )
    for name, column, most in (
        ("digit", anchors.digit, len(model.digits)),
        ("frame", anchors.frame, num_frames),
    ):
        if count and not (column.min() >= 0 and column.max() < most):
            raise InvalidValueError(
                f"Anchors: {name} goes from {column.min()} to {column.max()}; expected 0 to "
                f"{most - 1}."
            )
    for row, digit in enumerate(model.digits):
        links = np.unique(anchors.link[anchors.digit == row])
        foreign = [int(link) for link in links if link - 1 not in digit.joints]
        if foreign:
            raise InvalidValueError(
                f"Anchors: links {foreign} are not moved by digit '{digit.name}' of hand "
                f"'{model.name}'; expected some of {[j + 1 for j in sorted(digit.joints)]}."
            )


def check_environment(num_frames: int, environment: EnvironmentArrays | None) -> None:
    """Refuses surroundings that are not given for every frame."""
    if environment is None:
        return
    planes, boxes = environment.offsets.shape[-1], len(environment.half_extents)
    for name, array, expected in (
        ("normals", environment.normals, (num_frames, planes, 3)),
        ("offsets", environment.offsets, (num_frames, planes)),
        ("positions", environment.positions, (num_frames, boxes, 3)),
        ("rotations", environment.rotations, (num_frames, boxes, 3, 3)),
    ):
        if array.shape != expected:
            raise InvalidValueError(
                f"environment: {name} have shape {array.shape}; expected {expected}. Make it with "
                "seen_over(environment, poses of the object)."
            )
        if not np.isfinite(array).all():
            raise InvalidValueError(f"environment: {name} hold NaN or infinity.")


def check_settings(weights: SpacetimeWeights) -> None:
    """Refuses weights that are negative or not finite, and a search without steps."""
    for name, value in zip(weights._fields, weights, strict=True):
        if not np.isfinite(value) or (value < 0.0 and not name.endswith("_margin")):
            raise InvalidValueError(
                f"SpacetimeWeights: {name} is {value!r}; expected a finite number of 0 or more."
            )
    if min(weights.max_iterations, weights.sweeps) < 1:
        raise InvalidValueError(
            f"max_iterations is {weights.max_iterations} and sweeps {weights.sweeps}; expected 1 "
            "or more of each."
        )
