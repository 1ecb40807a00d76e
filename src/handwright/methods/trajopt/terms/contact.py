"""Costs of a contact: both surfaces at its origin, no slip, force in the cone, pad preferred.

With c the contact variable, r the origin of the force in the world, n the normal into the body and
sqrt(c) their common factor, the residuals are

    d_body(r), d_hand(r), v_body(r) - v_hand(r), r - pad,
    |f_t| - mu f_n and s - f_n where positive,
    n + n_body(r), with n_body out of the body, for bodies that are capsules.

Where a contact slides, the law of ``terms/slide.py`` takes the place of the relative velocity.

The paper's equation 4 takes the rates of the distances instead of the relative velocity, which
leaves surfaces free to slide on each other. s is the least squeeze, zero for the environment: a
thumb that presses with more than the weight has to be opposed, and then the forces are mostly ones
that cancel each other. Grasps with such forces well within their cones resist pushes from any side,
so one set of forces stands in for many pushes. Distances to capsules are differentiated with the
nearest point of the axis held fixed; that is exact, since the distance does not change with it to
first order. Normals must face each other because distances alone hardly say where two round
surfaces touch: beside that point both grow only with the square of the distance from it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.layout import BODY
from handwright.methods.trajopt.model.model import ROD, Model, ResidualWeights
from handwright.methods.trajopt.model.posing import joint_motion
from handwright.methods.trajopt.model.workspace import NUM_RESIDUALS, SampleWorkspace, add_rows
from handwright.methods.trajopt.terms.body import body_weight
from handwright.methods.trajopt.terms.contact_state import (
    BODY_GAP,
    CONE,
    FACING,
    HAND_GAP,
    NORMAL,
    PAD,
    SLIP,
    SQUEEZE,
    ConeForce,
    ContactColumns,
    ContactState,
    Toucher,
    cone_force,
    contact_state,
    from_support,
    list_contact_columns,
)
from handwright.methods.trajopt.terms.slide import slide_derivative, slide_residual

# Contacts with the environment keep to their support points, to this many tolerances of a gap: one
# in the middle of a body that rests on something would let it rotate there without slipping.
_SPREAD = 10.0
LANDING_SPEED = 0.02
"""Tolerance of the speed at which a digit lands and takes off, m/s."""


class _ContactWeights(NamedTuple):
    """Weights of a contact's residuals at one sample, with the root of its time."""

    gap: float
    slip: float
    cone: float
    pad: float
    facing: float


class _Block(NamedTuple):
    """A contact at one sample, as its derivatives need it."""

    number: int
    state: ContactState
    force: ConeForce
    at: ContactColumns
    weights: _ContactWeights


@kernel
def contact_factor(c: float, w: ResidualWeights) -> tuple[float, float]:
    """The common factor of a contact's residuals, and its derivative by the contact variable."""
    if w.is_frozen:
        return (1.0, 0.0) if c > 0.5 else (0.0, 0.0)
    root = math.sqrt(max(c, 0.0) + w.attraction)
    return root - math.sqrt(w.attraction), 0.5 / root


@kernel
def _contact_weights(
    w: ResidualWeights, scale: float, is_environment: bool, is_landing: bool
) -> _ContactWeights:
    """Weights at a sample; of a landing contact only the slip counts."""
    if is_landing:
        return _ContactWeights(0.0, scale / LANDING_SPEED, 0.0, 0.0, 0.0)
    gap = scale * w.gap
    pad = gap / _SPREAD if is_environment else scale * w.pad
    return _ContactWeights(gap, scale * w.slip, scale * w.cone, pad, scale * w.facing)


@kernel
def contact_terms(
    m: Model,
    w: ResidualWeights,
    work: SampleWorkspace,
    j: int,
    scale: float,
    squeeze_share: float,
    is_landing: bool,
    with_gradient: bool,
) -> float:
    """Cost of contact ``j``.

    ``scale`` is the root of the sample's time. A sample that ``is_landing`` is just before the
    contact begins or just after it ends; then only slip counts.
    """
    c = work.z[m.layout.first_contact + j]
    share, d_share = (1.0, 0.0) if is_landing else contact_factor(c, w)
    if (share <= 0.0 and d_share == 0.0) or (is_landing and m.contacts.slides[j]):
        return 0.0
    state = contact_state(m, work, j)
    toucher = state.toucher
    force = cone_force(m, w, work, j, toucher.normal, squeeze_share)
    at_sample = _contact_weights(w, scale, toucher.joint < 0, is_landing)
    _write_residuals(work, state, force, at_sample)
    res = work.residual
    cost = 0.0
    for r in range(NUM_RESIDUALS):
        cost += res[r] * res[r]
    cost *= 0.5 * share * share
    if with_gradient:
        at = list_contact_columns(m, work, j, toucher.joint)
        # The sliding law replaces the slip, whose derivatives it then needs without a weight.
        slip = 1.0 if force.slides else at_sample.slip
        wx = _ContactWeights(at_sample.gap, slip, at_sample.cone, at_sample.pad, at_sample.facing)
        block = _Block(j, state, force, at, wx)
        if toucher.joint >= 0:
            _hand_gradient(m, work, block)
        _body_gradient(m, work, block)
        _force_gradient(m, work, block)
        if force.slides:
            _slide_gradient(m, work, block)
        for r in range(NUM_RESIDUALS):
            for i in range(at.size):
                work.jacobian[r, i] *= share
            work.jacobian[r, at.contact] = d_share * res[r]
            res[r] *= share
        add_rows(work, NUM_RESIDUALS, at.size)
    return cost


@kernel
def _write_residuals(
    work: SampleWorkspace, state: ContactState, force: ConeForce, wx: _ContactWeights
) -> None:
    """Writes the residuals of a contact, without the factor of its contact variable."""
    res, toucher = work.residual, state.toucher
    res[BODY_GAP], res[HAND_GAP] = wx.gap * state.distance, wx.gap * toucher.gap
    res[CONE] = wx.cone * max(force.excess, 0.0)
    res[SQUEEZE] = wx.cone * max(force.shortfall, 0.0)
    for a in range(3):
        res[SLIP + a], res[PAD + a] = wx.slip * state.slip[a], wx.pad * toucher.off_pad[a]
        res[FACING + a] = wx.facing * state.facing[a]
    if force.slides:
        law = slide_residual(force.force, state.slip, toucher.normal, force.friction)
        for a in range(3):
            res[SLIP + a] = wx.cone * law[a]


@kernel
def _hand_gradient(m: Model, work: SampleWorkspace, block: _Block) -> None:
    """Derivatives by the coordinates and rates of the hand."""
    state, at, wx = block.state, block.at, block.weights
    toucher, p, rows, f = state.toucher, state.point, work.jacobian, m.forest
    for i in range(f.chain.shape[1]):
        k = f.chain[toucher.joint, i]
        if k < 0:
            break
        slot = f.slot[toucher.joint, i]
        if slot < 0:
            continue
        ratio, v = f.ratio[k], joint_motion(m, work, k, p)
        axis = vec.ZERO if f.is_slide[k] else vec.row(work.axis, k)
        # The velocities of all joints beyond this one rotate with it.
        omega = vec.row(work.omega, k)
        velocity = vec.plus(vec.row(work.origin_velocity, k), vec.cross(omega, p))
        left = vec.cross(axis, vec.minus(toucher.velocity, velocity))
        right = vec.cross(v, vec.minus(toucher.omega, omega))
        for a in range(3):
            rows[SLIP + a, at.hand + slot] -= ratio * wx.slip * (left[a] + right[a])
            rows[SLIP + a, at.hand_rate + slot] -= ratio * wx.slip * v[a]
            rows[PAD + a, at.hand + slot] -= ratio * wx.pad * v[a]
        rows[HAND_GAP, at.hand + slot] -= ratio * wx.gap * vec.dot(toucher.normal, v)
        dn = normal_derivative(toucher, vec.times(v, -ratio), vec.times(axis, ratio))
        add_cone_gradient(work, at.hand + slot, block.force, wx.cone, dn)
        if m.body.kind == ROD:
            for a in range(3):
                rows[FACING + a, at.hand + slot] += wx.facing * dn[a]


@kernel
def origin_motion(work: SampleWorkspace, state: ContactState, i: int) -> tuple:
    """Derivatives of the origin and of its velocity on the body by one of nine variables.

    These are the body's position (0 to 2), its hinges (3 to 5) and the origin on it (6 to 8).
    """
    omega = vec.row(work.body_omega, 3)
    if i < 3:
        return vec.unit(i), vec.ZERO
    if i >= BODY:
        moved = vec.column(work.body_rotation, i - BODY)
        return moved, vec.cross(omega, moved)
    axis = vec.row(work.hinge_axis, i - 3)
    moved, after = vec.cross(axis, state.arm), vec.minus(omega, vec.row(work.body_omega, i - 2))
    return moved, vec.plus(vec.cross(vec.cross(axis, after), state.arm), vec.cross(omega, moved))


@kernel
def _body_gradient(m: Model, work: SampleWorkspace, block: _Block) -> None:
    """Derivatives by the coordinates and rates of the body, and by the origin."""
    state, at, wx = block.state, block.at, block.weights
    toucher, rows = state.toucher, work.jacobian
    for i in range(9):
        to = at.body + i if i < BODY else at.origin + i - BODY
        moved, sped = origin_motion(work, state, i)
        carried = vec.cross(toucher.omega, moved)
        rows[HAND_GAP, to] = wx.gap * vec.dot(toucher.normal, moved)
        for a in range(3):
            rows[SLIP + a, to] = wx.slip * (sped[a] - carried[a])
            if i < BODY:
                rows[SLIP + a, at.body_rate + i] = wx.slip * moved[a]
        if i >= BODY:
            rows[BODY_GAP, to] = wx.gap * state.outward[i - BODY]
        if toucher.joint >= 0:
            dn = normal_derivative(toucher, moved, vec.ZERO)
            add_cone_gradient(work, to, block.force, wx.cone, dn)
            if m.body.kind == ROD:
                d_outward = _body_normal_derivative(m, work, state, i)
                for a in range(3):
                    rows[FACING + a, to] = wx.facing * (dn[a] + d_outward[a])
        if m.contacts.pad_joint[block.number] >= 0:
            for a in range(3):
                rows[PAD + a, to] = wx.pad * moved[a]
        elif toucher.joint < 0 and i >= 3:
            # The offset of a contact with the environment from its support point.
            if i < BODY:
                arm = from_support(m, work, block.number, state.local)
                moved = vec.cross(vec.row(work.hinge_axis, i - 3), arm)
            along = vec.tangential(toucher.normal, moved)
            for a in range(3):
                rows[PAD + a, to] = wx.pad * along[a]


@kernel
def _force_gradient(m: Model, work: SampleWorkspace, block: _Block) -> None:
    """Derivatives by the force."""
    force, n, wc = block.force, block.state.toucher.normal, block.weights.cone
    weight = body_weight(m)
    for i in range(3):
        to = block.at.force + i
        if force.excess > 0.0:
            by_force = force.tangential[i] / force.tangential_size - force.friction * n[i]
            work.jacobian[CONE, to] = wc * by_force / weight
        if force.shortfall > 0.0:
            work.jacobian[SQUEEZE, to] = -wc * n[i] / weight


@kernel
def _normal_change(moved: tuple, n: tuple, along: float, axis: tuple, lengthwise: float) -> tuple:
    """What is left of a motion without its parts along a normal and along an axis."""
    return vec.plus_times(vec.plus_times(moved, n, -along), axis, -lengthwise)


@kernel
def normal_derivative(toucher: Toucher, moved: tuple, turned: tuple) -> tuple:
    """Derivative of the hand's normal: turned x n + P moved / reach.

    ``moved`` is the derivative of the origin relative to the link, ``turned`` the rotation of the
    link. P removes the parts along the normal and, beside the straight part of a capsule, along its
    axis.
    """
    n, axis = toucher.normal, toucher.axis
    rest = _normal_change(moved, n, vec.dot(n, moved), axis, vec.dot(axis, moved))
    return vec.plus(vec.cross(turned, n), vec.over(rest, toucher.reach))


@kernel
def _body_normal_derivative(m: Model, work: SampleWorkspace, state: ContactState, i: int) -> tuple:
    """Derivative of the normal of a body that is a capsule, by a variable of ``origin_motion``."""
    t, g, p0 = work.body_rotation, state.outward, m.body.rod_start
    if i < 3:
        return vec.ZERO
    if i < BODY:
        return vec.cross(vec.row(work.hinge_axis, i - 3), vec.rotated(t, g))
    k, u = i - BODY, vec.minus(m.body.rod_end, p0)
    uu = vec.dot(u, u)
    lengthwise = 0.0
    if uu > 0.0 and 0.0 < vec.dot(u, vec.minus(state.local, p0)) < uu:
        lengthwise = u[k] / uu
    rest = _normal_change(vec.unit(k), g, g[k], u, lengthwise)
    return vec.rotated(t, vec.over(rest, state.distance + m.body.rod_radius))


@kernel
def add_cone_gradient(
    work: SampleWorkspace, to: int, force: ConeForce, wc: float, dn: tuple
) -> None:
    """Adds the derivatives of the cone's residuals for a derivative ``dn`` of the normal."""
    if force.slides:
        for a in range(3):
            work.jacobian[NORMAL + a, to] += dn[a]
    if force.excess <= 0.0 and force.shortfall <= 0.0:
        return
    less = vec.dot(force.force, dn)
    if force.excess > 0.0:
        by_normal = -force.normal_part * vec.dot(force.tangential, dn) / force.tangential_size
        work.jacobian[CONE, to] += wc * (by_normal - force.friction * less)
    if force.shortfall > 0.0:
        work.jacobian[SQUEEZE, to] -= wc * less


@kernel
def _slide_gradient(m: Model, work: SampleWorkspace, block: _Block) -> None:
    """Replaces derivatives of the slip by those of the law of sliding."""
    rows, at, weight = work.jacobian, block.at, body_weight(m)
    for i in range(at.contact):
        by_force = vec.over(vec.unit(i - at.force), weight)
        by_slip = (rows[SLIP, i], rows[SLIP + 1, i], rows[SLIP + 2, i])
        by_n = (rows[NORMAL, i], rows[NORMAL + 1, i], rows[NORMAL + 2, i])
        change = slide_derivative(
            block.force.force,
            block.state.slip,
            block.state.toucher.normal,
            block.force.friction,
            (by_force, by_slip, by_n),
        )
        for a in range(3):
            rows[SLIP + a, i] = block.weights.cone * change[a]
