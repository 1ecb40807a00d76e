"""Costs of pushes on a held body that contacts cannot resist: robust grasps by scenarios.

Motion and contacts are shared; for every push the forces of the contacts may change. With F the
push, p its point, d_j the changes and a_j the arms of the contacts, all from the centre of mass,
the residuals of a push are

    F + sum d_j,    p x F + sum a_j x d_j,
    and for f_j + d_j what is outside the cone, and pulls.

The forces f_j produce the motion, so f_j + d_j produce it under the push, and accelerations do not
occur in these equations. Everything is relative to the size of the push. Contact variables must
have been rounded before.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import BODY, change_index, force_index, origin_index
from handwright.methods.trajopt.model.model import Model, ResidualWeights
from handwright.methods.trajopt.model.posing import joint_motion
from handwright.methods.trajopt.model.rows import add_rows
from handwright.methods.trajopt.model.vectors import cross, length_at, rotated
from handwright.methods.trajopt.model.workspace import SampleWorkspace
from handwright.methods.trajopt.terms.body import FORCE, MOMENT, contact_arm, hinge_axis
from handwright.methods.trajopt.terms.contact import (
    add_cone_gradient,
    normal_derivative,
    origin_motion,
)
from handwright.methods.trajopt.terms.contact_rows import CONE, NORMAL, SQUEEZE
from handwright.methods.trajopt.terms.contact_state import (
    ContactState,
    contact_state,
    decompose_force,
)


class _ConeColumns(NamedTuple):
    """First column of each block of variables that a contact's force under a push depends on."""

    hand: int
    body: int
    force: int
    origin: int
    change: int
    size: int


@kernel
def push_terms(
    m: Model,
    w: ResidualWeights,
    work: SampleWorkspace,
    phase: int,
    scale: float,
    with_gradient: bool,
) -> float:
    """Cost of all pushes at one sample."""
    if not (w.is_frozen and m.schedule.is_pushed[phase]):
        return 0.0
    cost = 0.0
    for number in range(m.pushes.force.shape[0]):
        cost += push_balance(m, w, work, number, scale, with_gradient)
    for j in range(m.layout.num_contacts):
        if work.z[m.layout.first_contact + j] > 0.5:
            cost += _pushed_cones(m, w, work, j, scale, with_gradient)
    return cost


@kernel
def push_balance(
    m: Model,
    w: ResidualWeights,
    work: SampleWorkspace,
    number: int,
    scale: float,
    with_gradient: bool,
) -> float:
    """Cost of the part of a push that changes of the forces do not balance.

    Its residuals stay in ``work.residual``.
    """
    z, res = work.z, work.residual
    push, point = m.pushes.force[number], m.pushes.point[number]
    arm = rotated(work.body_rotation, point)
    turned = cross(arm, (push[0], push[1], push[2]))
    wf = scale * w.push / m.pushes.size
    wm = wf / m.body.arm
    for a in range(3):
        res[FORCE + a], res[MOMENT + a] = push[a], turned[a]
    for j in range(m.layout.num_contacts):
        if z[m.layout.first_contact + j] > 0.5:
            i = change_index(m.layout, number, j)
            d = (z[i], z[i + 1], z[i + 2])
            turned = cross(contact_arm(m, work, j), d)
            for a in range(3):
                res[FORCE + a] += d[a]
                res[MOMENT + a] += turned[a]
    cost = 0.0
    for a in range(3):
        res[FORCE + a] *= wf
        res[MOMENT + a] *= wm
        cost += 0.5 * (res[FORCE + a] * res[FORCE + a] + res[MOMENT + a] * res[MOMENT + a])
    if with_gradient:
        _balance_gradient(m, work, number, wf, wm)
    return cost


@kernel
def _balance_gradient(m: Model, work: SampleWorkspace, number: int, wf: float, wm: float) -> None:
    """Derivatives by the body's hinges, and by origins and changes of contacts that are on."""
    layout, z, rows = m.layout, work.z, work.jacobian
    num_on = 0
    for j in range(layout.num_contacts):
        if z[layout.first_contact + j] > 0.5:
            num_on += 1
    count = 3 + 6 * num_on
    for r in range(6):
        for i in range(count):
            rows[r, i] = 0.0
    push, point = m.pushes.force[number], m.pushes.point[number]
    arm, t = rotated(work.body_rotation, point), work.body_rotation
    for h in range(3):
        work.columns[h] = layout.first_hinge + h
        by_hinge = cross(cross(hinge_axis(work, h), arm), (push[0], push[1], push[2]))
        for b in range(3):
            rows[MOMENT + b, h] = wm * by_hinge[b]
    first = 3
    for j in range(layout.num_contacts):
        if z[layout.first_contact + j] <= 0.5:
            continue
        i = change_index(m.layout, number, j)
        d, arm = (z[i], z[i + 1], z[i + 2]), contact_arm(m, work, j)
        for a in range(3):
            origin, change = first + a, first + 3 * num_on + a
            work.columns[origin] = origin_index(layout, j) + a
            work.columns[change] = i + a
            unit = (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)
            by_change = cross(arm, unit)
            by_origin = cross((t[0, a], t[1, a], t[2, a]), d)
            by_hinge = cross(cross(hinge_axis(work, a), arm), d)
            rows[FORCE + a, change] = wf
            for b in range(3):
                rows[MOMENT + b, change] = wm * by_change[b]
                rows[MOMENT + b, origin] = wm * by_origin[b]
                rows[MOMENT + b, a] += wm * by_hinge[b]
        first += 3
    add_rows(work, 6, count)


@kernel
def _pushed_cones(
    m: Model, w: ResidualWeights, work: SampleWorkspace, j: int, scale: float, with_gradient: bool
) -> float:
    """Cost of a contact's forces under all pushes, as far as they pull or are outside the cone."""
    g, z, res = m.gravity, work.z, work.residual
    weight = m.body.mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    wc = scale * w.push * weight / m.pushes.size
    state = contact_state(m, work, j)
    mu, n = m.contacts.friction[j] * w.friction, state.toucher.normal
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
        cone = decompose_force(force, n, mu, 0.0, False)
        excess, shortfall = max(cone.excess, 0.0), max(cone.shortfall, 0.0)
        cost += 0.5 * wc * wc * (excess * excess + shortfall * shortfall)
        if not with_gradient or (excess == 0.0 and shortfall == 0.0):
            continue
        if not is_listed:
            at, is_listed = _normal_derivatives(m, work, j, state), True
        rows = work.jacobian
        for i in range(at.size):
            rows[CONE, i], rows[SQUEEZE, i] = 0.0, 0.0
            if i < at.force or at.origin <= i < at.change:
                dn = (rows[NORMAL, i], rows[NORMAL + 1, i], rows[NORMAL + 2, i])
                add_cone_gradient(work, i, cone, wc, dn)
        for a in range(3):
            work.columns[at.change + a] = d + a
            by_force = cone.tangential[a] / cone.tangential_size - cone.friction * n[a]
            for i in (at.force + a, at.change + a):
                rows[CONE, i] = wc * by_force / weight if excess > 0.0 else 0.0
                rows[SQUEEZE, i] = -wc * n[a] / weight if shortfall > 0.0 else 0.0
        for i in range(at.size):
            rows[0, i], rows[1, i] = rows[CONE, i], rows[SQUEEZE, i]
        res[0], res[1] = wc * excess, wc * shortfall
        add_rows(work, 2, at.size)
    return cost


@kernel
def _cone_columns(num_movers: int) -> _ConeColumns:
    """Columns for a link that is moved by this many coordinates."""
    n = num_movers
    return _ConeColumns(0, n, n + BODY, n + 9, n + 12, n + 15)


@kernel
def _normal_derivatives(
    m: Model, work: SampleWorkspace, j: int, state: ContactState
) -> _ConeColumns:
    """Lists coordinates of hand and body, force and origin, with the derivatives of the normal."""
    f, toucher, p, rows = m.forest, state.toucher, state.point, work.jacobian
    layout, joint = m.layout, state.toucher.joint
    num_movers = f.num_movers[joint] if joint >= 0 else 0
    at = _cone_columns(num_movers)
    for a in range(3):
        for i in range(at.change):
            rows[NORMAL + a, i] = 0.0
    for i in range(num_movers):
        work.columns[at.hand + i] = f.movers[joint, i]
    for i in range(BODY):
        work.columns[at.body + i] = layout.first_body + i
    for a in range(3):
        work.columns[at.force + a] = force_index(layout, j) + a
        work.columns[at.origin + a] = origin_index(layout, j) + a
    if joint < 0:
        return at
    for i in range(f.chain.shape[1]):
        k = f.chain[joint, i]
        if k < 0:
            break
        slot = f.slot[joint, i]
        if slot < 0:
            continue
        ratio, v = f.ratio[k], joint_motion(m, work, k, p[0], p[1], p[2])
        turned = (0.0, 0.0, 0.0)
        if not f.is_slide[k]:
            turned = (ratio * work.axis[k, 0], ratio * work.axis[k, 1], ratio * work.axis[k, 2])
        dn = normal_derivative(toucher, (-ratio * v[0], -ratio * v[1], -ratio * v[2]), turned)
        for a in range(3):
            rows[NORMAL + a, at.hand + slot] += dn[a]
    for i in range(9):
        moved = origin_motion(work, state, i)[0]
        dn = normal_derivative(toucher, moved, (0.0, 0.0, 0.0))
        for a in range(3):
            rows[NORMAL + a, at.body + i if i < BODY else at.origin + i - BODY] = dn[a]
    return at


@kernel
def worst_push(m: Model, w: ResidualWeights, work: SampleWorkspace, phase: int) -> float:
    """The largest share of a push that contacts do not resist at one sample; 0 without a push."""
    if not m.schedule.is_pushed[phase]:
        return 0.0
    worst = 0.0
    for number in range(m.pushes.force.shape[0]):
        push_balance(m, w, work, number, 1.0, False)
        r = work.residual
        worst = max(worst, length_at(r, FORCE), length_at(r, MOMENT))
    for j in range(m.layout.num_contacts):
        if work.z[m.layout.first_contact + j] > 0.5:
            worst = max(worst, math.sqrt(2.0 * _pushed_cones(m, w, work, j, 1.0, False)))
    return worst
