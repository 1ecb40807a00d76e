"""Costs of goals: a point at a place, or a direction along another (equation 13 of the paper)."""

from __future__ import annotations

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import POINT_GOAL, Model, Room, Weights
from handwright.methods.trajopt.model.posing import add_body_slopes, add_link_slopes
from handwright.methods.trajopt.model.rows import add_dense
from handwright.methods.trajopt.model.vectors import rotated


@kernel
def _turned(room: Room, joint: int, v: tuple) -> tuple:
    """A direction of a link, or of the body (-1), in the world."""
    return rotated(room.body_turn if joint < 0 else room.turn[joint], v)


@kernel
def _origin(m: Model, room: Room, joint: int) -> tuple:
    i = m.layout.first_body
    if joint < 0:
        return room.z[i], room.z[i + 1], room.z[i + 2]
    return room.place[joint, 0], room.place[joint, 1], room.place[joint, 2]


@kernel
def _add_slopes(
    m: Model, room: Room, joint: int, v: tuple, is_point: bool, row: int, factor: float
) -> None:
    """Adds the slopes of one part of a point, or of a direction, to a dense row.

    A direction is the difference of a point ``origin + v`` and the origin.
    """
    part = (1.0 if row == 0 else 0.0, 1.0 if row == 1 else 0.0, 1.0 if row == 2 else 0.0)
    o = _origin(m, room, joint)
    p = (o[0] + v[0], o[1] + v[1], o[2] + v[2])
    if joint < 0:
        add_body_slopes(m, room, p, part, row, factor)
        if not is_point:
            add_body_slopes(m, room, o, part, row, -factor)
    else:
        add_link_slopes(m, room, joint, p, part, row, factor)
        if not is_point:
            add_link_slopes(m, room, joint, o, part, row, -factor)


@kernel
def goal_terms(m: Model, w: Weights, room: Room, row: int, scale: float, want: bool) -> float:
    """Cost of one goal; adds slopes if wanted."""
    g = m.goals
    joint, is_point = g.joint[row], g.kind[row] == POINT_GOAL
    v = _turned(room, joint, (g.local[row, 0], g.local[row, 1], g.local[row, 2]))
    target = (g.target[row, 0], g.target[row, 1], g.target[row, 2])
    if g.is_on_body[row]:
        target = _turned(room, -1, target)
    factor = scale * w.goal * g.weight[row]
    off = (v[0] - target[0], v[1] - target[1], v[2] - target[2])
    if is_point:
        o = _origin(m, room, joint)
        off = (off[0] + o[0], off[1] + o[1], off[2] + o[2])
        if g.is_on_body[row]:
            b = _origin(m, room, -1)
            off = (off[0] - b[0], off[1] - b[1], off[2] - b[2])
    cost = 0.5 * factor * factor * (off[0] * off[0] + off[1] * off[1] + off[2] * off[2])
    if want:
        for i in range(3):
            room.residual[i] = factor * off[i]
            _add_slopes(m, room, joint, v, is_point, i, factor)
            if g.is_on_body[row]:
                _add_slopes(m, room, -1, target, is_point, i, -factor)
        add_dense(room, 3, m.layout.num_coordinates)
    return cost
