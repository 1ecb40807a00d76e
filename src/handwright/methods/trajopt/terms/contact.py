"""Costs of a contact: both surfaces at its origin, no slip, force in the cone, pad preferred.

With c the contact variable, r the origin of the force in the world, n the normal into the body and
sqrt(c) their common factor, the residuals are

    d_body(r), d_hand(r), v_body(r) - v_hand(r), r - pad,
    |f_t| - mu f_n and s - f_n where positive,
    n + n_body(r), with n_body out of the body, for bodies that are capsules.

Where a contact slides, the law of ``slide_terms`` takes the place of the relative velocity.

The paper's equation 4 takes the rates of the distances instead of the relative velocity, which
leaves surfaces free to slide on each other. s is the least squeeze, zero for surroundings: a thumb
that presses with more than the weight has to be opposed, and then the forces are mostly ones that
cancel each other. Grasps with such forces well within their cones hold against pushes from any
side, so one set of forces stands in for many disturbances. Distances to capsules are
differentiated with the nearest point of the axis held; that is exact, since the distance does not
change with it. Normals must face each other because distances alone hardly say where two round
surfaces touch: beside that point both grow with its square only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from handwright.geometry.distance.environment import surface_value_gradient
from handwright.geometry.distance.sdf import field_value_gradient
from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import BODY, force_index, origin_index
from handwright.methods.trajopt.model.model import HAND_CONTACT, ROD, Model, Room, Weights
from handwright.methods.trajopt.model.posing import joint_motion
from handwright.methods.trajopt.model.rows import add_rows
from handwright.methods.trajopt.model.vectors import across, cross, dot, minus, rotated
from handwright.methods.trajopt.terms.contact_rows import (
    BODY_GAP,
    CONE,
    FACING,
    HAND_GAP,
    NORMAL,
    NUM_RESIDUALS,
    PAD,
    SLIP,
    SQUEEZE,
    ContactColumns,
    list_contact_columns,
)
from handwright.methods.trajopt.terms.slide import slide_change, slide_residual

# Forces are smooth to this share of the weight where the tangential part vanishes.
_ROUND = 1e-3
# Contacts with surroundings keep to their parts of the body, to this many tolerances of a gap: one
# in the middle of a body that lies would let it turn there without slipping.
_SPREAD = 10.0
LANDING_SPEED = 0.02
"""Tolerance of the speed at which a digit lands and takes off, m/s."""


@kernel
def body_distance(m: Model, x: float, y: float, z: float) -> tuple:
    """Signed distance to the body and its gradient, at a point of the body's frame."""
    b = m.body
    if b.kind != ROD:
        return field_value_gradient(b.field, x, y, z)
    p0, p1 = b.rod_start, b.rod_end
    u = (p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2])
    w = (x - p0[0], y - p0[1], z - p0[2])
    uu = dot(u, u)
    s = min(max(dot(w, u) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    e = (w[0] - s * u[0], w[1] - s * u[1], w[2] - s * u[2])
    length = math.sqrt(dot(e, e)) + 1e-12
    return length - b.rod_radius, e[0] / length, e[1] / length, e[2] / length


@kernel
def contact_share(c: float, w: Weights) -> tuple[float, float]:
    """The factor of a contact's costs, and its slope."""
    if w.is_frozen:
        return (1.0, 0.0) if c > 0.5 else (0.0, 0.0)
    root = math.sqrt(max(c, 0.0) + w.attraction)
    return root - math.sqrt(w.attraction), 0.5 / root


@kernel
def _from_foot(m: Model, room: Room, j: int, local: tuple) -> tuple:
    """From the point of the body that a contact with surroundings keeps to, to its origin."""
    q = m.contacts.pad[j]
    return rotated(room.body_turn, (local[0] - q[0], local[1] - q[1], local[2] - q[2]))


@kernel
def nearest_capsule(m: Model, room: Room, contact: int, p: tuple) -> tuple:
    """Capsule of a contact nearest to a point: which, and the place on its axis."""
    best, which, at = 1e30, -1, 0.0
    for n in range(m.contacts.first[contact], m.contacts.last[contact]):
        k = m.contacts.capsules[n]
        a, b = room.ends[k, 0], room.ends[k, 1]
        u = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
        w = (p[0] - a[0], p[1] - a[1], p[2] - a[2])
        uu = dot(u, u)
        s = min(max(dot(w, u) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
        e = (w[0] - s * u[0], w[1] - s * u[1], w[2] - s * u[2])
        length = math.sqrt(dot(e, e))
        if length - m.skeleton.radius[k] < best:
            best, which, at = length - m.skeleton.radius[k], k, s
    return which, at


class Side(NamedTuple):
    """The hand or surface that touches."""

    joint: int
    """Of the link; -1 for surroundings."""
    gap: float
    """From the origin to the hand or surface, m."""
    normal: tuple
    """Into the body."""
    reach: float
    """Distance of the origin from a capsule's axis."""
    axis: tuple
    """Of the capsule beside its straight part; zero elsewhere."""
    omega: tuple
    """Of the link."""
    velocity: tuple
    """Of the link's material at the origin."""
    off_pad: tuple
    """From the preferred place to the origin."""


class Touch(NamedTuple):
    """A contact at one moment."""

    local: tuple
    """Origin of the force in the body's frame, m."""
    arm: tuple
    """From the centre of mass to the origin, in the world."""
    point: tuple
    """Origin in the world."""
    distance: float
    """Of the origin from the body's surface."""
    outward: tuple
    """Gradient of that distance, in the body's frame."""
    slip: tuple
    """Velocity of the body over the hand or surface, at the origin."""
    facing: tuple
    """Sum of the normals out of the body and out of the hand; zero for bodies without curvature."""
    side: Side


class Push(NamedTuple):
    """The force of a contact, in weights."""

    force: tuple
    normal_part: float
    across: tuple
    across_size: float
    friction: float
    over: float
    """Beyond the cone."""
    lacks: float
    """Of the least squeeze."""
    slides: bool


@kernel
def _hand_side(m: Model, room: Room, j: int, p: tuple) -> Side:
    capsule, at = nearest_capsule(m, room, j, p)
    joint = m.skeleton.joint[capsule]
    a, b = room.ends[capsule, 0], room.ends[capsule, 1]
    u = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
    e = (p[0] - a[0] - at * u[0], p[1] - a[1] - at * u[1], p[2] - a[2] - at * u[2])
    reach = math.sqrt(dot(e, e)) + 1e-9
    axis = (0.0, 0.0, 0.0)
    if 0.0 < at < 1.0:
        length = math.sqrt(dot(u, u))
        axis = (u[0] / length, u[1] / length, u[2] / length)
    omega = (room.omega[joint, 0], room.omega[joint, 1], room.omega[joint, 2])
    spun = cross(omega, p)
    off_pad = (0.0, 0.0, 0.0)
    k = m.contacts.pad_joint[j]
    if k >= 0:
        pad = rotated(room.turn[k], m.contacts.pad[j])
        off_pad = (
            p[0] - room.place[k, 0] - pad[0],
            p[1] - room.place[k, 1] - pad[1],
            p[2] - room.place[k, 2] - pad[2],
        )
    return Side(
        joint,
        reach - m.skeleton.radius[capsule],
        (e[0] / reach, e[1] / reach, e[2] / reach),
        reach,
        axis,
        omega,
        (
            room.speed[joint, 0] + spun[0],
            room.speed[joint, 1] + spun[1],
            room.speed[joint, 2] + spun[2],
        ),
        off_pad,
    )


@kernel
def _ground_side(m: Model, room: Room, j: int, p: tuple, local: tuple) -> Side:
    gap, nx, ny, nz = surface_value_gradient(m.env, m.contacts.surface[j], p[0], p[1], p[2])
    n, none = (nx, ny, nz), (0.0, 0.0, 0.0)
    off_pad = across(n, _from_foot(m, room, j, local))
    return Side(-1, gap, n, 1.0, none, none, none, off_pad)


@kernel
def touch_of(m: Model, room: Room, j: int) -> Touch:
    """Where and how a contact touches."""
    z, v = room.z, m.layout.first_body_rate
    r, b = origin_index(m.layout, j), m.layout.first_body
    local = (z[r], z[r + 1], z[r + 2])
    arm = rotated(room.body_turn, z[r : r + 3])
    p = (z[b] + arm[0], z[b + 1] + arm[1], z[b + 2] + arm[2])
    distance, gx, gy, gz = body_distance(m, local[0], local[1], local[2])
    if m.contacts.kind[j] == HAND_CONTACT:
        side = _hand_side(m, room, j, p)
    else:
        side = _ground_side(m, room, j, p, local)
    spun = cross((room.swing[3, 0], room.swing[3, 1], room.swing[3, 2]), arm)
    slip = (
        z[v] + spun[0] - side.velocity[0],
        z[v + 1] + spun[1] - side.velocity[1],
        z[v + 2] + spun[2] - side.velocity[2],
    )
    facing = (0.0, 0.0, 0.0)
    if side.joint >= 0 and m.body.kind == ROD:
        out = rotated(room.body_turn, (gx, gy, gz))
        facing = (out[0] + side.normal[0], out[1] + side.normal[1], out[2] + side.normal[2])
    return Touch(local, arm, p, distance, (gx, gy, gz), slip, facing, side)


@kernel
def _push(m: Model, w: Weights, room: Room, j: int, n: tuple, firm: float) -> Push:
    i, g, z = force_index(m.layout, j), m.gravity, room.z
    weight = m.body.mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    f = (z[i] / weight, z[i + 1] / weight, z[i + 2] / weight)
    slides = m.contacts.slides[j]
    # What slides has all the friction, so no margin is left for it.
    mu = m.contacts.friction[j] * (1.0 if slides else w.friction)
    least = max(firm * w.squeeze * m.contacts.squeeze[j], m.contacts.least[j])
    return in_cone(f, n, mu, least, slides)


@kernel
def in_cone(f: tuple, n: tuple, mu: float, least: float, slides: bool) -> Push:
    """A force, in weights, against the cone about a normal."""
    fn = dot(f, n)
    ft = (f[0] - fn * n[0], f[1] - fn * n[1], f[2] - fn * n[2])
    size = math.sqrt(dot(ft, ft) + _ROUND * _ROUND)
    return Push(f, fn, ft, size, mu, size - _ROUND - mu * fn, least - fn, slides)


@kernel
def contact_terms(
    m: Model,
    w: Weights,
    room: Room,
    j: int,
    scale: float,
    firm: float,
    is_landing: bool,
    want: bool,
) -> float:
    """Cost of contact ``j``; adds slopes if wanted.

    ``scale`` is the root of the sample's time, ``firm`` the share of the least squeeze.
    ``is_landing`` is for the moment before a contact begins or after it ends, in which only slip
    counts.
    """
    c = room.z[m.layout.first_contact + j]
    share, share_slope = (1.0, 0.0) if is_landing else contact_share(c, w)
    if (share <= 0.0 and share_slope == 0.0) or (is_landing and m.contacts.slides[j]):
        return 0.0
    touch = touch_of(m, room, j)
    push = _push(m, w, room, j, touch.side.normal, firm)
    wg, ws, wc, wp = scale * w.gap, scale * w.slip, scale * w.cone, scale * w.pad
    wf = scale * w.facing
    if touch.side.joint < 0:
        wp = wg / _SPREAD
    if is_landing:
        wg, ws, wc, wp, wf = 0.0, scale / LANDING_SPEED, 0.0, 0.0, 0.0
    res = room.residual
    res[BODY_GAP], res[HAND_GAP] = wg * touch.distance, wg * touch.side.gap
    res[CONE] = wc * max(push.over, 0.0)
    res[SQUEEZE] = wc * max(push.lacks, 0.0)
    for a in range(3):
        res[SLIP + a], res[PAD + a] = ws * touch.slip[a], wp * touch.side.off_pad[a]
        res[FACING + a] = wf * touch.facing[a]
    if push.slides:
        ws = 1.0
        law = slide_residual(push.force, touch.slip, touch.side.normal, push.friction)
        for a in range(3):
            res[SLIP + a] = wc * law[a]
    cost = 0.0
    for r in range(NUM_RESIDUALS):
        cost += res[r] * res[r]
    cost *= 0.5 * share * share
    if want:
        at = list_contact_columns(m, room, j, touch.side.joint)
        factors = (wg, ws, wc, wp, wf)
        if touch.side.joint >= 0:
            _hand_slopes(m, room, touch, push, at, factors)
        _body_slopes(m, room, j, touch, push, at, factors)
        _force_slopes(m, room, touch, push, at, wc)
        if push.slides:
            _slide_slopes(m, room, touch, push, at, wc)
        for r in range(NUM_RESIDUALS):
            for i in range(at.size):
                room.rows[r, i] *= share
            room.rows[r, at.contact] = share_slope * res[r]
            res[r] *= share
        add_rows(room, NUM_RESIDUALS, at.size)
    return cost


@kernel
def _hand_slopes(
    m: Model, room: Room, touch: Touch, push: Push, at: ContactColumns, factors: tuple
) -> None:
    """Slopes by the coordinates and rates of the hand."""
    wg, ws, wc, wp, wf = factors
    side, p, rows, f = touch.side, touch.point, room.rows, m.forest
    for i in range(f.chain.shape[1]):
        k = f.chain[side.joint, i]
        if k < 0:
            break
        slot = f.slot[side.joint, i]
        if slot < 0:
            continue
        ratio = f.ratio[k]
        v = joint_motion(m, room, k, p[0], p[1], p[2])
        turning = (0.0, 0.0, 0.0)
        if not f.is_slide[k]:
            turning = (room.axis[k, 0], room.axis[k, 1], room.axis[k, 2])
        # What joints beyond this one do turns with it.
        omega = (room.omega[k, 0], room.omega[k, 1], room.omega[k, 2])
        spun = cross(omega, p)
        speed = (
            room.speed[k, 0] + spun[0],
            room.speed[k, 1] + spun[1],
            room.speed[k, 2] + spun[2],
        )
        left = cross(turning, minus(side.velocity, speed))
        right = cross(v, minus(side.omega, omega))
        for a in range(3):
            rows[SLIP + a, at.hand + slot] -= ratio * ws * (left[a] + right[a])
            rows[SLIP + a, at.hand_rate + slot] -= ratio * ws * v[a]
            rows[PAD + a, at.hand + slot] -= ratio * wp * v[a]
        rows[HAND_GAP, at.hand + slot] -= ratio * wg * dot(side.normal, v)
        moved = (-ratio * v[0], -ratio * v[1], -ratio * v[2])
        turned = (ratio * turning[0], ratio * turning[1], ratio * turning[2])
        bent = normal_slope(side, moved, turned)
        cone_slopes(room, at.hand + slot, push, wc, bent)
        if m.body.kind == ROD:
            for a in range(3):
                rows[FACING + a, at.hand + slot] += wf * bent[a]


@kernel
def origin_motion(room: Room, touch: Touch, i: int) -> tuple:
    """How the origin and its velocity on the body change, by one of nine variables.

    These are the body's place (0 to 2), its hinges (3 to 5) and the origin on the body (6 to 8).
    """
    none, t = (0.0, 0.0, 0.0), room.body_turn
    om = (room.swing[3, 0], room.swing[3, 1], room.swing[3, 2])
    if i < 3:
        return (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0), none
    if i >= 6:
        moved = (t[0, i - 6], t[1, i - 6], t[2, i - 6])
        return moved, cross(om, moved)
    h = (room.hinge[i - 3, 0], room.hinge[i - 3, 1], room.hinge[i - 3, 2])
    moved = cross(h, touch.arm)
    after = (
        om[0] - room.swing[i - 2, 0],
        om[1] - room.swing[i - 2, 1],
        om[2] - room.swing[i - 2, 2],
    )
    left, right = cross(cross(h, after), touch.arm), cross(om, moved)
    return moved, (left[0] + right[0], left[1] + right[1], left[2] + right[2])


@kernel
def _body_slopes(
    m: Model, room: Room, j: int, touch: Touch, push: Push, at: ContactColumns, factors: tuple
) -> None:
    """Slopes by the coordinates and rates of the body, and by the origin."""
    wg, ws, wc, wp, wf = factors
    side, rows = touch.side, room.rows
    none = (0.0, 0.0, 0.0)
    for i in range(9):
        column = at.body + i if i < BODY else at.origin + i - BODY
        moved, sped = origin_motion(room, touch, i)
        carried = cross(side.omega, moved)
        rows[HAND_GAP, column] = wg * dot(side.normal, moved)
        for a in range(3):
            rows[SLIP + a, column] = ws * (sped[a] - carried[a])
            if i < BODY:
                rows[SLIP + a, at.body_rate + i] = ws * moved[a]
        if i >= BODY:
            rows[BODY_GAP, column] = wg * touch.outward[i - BODY]
        if side.joint >= 0:
            bent = normal_slope(side, moved, none)
            cone_slopes(room, column, push, wc, bent)
            if m.body.kind == ROD:
                curved = _outward_slope(m, room, touch, i)
                for a in range(3):
                    rows[FACING + a, column] = wf * (bent[a] + curved[a])
        if m.contacts.pad_joint[j] >= 0:
            for a in range(3):
                rows[PAD + a, column] = wp * moved[a]
        elif side.joint < 0 and i >= 3:
            _foot_slopes(m, room, j, touch, i, column, wp)


@kernel
def _foot_slopes(
    m: Model, room: Room, j: int, touch: Touch, i: int, column: int, wp: float
) -> None:
    """Slopes of how far a contact with surroundings is from its part of the body."""
    t = room.body_turn
    if i < 6:
        h = (room.hinge[i - 3, 0], room.hinge[i - 3, 1], room.hinge[i - 3, 2])
        moved = cross(h, _from_foot(m, room, j, touch.local))
    else:
        moved = (t[0, i - 6], t[1, i - 6], t[2, i - 6])
    along = across(touch.side.normal, moved)
    for a in range(3):
        room.rows[PAD + a, column] = wp * along[a]


@kernel
def _force_slopes(
    m: Model, room: Room, touch: Touch, push: Push, at: ContactColumns, wc: float
) -> None:
    """Slopes by the force."""
    g, n = m.gravity, touch.side.normal
    weight = m.body.mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    for i in range(3):
        column = at.force + i
        if push.over > 0.0:
            slope = push.across[i] / push.across_size - push.friction * n[i]
            room.rows[CONE, column] = wc * slope / weight
        if push.lacks > 0.0:
            room.rows[SQUEEZE, column] = -wc * n[i] / weight


@kernel
def normal_slope(side: Side, moved: tuple, turned: tuple) -> tuple:
    """How the hand's normal turns: turned x n + P moved / reach.

    ``moved`` is how the origin moves against the link; P takes off the parts along the normal and,
    beside the straight part of a capsule, along its axis.
    """
    n, axis = side.normal, side.axis
    along, lengthwise = dot(n, moved), dot(axis, moved)
    rolled = cross(turned, n)
    return (
        rolled[0] + (moved[0] - along * n[0] - lengthwise * axis[0]) / side.reach,
        rolled[1] + (moved[1] - along * n[1] - lengthwise * axis[1]) / side.reach,
        rolled[2] + (moved[2] - along * n[2] - lengthwise * axis[2]) / side.reach,
    )


@kernel
def _outward_slope(m: Model, room: Room, touch: Touch, i: int) -> tuple:
    """How the normal of a body that is a capsule turns, by the variables of ``origin_motion``."""
    t, g = room.body_turn, touch.outward
    if i < 3:
        return 0.0, 0.0, 0.0
    if i < 6:
        h = (room.hinge[i - 3, 0], room.hinge[i - 3, 1], room.hinge[i - 3, 2])
        return cross(h, rotated(t, g))
    p0, p1 = m.body.rod_start, m.body.rod_end
    u = (p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2])
    v = (touch.local[0] - p0[0], touch.local[1] - p0[1], touch.local[2] - p0[2])
    uu = dot(u, u)
    k = i - 6
    moved = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
    lengthwise = 0.0
    if uu > 0.0 and 0.0 < dot(u, v) < uu:
        lengthwise = u[k] / uu
    far = touch.distance + m.body.rod_radius
    return rotated(
        t,
        (
            (moved[0] - g[k] * g[0] - lengthwise * u[0]) / far,
            (moved[1] - g[k] * g[1] - lengthwise * u[1]) / far,
            (moved[2] - g[k] * g[2] - lengthwise * u[2]) / far,
        ),
    )


@kernel
def cone_slopes(room: Room, column: int, push: Push, wc: float, dn: tuple) -> None:
    """Slopes of the cone's residuals as the normal turns by ``dn``."""
    if push.slides:
        for a in range(3):
            room.rows[NORMAL + a, column] += dn[a]
    if push.over <= 0.0 and push.lacks <= 0.0:
        return
    less = dot(push.force, dn)
    if push.over > 0.0:
        bent = -push.normal_part * dot(push.across, dn) / push.across_size
        room.rows[CONE, column] += wc * (bent - push.friction * less)
    if push.lacks > 0.0:
        room.rows[SQUEEZE, column] -= wc * less


@kernel
def _slide_slopes(
    m: Model, room: Room, touch: Touch, push: Push, at: ContactColumns, wc: float
) -> None:
    """Turns slopes of the slip into those of the law of sliding."""
    g, rows = m.gravity, room.rows
    weight = m.body.mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    for i in range(at.contact):
        k = i - at.force
        by_force = (
            1.0 / weight if k == 0 else 0.0,
            1.0 / weight if k == 1 else 0.0,
            1.0 / weight if k == 2 else 0.0,
        )
        by_slip = (rows[SLIP, i], rows[SLIP + 1, i], rows[SLIP + 2, i])
        by_n = (rows[NORMAL, i], rows[NORMAL + 1, i], rows[NORMAL + 2, i])
        change = slide_change(
            push.force, touch.slip, touch.side.normal, push.friction, by_force, by_slip, by_n
        )
        for a in range(3):
            rows[SLIP + a, i] = wc * change[a]
