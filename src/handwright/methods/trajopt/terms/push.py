"""Costs of pushes on a held body that contacts cannot take: robust grasps by scenarios.

Motion and contacts are shared; for every push the forces of the contacts may change. With F the
push, p its point, d_j the changes and a_j the arms of the contacts, all from the centre of mass,
the residuals of a push are

    F + sum d_j,    p x F + sum a_j x d_j,
    and for f_j + d_j what sticks out of the cone, and pulls.

The forces f_j make the motion, so f_j + d_j make it under the push: accelerations need not come in
again. All counts in shares of the push. Contact variables have to be rounded before.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import BODY, change_index, force_index, origin_index
from handwright.methods.trajopt.model.model import Model, Room, Weights
from handwright.methods.trajopt.model.posing import joint_motion
from handwright.methods.trajopt.model.rows import add_rows
from handwright.methods.trajopt.model.vectors import cross, length_at, rotated
from handwright.methods.trajopt.terms.body import FORCE, MOMENT, contact_arm, hinge_axis
from handwright.methods.trajopt.terms.contact import (
    Touch,
    cone_slopes,
    in_cone,
    normal_slope,
    origin_motion,
    touch_of,
)
from handwright.methods.trajopt.terms.contact_rows import CONE, NORMAL, SQUEEZE


class _ConeColumns(NamedTuple):
    """First column of each block of variables that a contact's force under a push depends on."""

    hand: int
    body: int
    force: int
    origin: int
    change: int
    size: int


@kernel
def push_terms(m: Model, w: Weights, room: Room, phase: int, scale: float, want: bool) -> float:
    """Cost of all pushes at one moment; adds slopes if wanted."""
    if not (w.is_frozen and m.is_pushed[phase]):
        return 0.0
    cost = 0.0
    for number in range(m.pushes.force.shape[0]):
        cost += push_balance(m, w, room, number, scale, want)
    for j in range(m.layout.num_contacts):
        if room.z[m.layout.first_contact + j] > 0.5:
            cost += _pushed_cones(m, w, room, j, scale, want)
    return cost


@kernel
def push_balance(m: Model, w: Weights, room: Room, number: int, scale: float, want: bool) -> float:
    """Cost of what changes of the forces leave of a push; its residuals are in ``room``."""
    z, res = room.z, room.residual
    push, point = m.pushes.force[number], m.pushes.point[number]
    arm = rotated(room.body_turn, point)
    turned = cross(arm, (push[0], push[1], push[2]))
    wf = scale * w.push / m.pushes.size
    wm = wf / m.body.arm
    for a in range(3):
        res[FORCE + a], res[MOMENT + a] = push[a], turned[a]
    for j in range(m.layout.num_contacts):
        if z[m.layout.first_contact + j] > 0.5:
            i = change_index(m.layout, number, j)
            d = (z[i], z[i + 1], z[i + 2])
            turned = cross(contact_arm(m, room, j), d)
            for a in range(3):
                res[FORCE + a] += d[a]
                res[MOMENT + a] += turned[a]
    cost = 0.0
    for a in range(3):
        res[FORCE + a] *= wf
        res[MOMENT + a] *= wm
        cost += 0.5 * (res[FORCE + a] * res[FORCE + a] + res[MOMENT + a] * res[MOMENT + a])
    if want:
        _balance_slopes(m, room, number, wf, wm)
    return cost


@kernel
def _balance_slopes(m: Model, room: Room, number: int, wf: float, wm: float) -> None:
    """Slopes by the body's hinges, and by origins and changes of the contacts that are on."""
    layout, z, rows = m.layout, room.z, room.rows
    num_on = 0
    for j in range(layout.num_contacts):
        if z[layout.first_contact + j] > 0.5:
            num_on += 1
    count = 3 + 6 * num_on
    for r in range(6):
        for i in range(count):
            rows[r, i] = 0.0
    push, point = m.pushes.force[number], m.pushes.point[number]
    arm, t = rotated(room.body_turn, point), room.body_turn
    for h in range(3):
        room.columns[h] = layout.first_hinge + h
        by_hinge = cross(cross(hinge_axis(room, h), arm), (push[0], push[1], push[2]))
        for b in range(3):
            rows[MOMENT + b, h] = wm * by_hinge[b]
    place = 3
    for j in range(layout.num_contacts):
        if z[layout.first_contact + j] <= 0.5:
            continue
        i = change_index(m.layout, number, j)
        d, arm = (z[i], z[i + 1], z[i + 2]), contact_arm(m, room, j)
        for a in range(3):
            origin, change = place + a, place + 3 * num_on + a
            room.columns[origin] = origin_index(layout, j) + a
            room.columns[change] = i + a
            unit = (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)
            by_change = cross(arm, unit)
            by_origin = cross((t[0, a], t[1, a], t[2, a]), d)
            by_hinge = cross(cross(hinge_axis(room, a), arm), d)
            rows[FORCE + a, change] = wf
            for b in range(3):
                rows[MOMENT + b, change] = wm * by_change[b]
                rows[MOMENT + b, origin] = wm * by_origin[b]
                rows[MOMENT + b, a] += wm * by_hinge[b]
        place += 3
    add_rows(room, 6, count)


@kernel
def _pushed_cones(m: Model, w: Weights, room: Room, j: int, scale: float, want: bool) -> float:
    """Cost of a contact's forces under all pushes, as far as they pull or leave the cone."""
    g, z, res = m.gravity, room.z, room.residual
    weight = m.body.mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    wc = scale * w.push * weight / m.pushes.size
    touch = touch_of(m, room, j)
    mu, n = m.contacts.friction[j] * w.friction, touch.side.normal
    f = force_index(m.layout, j)
    at, is_listed = _cone_columns(0), False
    cost = 0.0
    for number in range(m.pushes.force.shape[0]):
        d = change_index(m.layout, number, j)
        force = (
            (z[f] + z[d]) / weight,
            (z[f + 1] + z[d + 1]) / weight,
            (z[f + 2] + z[d + 2]) / weight,
        )
        push = in_cone(force, n, mu, 0.0, False)
        over, lacks = max(push.over, 0.0), max(push.lacks, 0.0)
        cost += 0.5 * wc * wc * (over * over + lacks * lacks)
        if not want or (over == 0.0 and lacks == 0.0):
            continue
        if not is_listed:
            at, is_listed = _turn_normal(m, room, j, touch), True
        rows = room.rows
        for i in range(at.size):
            rows[CONE, i], rows[SQUEEZE, i] = 0.0, 0.0
            if i < at.force or at.origin <= i < at.change:
                bent = (rows[NORMAL, i], rows[NORMAL + 1, i], rows[NORMAL + 2, i])
                cone_slopes(room, i, push, wc, bent)
        for a in range(3):
            room.columns[at.change + a] = d + a
            by_over = push.across[a] / push.across_size - push.friction * n[a]
            for i in (at.force + a, at.change + a):
                rows[CONE, i] = wc * by_over / weight if over > 0.0 else 0.0
                rows[SQUEEZE, i] = -wc * n[a] / weight if lacks > 0.0 else 0.0
        for i in range(at.size):
            rows[0, i], rows[1, i] = rows[CONE, i], rows[SQUEEZE, i]
        res[0], res[1] = wc * over, wc * lacks
        add_rows(room, 2, at.size)
    return cost


@kernel
def _cone_columns(num_movers: int) -> _ConeColumns:
    """Columns for a link that is moved by this many coordinates."""
    n = num_movers
    return _ConeColumns(0, n, n + BODY, n + 9, n + 12, n + 15)


@kernel
def _turn_normal(m: Model, room: Room, j: int, touch: Touch) -> _ConeColumns:
    """Lists coordinates of hand and body, force and origin, and how each turns the normal."""
    f, side, p, rows = m.forest, touch.side, touch.point, room.rows
    layout, joint = m.layout, touch.side.joint
    num_movers = f.num_movers[joint] if joint >= 0 else 0
    at = _cone_columns(num_movers)
    for a in range(3):
        for i in range(at.change):
            rows[NORMAL + a, i] = 0.0
    for i in range(num_movers):
        room.columns[at.hand + i] = f.movers[joint, i]
    for i in range(BODY):
        room.columns[at.body + i] = layout.first_body + i
    for a in range(3):
        room.columns[at.force + a] = force_index(layout, j) + a
        room.columns[at.origin + a] = origin_index(layout, j) + a
    if joint < 0:
        return at
    for i in range(f.chain.shape[1]):
        k = f.chain[joint, i]
        if k < 0:
            break
        slot = f.slot[joint, i]
        if slot < 0:
            continue
        ratio, v = f.ratio[k], joint_motion(m, room, k, p[0], p[1], p[2])
        turned = (0.0, 0.0, 0.0)
        if not f.is_slide[k]:
            turned = (ratio * room.axis[k, 0], ratio * room.axis[k, 1], ratio * room.axis[k, 2])
        bent = normal_slope(side, (-ratio * v[0], -ratio * v[1], -ratio * v[2]), turned)
        for a in range(3):
            rows[NORMAL + a, at.hand + slot] += bent[a]
    for i in range(9):
        moved = origin_motion(room, touch, i)[0]
        bent = normal_slope(side, moved, (0.0, 0.0, 0.0))
        for a in range(3):
            rows[NORMAL + a, at.body + i if i < BODY else at.origin + i - BODY] = bent[a]
    return at


@kernel
def worst_push(m: Model, w: Weights, room: Room, phase: int) -> float:
    """The largest share of a push that contacts do not take at one moment; 0 if none comes."""
    if not m.is_pushed[phase]:
        return 0.0
    worst = 0.0
    for number in range(m.pushes.force.shape[0]):
        push_balance(m, w, room, number, 1.0, False)
        r = room.residual
        worst = max(worst, length_at(r, FORCE), length_at(r, MOMENT))
    for j in range(m.layout.num_contacts):
        if room.z[m.layout.first_contact + j] > 0.5:
            worst = max(worst, math.sqrt(2.0 * _pushed_cones(m, w, room, j, 1.0, False)))
    return worst
