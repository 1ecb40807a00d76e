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

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.model import Model, Room, Weights
from handwright.methods.trajopt.model.posing import joint_motion
from handwright.methods.trajopt.model.rows import add_rows
from handwright.methods.trajopt.model.vectors import cross, rotated
from handwright.methods.trajopt.terms.body import contact_arm, hinge_axis
from handwright.methods.trajopt.terms.contact import (
    Touch,
    cone_slopes,
    in_cone,
    normal_slope,
    origin_motion,
    touch_of,
)

# Rows of room in which ``cone_slopes`` leaves slopes, and where the change of the normal is kept.
_OVER, _LACKS, _BY_NORMAL = 5, 6, 13


@kernel
def push_terms(m: Model, w: Weights, room: Room, phase: int, scale: float, want: bool) -> float:
    """Cost of all pushes at one moment; adds slopes if wanted."""
    if not (w.is_frozen and m.is_pushed[phase]):
        return 0.0
    cost = 0.0
    for number in range(m.pushes.force.shape[0]):
        cost += push_balance(m, w, room, number, scale, want)
    for j in range(m.num_contacts):
        if room.z[m.first_share + j] > 0.5:
            cost += _pushed_cones(m, w, room, j, scale, want)
    return cost


@kernel
def _first_change(m: Model, number: int, j: int) -> int:
    """Where the change of a contact's force for a push is in a key state."""
    return 2 * m.num_coordinates + 6 * m.num_contacts + 3 * (number * m.num_contacts + j)


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
        res[a], res[3 + a] = push[a], turned[a]
    for j in range(m.num_contacts):
        if z[m.first_share + j] > 0.5:
            i = _first_change(m, number, j)
            d = (z[i], z[i + 1], z[i + 2])
            turned = cross(contact_arm(m, room, j), d)
            for a in range(3):
                res[a] += d[a]
                res[3 + a] += turned[a]
    cost = 0.0
    for a in range(3):
        res[a] *= wf
        res[3 + a] *= wm
        cost += 0.5 * (res[a] * res[a] + res[3 + a] * res[3 + a])
    if want:
        _balance_slopes(m, room, number, wf, wm)
    return cost


@kernel
def _balance_slopes(m: Model, room: Room, number: int, wf: float, wm: float) -> None:
    """Slopes by the body's hinges, and by origins and changes of the contacts that are on."""
    nq, nc, z, rows = m.num_coordinates, m.num_contacts, room.z, room.rows
    num_on = 0
    for j in range(nc):
        if z[m.first_share + j] > 0.5:
            num_on += 1
    count = 3 + 6 * num_on
    for r in range(6):
        for i in range(count):
            rows[r, i] = 0.0
    push, point = m.pushes.force[number], m.pushes.point[number]
    arm, t = rotated(room.body_turn, point), room.body_turn
    for h in range(3):
        room.columns[h] = nq - 3 + h
        by_hinge = cross(cross(hinge_axis(room, h), arm), (push[0], push[1], push[2]))
        for b in range(3):
            rows[3 + b, h] = wm * by_hinge[b]
    place = 3
    for j in range(nc):
        if z[m.first_share + j] <= 0.5:
            continue
        i = _first_change(m, number, j)
        d, arm = (z[i], z[i + 1], z[i + 2]), contact_arm(m, room, j)
        for a in range(3):
            origin, change = place + a, place + 3 * num_on + a
            room.columns[origin], room.columns[change] = 2 * nq + 3 * nc + 3 * j + a, i + a
            unit = (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)
            by_change = cross(arm, unit)
            by_origin = cross((t[0, a], t[1, a], t[2, a]), d)
            by_hinge = cross(cross(hinge_axis(room, a), arm), d)
            rows[a, change] = wf
            for b in range(3):
                rows[3 + b, change] = wm * by_change[b]
                rows[3 + b, origin] = wm * by_origin[b]
                rows[3 + b, a] += wm * by_hinge[b]
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
    f = 2 * m.num_coordinates + 3 * j
    movers = -1
    cost = 0.0
    for number in range(m.pushes.force.shape[0]):
        d = _first_change(m, number, j)
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
        if movers < 0:
            movers = _turn_normal(m, room, j, touch)
        rows, first = room.rows, movers + 6
        for i in range(first + 9):
            rows[_OVER, i], rows[_LACKS, i] = 0.0, 0.0
            if i < first or first + 3 <= i < first + 6:
                bent = (rows[_BY_NORMAL, i], rows[_BY_NORMAL + 1, i], rows[_BY_NORMAL + 2, i])
                cone_slopes(room, i, push, wc, bent)
        for a in range(3):
            room.columns[first + 6 + a] = d + a
            by_over = push.across[a] / push.across_size - push.friction * n[a]
            for i in (first + a, first + 6 + a):
                rows[_OVER, i] = wc * by_over / weight if over > 0.0 else 0.0
                rows[_LACKS, i] = -wc * n[a] / weight if lacks > 0.0 else 0.0
        for i in range(first + 9):
            rows[0, i], rows[1, i] = rows[_OVER, i], rows[_LACKS, i]
        res[0], res[1] = wc * over, wc * lacks
        add_rows(room, 2, first + 9)
    return cost


@kernel
def _turn_normal(m: Model, room: Room, j: int, touch: Touch) -> int:
    """Lists coordinates of hand and body, force and origin, and how each turns the normal.

    Returns:
        How many coordinates of the hand there are.
    """
    f, side, p, rows = m.forest, touch.side, touch.point, room.rows
    nq, nc, joint = m.num_coordinates, m.num_contacts, touch.side.joint
    movers = f.num_movers[joint] if joint >= 0 else 0
    for a in range(3):
        for i in range(movers + 12):
            rows[_BY_NORMAL + a, i] = 0.0
    for i in range(movers):
        room.columns[i] = f.movers[joint, i]
    for i in range(6):
        room.columns[movers + i] = nq - 6 + i
    for a in range(3):
        room.columns[movers + 6 + a] = 2 * nq + 3 * j + a
        room.columns[movers + 9 + a] = 2 * nq + 3 * nc + 3 * j + a
    if joint < 0:
        return movers
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
            rows[_BY_NORMAL + a, slot] += bent[a]
    for i in range(9):
        moved = origin_motion(room, touch, i)[0]
        bent = normal_slope(side, moved, (0.0, 0.0, 0.0))
        for a in range(3):
            rows[_BY_NORMAL + a, movers + i if i < 6 else movers + 3 + i] = bent[a]
    return movers


@kernel
def worst_push(m: Model, w: Weights, room: Room, phase: int) -> float:
    """The largest share of a push that contacts do not take at one moment; 0 if none comes."""
    if not m.is_pushed[phase]:
        return 0.0
    worst = 0.0
    for number in range(m.pushes.force.shape[0]):
        push_balance(m, w, room, number, 1.0, False)
        r = room.residual
        force = math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        worst = max(worst, force, math.sqrt(r[3] * r[3] + r[4] * r[4] + r[5] * r[5]))
    for j in range(m.num_contacts):
        if room.z[m.first_share + j] > 0.5:
            worst = max(worst, math.sqrt(2.0 * _pushed_cones(m, w, room, j, 1.0, False)))
    return worst
