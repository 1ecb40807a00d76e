"""Arrays that residuals and their normal equations are computed in, and adding to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import Model

NUM_RESIDUALS, NUM_ROWS = 13, 16
"""Size of the largest block, that of a contact: its residuals, and rows with those for scratch."""


class SampleWorkspace(NamedTuple):
    """State of one sample, everything derived from it, and its part of the normal equations."""

    z: Float[np.ndarray, " state"]
    """State at the moment; see ``KeyLayout``."""
    rotation: Float[np.ndarray, "J 3 3"]
    """Rotation of every link in the world."""
    position: Float[np.ndarray, "J 3"]
    """Position of every link's origin in the world, m."""
    axis: Float[np.ndarray, "J 3"]
    """Axis of every joint in the world."""
    omega: Float[np.ndarray, "J 3"]
    """Angular velocity of every link, rad/s."""
    origin_velocity: Float[np.ndarray, "J 3"]
    """Velocity that every link, thought to extend there, has at the world's origin, m/s."""
    ends: Float[np.ndarray, "C 2 3"]
    """Ends of every capsule's axis in the world, m."""
    body_rotation: Float[np.ndarray, "3 3"]
    """Rotation of the body in the world."""
    hinge_axis: Float[np.ndarray, "3 3"]
    """Axes of the body's hinges in the world."""
    body_omega: Float[np.ndarray, "4 3"]
    """Angular velocity of the body after its first 0, 1, 2 and 3 hinges, rad/s."""
    rod_ends: Float[np.ndarray, "2 3"]
    """Ends of the axis of a body that is a capsule, in the world, m."""
    jacobian: Float[np.ndarray, "rows columns"]
    """Derivatives of a block of residuals by the variables in ``columns``."""
    residual: Float[np.ndarray, " rows"]
    """Residuals of the block."""
    columns: Int[np.ndarray, " columns"]
    """Indices of the variables of the block in the state."""
    dense: Float[np.ndarray, "3 Q"]
    """Derivatives of up to three residuals by all coordinates."""
    hessian: Float[np.ndarray, "state state"]
    """Gauss-Newton matrix J' J of the sample; only the lower half is used."""
    gradient: Float[np.ndarray, " state"]
    """Gradient of the sample's cost."""
    by_length: Float[np.ndarray, "2 state"]
    """Derivative of the state by the length of its phase, and a product with it."""


def make_workspace(model: Model) -> SampleWorkspace:
    """A workspace for one sample of a model."""
    layout, joints = model.layout, len(model.forest.parent)
    size = layout.state_size
    return SampleWorkspace(
        z=np.zeros(size),
        rotation=np.zeros((joints, 3, 3)),
        position=np.zeros((joints, 3)),
        axis=np.zeros((joints, 3)),
        omega=np.zeros((joints, 3)),
        origin_velocity=np.zeros((joints, 3)),
        ends=np.zeros((len(model.skeleton.joint), 2, 3)),
        body_rotation=np.zeros((3, 3)),
        hinge_axis=np.zeros((3, 3)),
        body_omega=np.zeros((4, 3)),
        rod_ends=np.zeros((2, 3)),
        jacobian=np.zeros((NUM_ROWS, size)),
        residual=np.zeros(NUM_RESIDUALS),
        columns=np.zeros(size, dtype=np.int64),
        dense=np.zeros((3, layout.num_coordinates)),
        hessian=np.zeros((size, size)),
        gradient=np.zeros(size),
        by_length=np.zeros((2, size)),
    )


class NormalEquations(NamedTuple):
    """Normal equations of a motion in blocks of key states."""

    diagonal: Float[np.ndarray, "K n n"]
    """Blocks of each key with itself, of which the lower half is used."""
    below: Float[np.ndarray, "K n n"]
    """``below[k]`` couples key k + 1 (rows) to key k (columns)."""
    gradient: Float[np.ndarray, "K n"]
    """Gradient of the cost."""


def make_normal_equations(num_keys: int, size: int) -> NormalEquations:
    """Empty normal equations of this many keys with this many variables each."""
    blocks = (num_keys, size, size)
    return NormalEquations(np.zeros(blocks), np.zeros(blocks), np.zeros((num_keys, size)))


@kernel
def add_rows(work: SampleWorkspace, num_rows: int, num_columns: int) -> None:
    """Adds a block of residuals by its Jacobian; ``work.columns`` must be in ascending order."""
    rows, residual, columns = work.jacobian, work.residual, work.columns
    for i in range(num_columns):
        ci = columns[i]
        total = 0.0
        for r in range(num_rows):
            total += rows[r, i] * residual[r]
        work.gradient[ci] += total
    # Row by row, so that the innermost loop runs along memory.
    for r in range(num_rows):
        for i in range(num_columns):
            value = rows[r, i]
            if value != 0.0:
                ci = columns[i]
                for k in range(i + 1):
                    work.hessian[ci, columns[k]] += value * rows[r, k]


@kernel
def add_dense(work: SampleWorkspace, num_rows: int, num_coordinates: int) -> None:
    """Adds the first rows of ``work.dense`` with their residuals, then clears these rows."""
    count = 0
    for i in range(num_coordinates):
        is_touched = False
        for r in range(num_rows):
            is_touched = is_touched or work.dense[r, i] != 0.0
        if is_touched:
            for r in range(num_rows):
                work.jacobian[r, count] = work.dense[r, i]
                work.dense[r, i] = 0.0
            work.columns[count] = i
            count += 1
    add_rows(work, num_rows, count)


@kernel
def add_single(work: SampleWorkspace, column: int, derivative: float, residual: float) -> None:
    """Adds one residual that depends on one variable."""
    work.hessian[column, column] += derivative * derivative
    work.gradient[column] += derivative * residual
