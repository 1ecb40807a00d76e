"""Costs of goals for points and for directions (equation 13 of the paper)."""

from __future__ import annotations

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.model import POINT_GOAL, Model, ResidualWeights
from handwright.methods.trajopt.model.posing import add_body_gradient, add_link_gradient
from handwright.methods.trajopt.model.workspace import SampleWorkspace, add_dense


@kernel
def _rotated_by(work: SampleWorkspace, joint: int, v: tuple) -> tuple:
    """Rotates a direction from the frame of a link, or of the body (-1), to the world."""
    return vec.rotated(work.body_rotation if joint < 0 else work.rotation[joint], v)


@kernel
def _origin(m: Model, work: SampleWorkspace, joint: int) -> tuple:
    """Origin of a link, or of the body (-1), in the world, m."""
    return vec.triple(work.z, m.layout.first_body) if joint < 0 else vec.row(work.position, joint)


@kernel
def _add_gradient(
    m: Model, work: SampleWorkspace, joint: int, v: tuple, is_point: bool, at: tuple
) -> None:
    """Adds the derivatives of one component of a point, or of a direction, to a dense row.

    A direction is the difference between a point ``origin + v`` and the origin. ``at`` is the
    component, which is also the row, and a factor.
    """
    i, factor = at
    o = _origin(m, work, joint)
    p = vec.plus(o, v)
    if joint < 0:
        add_body_gradient(m, work, p, vec.unit(i), at)
        if not is_point:
            add_body_gradient(m, work, o, vec.unit(i), (i, -factor))
    else:
        add_link_gradient(m, work, joint, p, vec.unit(i), at)
        if not is_point:
            add_link_gradient(m, work, joint, o, vec.unit(i), (i, -factor))


@kernel
def goal_terms(
    m: Model, w: ResidualWeights, work: SampleWorkspace, n: int, scale: float, with_gradient: bool
) -> float:
    """Cost of row ``n`` of the goals."""
    g = m.goals
    joint, is_point = g.joint[n], g.kind[n] == POINT_GOAL
    v, target = _rotated_by(work, joint, vec.row(g.local, n)), vec.row(g.target, n)
    if g.is_on_body[n]:
        target = _rotated_by(work, -1, target)
    factor = scale * w.goal * g.weight[n]
    off = vec.minus(v, target)
    if is_point:
        off = vec.plus(off, _origin(m, work, joint))
        if g.is_on_body[n]:
            off = vec.minus(off, _origin(m, work, -1))
    if with_gradient:
        for i in range(3):
            work.residual[i] = factor * off[i]
            _add_gradient(m, work, joint, v, is_point, (i, factor))
            if g.is_on_body[n]:
                _add_gradient(m, work, -1, target, is_point, (i, -factor))
        add_dense(work, 3, m.layout.num_coordinates)
    return 0.5 * factor * factor * vec.dot(off, off)
