"""Costs of goals for points and for directions (equation 13 of the paper)."""

from __future__ import annotations

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import POINT_GOAL, Model, ResidualWeights
from handwright.methods.trajopt.model.posing import add_body_gradient, add_link_gradient
from handwright.methods.trajopt.model.rows import add_dense
from handwright.methods.trajopt.model.vectors import rotated
from handwright.methods.trajopt.model.workspace import SampleWorkspace


@kernel
def _rotated_by(work: SampleWorkspace, joint: int, v: tuple) -> tuple:
    """Rotates a direction from the frame of a link, or of the body (-1), to the world."""
    return rotated(work.body_rotation if joint < 0 else work.rotation[joint], v)


@kernel
def _origin(m: Model, work: SampleWorkspace, joint: int) -> tuple:
    """Origin of a link, or of the body (-1), in the world, m."""
    i = m.layout.first_body
    if joint < 0:
        return work.z[i], work.z[i + 1], work.z[i + 2]
    return work.position[joint, 0], work.position[joint, 1], work.position[joint, 2]


@kernel
def _add_gradient(
    m: Model, work: SampleWorkspace, joint: int, v: tuple, is_point: bool, row: int, factor: float
) -> None:
    """Adds the derivatives of one component of a point, or of a direction, to a dense row.

    A direction is the difference between a point ``origin + v`` and the origin.
    """
    axis = (1.0 if row == 0 else 0.0, 1.0 if row == 1 else 0.0, 1.0 if row == 2 else 0.0)
    o = _origin(m, work, joint)
    p = (o[0] + v[0], o[1] + v[1], o[2] + v[2])
    if joint < 0:
        add_body_gradient(m, work, p, axis, row, factor)
        if not is_point:
            add_body_gradient(m, work, o, axis, row, -factor)
    else:
        add_link_gradient(m, work, joint, p, axis, row, factor)
        if not is_point:
            add_link_gradient(m, work, joint, o, axis, row, -factor)


@kernel
def goal_terms(
    m: Model, w: ResidualWeights, work: SampleWorkspace, row: int, scale: float, with_gradient: bool
) -> float:
    """Cost of one row of the goals."""
    g = m.goals
    joint, is_point = g.joint[row], g.kind[row] == POINT_GOAL
    v = _rotated_by(work, joint, (g.local[row, 0], g.local[row, 1], g.local[row, 2]))
    target = (g.target[row, 0], g.target[row, 1], g.target[row, 2])
    if g.is_on_body[row]:
        target = _rotated_by(work, -1, target)
    factor = scale * w.goal * g.weight[row]
    off = (v[0] - target[0], v[1] - target[1], v[2] - target[2])
    if is_point:
        o = _origin(m, work, joint)
        off = (off[0] + o[0], off[1] + o[1], off[2] + o[2])
        if g.is_on_body[row]:
            b = _origin(m, work, -1)
            off = (off[0] - b[0], off[1] - b[1], off[2] - b[2])
    cost = 0.5 * factor * factor * (off[0] * off[0] + off[1] * off[1] + off[2] * off[2])
    if with_gradient:
        for i in range(3):
            work.residual[i] = factor * off[i]
            _add_gradient(m, work, joint, v, is_point, i, factor)
            if g.is_on_body[row]:
                _add_gradient(m, work, -1, target, is_point, i, -factor)
        add_dense(work, 3, m.layout.num_coordinates)
    return cost
