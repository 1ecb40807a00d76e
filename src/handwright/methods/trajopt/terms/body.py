"""Newton's and Euler's equations of the body: equations 7 to 9 of the paper.

The moment of a force is (r - x) x f; the paper prints the factors the other way round.
"""

from __future__ import annotations

from typing import NamedTuple

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.layout import BODY, KeyLayout, force_index, origin_index
from handwright.methods.trajopt.model.model import Model, ResidualWeights
from handwright.methods.trajopt.model.workspace import SampleWorkspace, add_rows

FORCE, MOMENT = 0, 3
"""First rows of the residuals of Newton's and of Euler's equation."""
_NUM_ROWS = 6


class _Columns(NamedTuple):
    """First column of each block of variables that the equations of motion depend on."""

    hinge: int
    hinge_rate: int
    force: int
    origin: int
    contact: int
    acceleration: int
    size: int


@kernel
def body_weight(m: Model) -> float:
    """Weight of the body, N."""
    return m.body.mass * vec.norm(m.gravity)


@kernel
def _inertia_times(m: Model, work: SampleWorkspace, v: tuple) -> tuple:
    """Inertia tensor in the world times a world vector."""
    t = work.body_rotation
    return vec.rotated(t, vec.rotated(m.body.inertia, vec.rotated_back(t, v)))


@kernel
def angular_acceleration(m: Model, work: SampleWorkspace) -> tuple:
    """Angular acceleration: hinge accelerations, and rates of hinges whose axes rotate."""
    layout = m.layout
    alpha = vec.ZERO
    for h in range(3):
        axis = vec.row(work.hinge_axis, h)
        alpha = vec.plus_times(alpha, axis, work.z[layout.first_hinge_acceleration + h])
        rate = work.z[layout.first_hinge_rate + h]
        alpha = vec.plus_times(alpha, vec.cross(vec.row(work.body_omega, h), axis), rate)
    return alpha


@kernel
def _momentum_rate_derivative(
    m: Model, work: SampleWorkspace, omega: tuple, momentum: tuple, d_omega: tuple, d_alpha: tuple
) -> tuple:
    """Derivative of I alpha + omega x I omega by omega and alpha; ``momentum`` is I omega."""
    out = _inertia_times(m, work, d_alpha)
    out = vec.plus_times(out, vec.cross(d_omega, momentum), 1.0)
    return vec.plus_times(out, vec.cross(omega, _inertia_times(m, work, d_omega)), 1.0)


@kernel
def contact_arm(m: Model, work: SampleWorkspace, j: int) -> tuple:
    """Vector from the centre of mass to the origin of a contact's force, in the world, m."""
    return vec.rotated(work.body_rotation, vec.triple(work.z, origin_index(m.layout, j)))


@kernel
def _force(m: Model, work: SampleWorkspace, j: int) -> tuple:
    """Force of a contact, N."""
    return vec.triple(work.z, force_index(m.layout, j))


@kernel
def body_terms(
    m: Model, w: ResidualWeights, work: SampleWorkspace, scale: float, with_gradient: bool
) -> float:
    """Cost of the force and moment that the motion needs and contacts do not give."""
    layout, z, res = m.layout, work.z, work.residual
    ci, weight = layout.first_contact, body_weight(m)
    wf, wm = scale * w.force / weight, scale * w.moment / (weight * m.body.arm)
    omega, alpha = vec.row(work.body_omega, 3), angular_acceleration(m, work)
    momentum, inertial = _inertia_times(m, work, omega), _inertia_times(m, work, alpha)
    force = vec.times(vec.minus(m.gravity, vec.triple(z, layout.first_acceleration)), m.body.mass)
    moment = vec.minus(vec.times(inertial, -1.0), vec.cross(omega, momentum))
    for j in range(layout.num_contacts):
        if z[ci + j] != 0.0:
            f = _force(m, work, j)
            force = vec.plus_times(force, f, z[ci + j])
            moment = vec.plus_times(moment, vec.cross(contact_arm(m, work, j), f), z[ci + j])
    cost = 0.0
    for a in range(3):
        res[FORCE + a], res[MOMENT + a] = wf * force[a], wm * moment[a]
        cost += 0.5 * (res[FORCE + a] * res[FORCE + a] + res[MOMENT + a] * res[MOMENT + a])
    if with_gradient:
        columns = _list_columns(layout, work)
        for j in range(layout.num_contacts):
            _contact_gradient(m, work, columns, j, wf, wm)
        for h in range(3):
            _hinge_gradient(m, work, columns, h, (omega, alpha, momentum, inertial), wf, wm)
        add_rows(work, _NUM_ROWS, columns.size)
    return cost


@kernel
def _list_columns(layout: KeyLayout, work: SampleWorkspace) -> _Columns:
    """Lists the variables of the equations of motion and clears their derivatives."""
    nc = layout.num_contacts
    at = _Columns(0, 3, 6, 6 + 3 * nc, 6 + 6 * nc, 6 + 7 * nc, 12 + 7 * nc)
    for r in range(_NUM_ROWS):
        for i in range(at.size):
            work.jacobian[r, i] = 0.0
    for h in range(3):
        work.columns[at.hinge + h] = layout.first_hinge + h
        work.columns[at.hinge_rate + h] = layout.first_hinge_rate + h
    for i in range(3 * nc):
        work.columns[at.force + i] = layout.first_force + i
        work.columns[at.origin + i] = layout.first_origin + i
    for i in range(nc):
        work.columns[at.contact + i] = layout.first_contact + i
    for i in range(BODY):
        work.columns[at.acceleration + i] = layout.first_acceleration + i
    return at


@kernel
def _contact_gradient(
    m: Model, work: SampleWorkspace, at: _Columns, j: int, wf: float, wm: float
) -> None:
    """Derivatives by a contact's force, origin and variable, and by hinges that rotate its arm."""
    rows, t = work.jacobian, work.body_rotation
    c = work.z[m.layout.first_contact + j]
    f, arm = _force(m, work, j), contact_arm(m, work, j)
    turned = vec.cross(arm, f)
    for a in range(3):
        rows[FORCE + a, at.contact + j] = wf * f[a]
        rows[MOMENT + a, at.contact + j] = wm * turned[a]
    if c == 0.0:
        return
    for a in range(3):
        by_force = vec.cross(arm, vec.unit(a))
        by_origin = vec.cross(vec.column(t, a), f)
        by_hinge = vec.cross(vec.cross(vec.row(work.hinge_axis, a), arm), f)
        rows[FORCE + a, at.force + 3 * j + a] = wf * c
        for b in range(3):
            rows[MOMENT + b, at.force + 3 * j + a] = wm * c * by_force[b]
            rows[MOMENT + b, at.origin + 3 * j + a] = wm * c * by_origin[b]
            rows[MOMENT + b, at.hinge + a] += wm * c * by_hinge[b]


@kernel
def _hinge_gradient(
    m: Model, work: SampleWorkspace, at: _Columns, h: int, motion: tuple, wf: float, wm: float
) -> None:
    """Derivatives of the rate of momentum by angle, rate and acceleration of a hinge."""
    omega, alpha, momentum, inertial = motion
    layout, z, rows = m.layout, work.z, work.jacobian
    axis, before, upto = (
        vec.row(work.hinge_axis, h),
        vec.row(work.body_omega, h),
        vec.row(work.body_omega, h + 1),
    )
    after = vec.plus_times(omega, upto, -1.0)
    rows[FORCE + h, at.acceleration + h] = -wf * m.body.mass
    by_acceleration = _inertia_times(m, work, axis)
    faster = vec.plus_times(vec.cross(before, axis), vec.cross(axis, after), 1.0)
    by_speed = _momentum_rate_derivative(m, work, omega, momentum, axis, faster)
    # By the angle: everything after the hinge rotates with it, and so does the inertia.
    d_alpha = vec.ZERO
    for k in range(h + 1, 3):
        other, rate = vec.row(work.hinge_axis, k), z[layout.first_hinge_rate + k]
        carried = vec.cross(axis, other)
        between = vec.plus_times(vec.row(work.body_omega, k), upto, -1.0)
        d_alpha = vec.plus_times(d_alpha, carried, z[layout.first_hinge_acceleration + k])
        d_alpha = vec.plus_times(d_alpha, vec.cross(vec.cross(axis, between), other), rate)
        d_alpha = vec.plus_times(d_alpha, vec.cross(vec.row(work.body_omega, k), carried), rate)
    d_rate = _momentum_rate_derivative(m, work, omega, momentum, vec.cross(axis, after), d_alpha)
    d_rate = vec.plus_times(d_rate, vec.cross(axis, inertial), 1.0)
    d_rate = vec.plus_times(d_rate, _inertia_times(m, work, vec.cross(axis, alpha)), -1.0)
    d_momentum = vec.plus_times(
        vec.cross(axis, momentum), _inertia_times(m, work, vec.cross(axis, omega)), -1.0
    )
    d_rate = vec.plus_times(d_rate, vec.cross(omega, d_momentum), 1.0)
    for b in range(3):
        rows[MOMENT + b, at.acceleration + 3 + h] = -wm * by_acceleration[b]
        rows[MOMENT + b, at.hinge_rate + h] = -wm * by_speed[b]
        rows[MOMENT + b, at.hinge + h] -= wm * d_rate[b]
