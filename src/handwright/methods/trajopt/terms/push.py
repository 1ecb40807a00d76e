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
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.layout import BODY, change_index, force_index, origin_index
from handwright.methods.trajopt.model.model import Model, ResidualWeights
from handwright.methods.trajopt.model.posing import joint_motion
from handwright.methods.trajopt.model.workspace import SampleWorkspace, add_rows
from handwright.methods.trajopt.terms.body import FORCE, MOMENT, body_weight, contact_arm
from handwright.methods.trajopt.terms.contact import (
    add_cone_gradient,
    normal_derivative,
    origin_motion,
)
from handwright.methods.trajopt.terms.contact_state import (
    CONE,
    NORMAL,
    SQUEEZE,
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
def _is_on(m: Model, work: SampleWorkspace, j: int) -> bool:
    """Whether contact ``j`` is on."""
    return work.z[m.layout.first_contact + j] > 0.5


@kernel
def push_terms(
    m: Model, w: ResidualWeights, work: SampleWorkspace, k: int, scale: float, with_gradient: bool
) -> float:
    """Cost of all pushes at a sample of phase ``k``."""
    if not (w.is_frozen and m.schedule.is_pushed[k]):
        return 0.0
    cost = 0.0
    for n in range(m.pushes.force.shape[0]):
        cost += push_balance(m, w, work, n, scale, with_gradient)
    for j in range(m.layout.num_contacts):
        if _is_on(m, work, j):
            cost += _pushed_cones(m, w, work, j, scale, with_gradient)
    return cost


@kernel
def push_balance(
    m: Model, w: ResidualWeights, work: SampleWorkspace, n: int, scale: float, with_gradient: bool
) -> float:
    """Cost of the part of push ``n`` that changes of the forces do not balance.

    Its residuals stay in ``work.residual``.
    """
    res, force = work.residual, vec.row(m.pushes.force, n)
    moment = vec.cross(vec.rotated(work.body_rotation, m.pushes.point[n]), force)
    wf = scale * w.push / m.pushes.size
    wm = wf / m.body.arm
    for j in range(m.layout.num_contacts):
        if _is_on(m, work, j):
            d = vec.triple(work.z, change_index(m.layout, n, j))
            force, moment = (
                vec.plus(force, d),
                vec.plus(moment, vec.cross(contact_arm(m, work, j), d)),
            )
    cost = 0.0
    for a in range(3):
        res[FORCE + a], res[MOMENT + a] = wf * force[a], wm * moment[a]
        cost += 0.5 * (res[FORCE + a] * res[FORCE + a] + res[MOMENT + a] * res[MOMENT + a])
    if with_gradient:
        _balance_gradient(m, work, n, wf, wm)
    return cost


@kernel
def _balance_gradient(m: Model, work: SampleWorkspace, n: int, wf: float, wm: float) -> None:
    """Derivatives by the body's hinges, and by origins and changes of contacts that are on."""
    layout, rows, t = m.layout, work.jacobian, work.body_rotation
    num_on = 0
    for j in range(layout.num_contacts):
        num_on += _is_on(m, work, j)
    count = 3 + 6 * num_on
    for r in range(6):
        for i in range(count):
            rows[r, i] = 0.0
    arm, push = vec.rotated(t, m.pushes.point[n]), vec.row(m.pushes.force, n)
    for h in range(3):
        work.columns[h] = layout.first_hinge + h
        by_hinge = vec.cross(vec.cross(vec.row(work.hinge_axis, h), arm), push)
        for b in range(3):
            rows[MOMENT + b, h] = wm * by_hinge[b]
    first = 3
    for j in range(layout.num_contacts):
        if not _is_on(m, work, j):
            continue
        i = change_index(layout, n, j)
        d, arm = vec.triple(work.z, i), contact_arm(m, work, j)
        for a in range(3):
            origin, change = first + a, first + 3 * num_on + a
            work.columns[origin] = origin_index(layout, j) + a
            work.columns[change] = i + a
            by_change, by_origin = vec.cross(arm, vec.unit(a)), vec.cross(vec.column(t, a), d)
            by_hinge = vec.cross(vec.cross(vec.row(work.hinge_axis, a), arm), d)
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
    z, res, rows, weight = work.z, work.residual, work.jacobian, body_weight(m)
    wc = scale * w.push * weight / m.pushes.size
    state = contact_state(m, work, j)
    mu, n = m.contacts.friction[j] * w.friction, state.toucher.normal
    f = vec.triple(z, force_index(m.layout, j))
    at, is_listed = _cone_columns(0), False
    cost = 0.0
    for number in range(m.pushes.force.shape[0]):
        d = change_index(m.layout, number, j)
        cone = decompose_force(vec.over(vec.plus(f, vec.triple(z, d)), weight), n, mu, 0.0, False)
        excess, shortfall = max(cone.excess, 0.0), max(cone.shortfall, 0.0)
        cost += 0.5 * wc * wc * (excess * excess + shortfall * shortfall)
        if not with_gradient or (excess == 0.0 and shortfall == 0.0):
            continue
        if not is_listed:
            at, is_listed = _normal_derivatives(m, work, j, state), True
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
        ratio, v = f.ratio[k], joint_motion(m, work, k, p)
        turned = vec.ZERO if f.is_slide[k] else vec.times(vec.row(work.axis, k), ratio)
        dn = normal_derivative(toucher, vec.times(v, -ratio), turned)
        for a in range(3):
            rows[NORMAL + a, at.hand + slot] += dn[a]
    for i in range(9):
        moved = origin_motion(work, state, i)[0]
        dn = normal_derivative(toucher, moved, vec.ZERO)
        for a in range(3):
            rows[NORMAL + a, at.body + i if i < BODY else at.origin + i - BODY] = dn[a]
    return at


@kernel
def worst_push(m: Model, w: ResidualWeights, work: SampleWorkspace, phase: int) -> float:
    """The largest share of a push that contacts do not resist at one sample; 0 without a push."""
    if not m.schedule.is_pushed[phase]:
        return 0.0
    worst, r = 0.0, work.residual
    for n in range(m.pushes.force.shape[0]):
        push_balance(m, w, work, n, 1.0, False)
        worst = max(worst, vec.norm(vec.triple(r, FORCE)), vec.norm(vec.triple(r, MOMENT)))
    for j in range(m.layout.num_contacts):
        if _is_on(m, work, j):
            worst = max(worst, math.sqrt(2.0 * _pushed_cones(m, w, work, j, 1.0, False)))
    return worst
