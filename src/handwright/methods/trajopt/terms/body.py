"""Newton's and Euler's equations of the body: equations 7 to 9 of the paper.

The moment of a force is (r - x) x f; the paper prints the factors the other way round.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import BODY, KeyLayout, force_index, origin_index
from handwright.methods.trajopt.model.model import Model, ResidualWeights
from handwright.methods.trajopt.model.rows import add_rows
from handwright.methods.trajopt.model.vectors import cross
from handwright.methods.trajopt.model.workspace import SampleWorkspace

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
def _inertia_times(m: Model, work: SampleWorkspace, v: tuple) -> tuple:
    """Inertia tensor in the world times a world vector."""
    t, i = work.body_rotation, m.body.inertia
    a = t[0, 0] * v[0] + t[1, 0] * v[1] + t[2, 0] * v[2]
    b = t[0, 1] * v[0] + t[1, 1] * v[1] + t[2, 1] * v[2]
    c = t[0, 2] * v[0] + t[1, 2] * v[1] + t[2, 2] * v[2]
    x = i[0, 0] * a + i[0, 1] * b + i[0, 2] * c
    y = i[1, 0] * a + i[1, 1] * b + i[1, 2] * c
    w = i[2, 0] * a + i[2, 1] * b + i[2, 2] * c
    return (
        t[0, 0] * x + t[0, 1] * y + t[0, 2] * w,
        t[1, 0] * x + t[1, 1] * y + t[1, 2] * w,
        t[2, 0] * x + t[2, 1] * y + t[2, 2] * w,
    )


@kernel
def hinge_axis(work: SampleWorkspace, h: int) -> tuple:
    """Axis of a hinge of the body in the world."""
    return work.hinge_axis[h, 0], work.hinge_axis[h, 1], work.hinge_axis[h, 2]


@kernel
def _omega_after(work: SampleWorkspace, h: int) -> tuple:
    """Angular velocity of the body after its first ``h`` hinges."""
    return work.body_omega[h, 0], work.body_omega[h, 1], work.body_omega[h, 2]


@kernel
def _plus(a: tuple, b: tuple, factor: float) -> tuple:
    """Sum of a and a multiple of b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@kernel
def angular_acceleration(m: Model, work: SampleWorkspace) -> tuple:
    """Angular acceleration: hinge accelerations, and rates of hinges whose axes rotate."""
    layout = m.layout
    alpha = (0.0, 0.0, 0.0)
    for h in range(3):
        axis = hinge_axis(work, h)
        alpha = _plus(alpha, axis, work.z[layout.first_hinge_acceleration + h])
        rate = work.z[layout.first_hinge_rate + h]
        alpha = _plus(alpha, cross(_omega_after(work, h), axis), rate)
    return alpha


@kernel
def _momentum_rate_derivative(
    m: Model, work: SampleWorkspace, omega: tuple, momentum: tuple, d_omega: tuple, d_alpha: tuple
) -> tuple:
    """Derivative of I alpha + omega x I omega by omega and alpha; ``momentum`` is I omega."""
    out = _inertia_times(m, work, d_alpha)
    out = _plus(out, cross(d_omega, momentum), 1.0)
    return _plus(out, cross(omega, _inertia_times(m, work, d_omega)), 1.0)


@kernel
def contact_arm(m: Model, work: SampleWorkspace, j: int) -> tuple:
    """Vector from the centre of mass to the origin of a contact's force, in the world, m."""
    i, t, z = origin_index(m.layout, j), work.body_rotation, work.z
    return (
        t[0, 0] * z[i] + t[0, 1] * z[i + 1] + t[0, 2] * z[i + 2],
        t[1, 0] * z[i] + t[1, 1] * z[i + 1] + t[1, 2] * z[i + 2],
        t[2, 0] * z[i] + t[2, 1] * z[i + 1] + t[2, 2] * z[i + 2],
    )


@kernel
def _force(m: Model, work: SampleWorkspace, j: int) -> tuple:
    """Force of a contact, N."""
    i = force_index(m.layout, j)
    return work.z[i], work.z[i + 1], work.z[i + 2]


@kernel
def body_terms(
    m: Model, w: ResidualWeights, work: SampleWorkspace, scale: float, with_gradient: bool
) -> float:
    """Cost of the force and moment that the motion needs and contacts do not give."""
    layout, z, res = m.layout, work.z, work.residual
    ci, ai, g, mass = layout.first_contact, layout.first_acceleration, m.gravity, m.body.mass
    weight = mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    wf, wm = scale * w.force / weight, scale * w.moment / (weight * m.body.arm)
    omega, alpha = _omega_after(work, 3), angular_acceleration(m, work)
    momentum, inertial = _inertia_times(m, work, omega), _inertia_times(m, work, alpha)
    gyro = cross(omega, momentum)
    force = (mass * (g[0] - z[ai]), mass * (g[1] - z[ai + 1]), mass * (g[2] - z[ai + 2]))
    moment = (-inertial[0] - gyro[0], -inertial[1] - gyro[1], -inertial[2] - gyro[2])
    for j in range(layout.num_contacts):
        if z[ci + j] != 0.0:
            f = _force(m, work, j)
            force = _plus(force, f, z[ci + j])
            moment = _plus(moment, cross(contact_arm(m, work, j), f), z[ci + j])
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
    turned = cross(arm, f)
    for a in range(3):
        rows[FORCE + a, at.contact + j] = wf * f[a]
        rows[MOMENT + a, at.contact + j] = wm * turned[a]
    if c == 0.0:
        return
    for a in range(3):
        unit = (1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0)
        by_force = cross(arm, unit)
        by_origin = cross((t[0, a], t[1, a], t[2, a]), f)
        by_hinge = cross(cross(hinge_axis(work, a), arm), f)
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
    axis, before, upto = hinge_axis(work, h), _omega_after(work, h), _omega_after(work, h + 1)
    after = _plus(omega, upto, -1.0)
    rows[FORCE + h, at.acceleration + h] = -wf * m.body.mass
    by_acceleration = _inertia_times(m, work, axis)
    faster = _plus(cross(before, axis), cross(axis, after), 1.0)
    by_speed = _momentum_rate_derivative(m, work, omega, momentum, axis, faster)
    # By the angle: everything after the hinge rotates with it, and so does the inertia.
    d_alpha = (0.0, 0.0, 0.0)
    for k in range(h + 1, 3):
        other, rate = hinge_axis(work, k), z[layout.first_hinge_rate + k]
        carried = cross(axis, other)
        between = _plus(_omega_after(work, k), upto, -1.0)
        d_alpha = _plus(d_alpha, carried, z[layout.first_hinge_acceleration + k])
        d_alpha = _plus(d_alpha, cross(cross(axis, between), other), rate)
        d_alpha = _plus(d_alpha, cross(_omega_after(work, k), carried), rate)
    d_rate = _momentum_rate_derivative(m, work, omega, momentum, cross(axis, after), d_alpha)
    d_rate = _plus(d_rate, cross(axis, inertial), 1.0)
    d_rate = _plus(d_rate, _inertia_times(m, work, cross(axis, alpha)), -1.0)
    d_momentum = _plus(cross(axis, momentum), _inertia_times(m, work, cross(axis, omega)), -1.0)
    d_rate = _plus(d_rate, cross(omega, d_momentum), 1.0)
    for b in range(3):
        rows[MOMENT + b, at.acceleration + 3 + h] = -wm * by_acceleration[b]
        rows[MOMENT + b, at.hinge_rate + h] = -wm * by_speed[b]
        rows[MOMENT + b, at.hinge + h] -= wm * d_rate[b]
