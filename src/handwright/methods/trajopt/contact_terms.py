"""Costs of a contact: both surfaces at its origin, no slip, force in the cone, pad preferred.

With c the contact variable, r the origin of the force in the world, n the normal into the body and
sqrt(c) their common factor, the residuals are

    d_body(r), d_hand(r), v_body(r) - v_hand(r), |f_t| - mu f_n and s - f_n where positive, r - pad.

The paper's equation 4 takes the rates of the distances instead of the relative velocity, which
leaves surfaces free to slide on each other. s is the least squeeze, zero for surroundings. If every
contact of a hand presses with more than the weight, well within its cone, the forces are mostly
ones that cancel each other, and a grasp that has such forces can hold against a push from any
side: one set of forces stands for all disturbances. Distances to capsules are differentiated with the
nearest point of the axis held; that is exact, since the distance does not change with it.
"""

from __future__ import annotations

import math

from handwright.geometry.environment import surface_value_gradient
from handwright.geometry.sdf import field_value_gradient
from handwright.math.compiled import loose
from handwright.methods.trajopt.model import HAND_CONTACT, ROD, Model, Room, Weights
from handwright.methods.trajopt.posing import joint_motion
from handwright.methods.trajopt.rows import add_rows

# Forces are smooth to this share of the weight where the tangential part vanishes.
_ROUND = 1e-3
_NUM_ROWS = 10
# Contacts with surroundings keep to their parts of the body this much more than digits to their
# pads. One in the middle of a body that lies would let it turn there without slipping.
_SPREAD = 5.0
LANDING_SPEED = 0.02
"""Tolerance of the speed at which a digit lands and takes off, m/s."""


@loose
def cross(a: tuple, b: tuple) -> tuple:
    """a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@loose
def dot(a: tuple, b: tuple) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@loose
def minus(a: tuple, b: tuple) -> tuple:
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@loose
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


@loose
def contact_share(c: float, w: Weights) -> tuple[float, float]:
    """The factor of a contact's costs, and its slope."""
    if w.is_frozen:
        return (1.0, 0.0) if c > 0.5 else (0.0, 0.0)
    root = math.sqrt(max(c, 0.0) + w.attraction)
    return root - math.sqrt(w.attraction), 0.5 / root


@loose
def nearest_capsule(m: Model, room: Room, contact: int, p: tuple) -> tuple:
    """Capsule of a contact nearest to a point: which, distance to its axis, place on the axis."""
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


@loose
def contact_terms(
    m: Model, w: Weights, room: Room, j: int, scale: float, is_landing: bool, want: bool
) -> float:
    """Cost of contact ``j``; adds slopes if wanted.

    ``scale`` is the root of the sample's time. ``is_landing`` is for the moment before a contact
    begins or after it ends, in which only slip counts.
    """
    nq, nc = m.num_coordinates, m.num_contacts
    z = room.z
    fi, ri, ci = 2 * nq + 3 * j, 2 * nq + 3 * nc + 3 * j, 2 * nq + 6 * nc + j
    share, share_slope = (1.0, 0.0) if is_landing else contact_share(z[ci], w)
    if share <= 0.0 and (w.is_frozen or share_slope == 0.0):
        return 0.0
    t = room.body_turn
    local = (z[ri], z[ri + 1], z[ri + 2])
    arm = (
        t[0, 0] * local[0] + t[0, 1] * local[1] + t[0, 2] * local[2],
        t[1, 0] * local[0] + t[1, 1] * local[1] + t[1, 2] * local[2],
        t[2, 0] * local[0] + t[2, 1] * local[1] + t[2, 2] * local[2],
    )
    bi = nq - 6
    p = (z[bi] + arm[0], z[bi + 1] + arm[1], z[bi + 2] + arm[2])
    distance, gx, gy, gz = body_distance(m, local[0], local[1], local[2])
    om = (room.swing[3, 0], room.swing[3, 1], room.swing[3, 2])
    turn_speed = cross(om, arm)
    rel = (
        z[nq + bi] + turn_speed[0],
        z[nq + bi + 1] + turn_speed[1],
        z[nq + bi + 2] + turn_speed[2],
    )
    is_hand = m.contacts.kind[j] == HAND_CONTACT
    capsule, joint, reach, is_inside = -1, -1, 1.0, False
    axis = (0.0, 0.0, 0.0)
    link_omega = (0.0, 0.0, 0.0)
    off_pad = (0.0, 0.0, 0.0)
    if is_hand:
        capsule, at = nearest_capsule(m, room, j, p)
        joint = m.skeleton.joint[capsule]
        a, b = room.ends[capsule, 0], room.ends[capsule, 1]
        u = (b[0] - a[0], b[1] - a[1], b[2] - a[2])
        e = (p[0] - a[0] - at * u[0], p[1] - a[1] - at * u[1], p[2] - a[2] - at * u[2])
        reach = math.sqrt(dot(e, e)) + 1e-9
        n = (e[0] / reach, e[1] / reach, e[2] / reach)
        gap = reach - m.skeleton.radius[capsule]
        is_inside = 0.0 < at < 1.0
        if is_inside:
            length = math.sqrt(dot(u, u))
            axis = (u[0] / length, u[1] / length, u[2] / length)
        link_omega = (room.omega[joint, 0], room.omega[joint, 1], room.omega[joint, 2])
        spun = cross(link_omega, p)
        rel = (
            rel[0] - room.speed[joint, 0] - spun[0],
            rel[1] - room.speed[joint, 1] - spun[1],
            rel[2] - room.speed[joint, 2] - spun[2],
        )
        k = m.contacts.pad_joint[j]
        if k >= 0:
            q = m.contacts.pad[j]
            off_pad = (
                p[0] - room.place[k, 0] - room.turn[k, 0, 0] * q[0]
                - room.turn[k, 0, 1] * q[1] - room.turn[k, 0, 2] * q[2],
                p[1] - room.place[k, 1] - room.turn[k, 1, 0] * q[0]
                - room.turn[k, 1, 1] * q[1] - room.turn[k, 1, 2] * q[2],
                p[2] - room.place[k, 2] - room.turn[k, 2, 0] * q[0]
                - room.turn[k, 2, 1] * q[1] - room.turn[k, 2, 2] * q[2],
            )  # fmt: skip
    else:
        gap, nx, ny, nz = surface_value_gradient(m.env, m.contacts.surface[j], p[0], p[1], p[2])
        n = (nx, ny, nz)
        q = m.contacts.pad[j]
        off_pad = (
            _SPREAD * (local[0] - q[0]),
            _SPREAD * (local[1] - q[1]),
            _SPREAD * (local[2] - q[2]),
        )
    mu = w.friction * m.contacts.friction[j]
    g = m.gravity
    weight = m.body.mass * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
    f = (z[fi] / weight, z[fi + 1] / weight, z[fi + 2] / weight)
    fn = dot(f, n)
    ft = (f[0] - fn * n[0], f[1] - fn * n[1], f[2] - fn * n[2])
    ft_length = math.sqrt(dot(ft, ft) + _ROUND * _ROUND)
    over = ft_length - _ROUND - mu * fn
    wg, ws, wc, wp = scale * w.gap, scale * w.slip, scale * w.cone, scale * w.pad
    if is_landing:
        wg, ws, wc, wp = 0.0, scale / LANDING_SPEED, 0.0, 0.0
    res = room.residual
    res[0] = wg * distance
    res[1] = wg * gap
    res[2], res[3], res[4] = ws * rel[0], ws * rel[1], ws * rel[2]
    res[5] = wc * over if over > 0.0 else 0.0
    lacks = w.squeeze * m.contacts.squeeze[j] - fn
    res[6] = wc * lacks if lacks > 0.0 else 0.0
    res[7], res[8], res[9] = wp * off_pad[0], wp * off_pad[1], wp * off_pad[2]
    cost = 0.0
    for r in range(_NUM_ROWS):
        cost += res[r] * res[r]
    cost *= 0.5 * share * share
    if not want:
        return cost
    movers = m.forest.num_movers[joint] if is_hand else 0
    count = 2 * movers + 19
    rows = room.rows
    for r in range(_NUM_ROWS):
        for i in range(count):
            rows[r, i] = 0.0
    # Columns: hand, body, rates of both, force, origin, contact variable.
    for i in range(movers):
        room.columns[i] = m.forest.movers[joint, i]
        room.columns[movers + 6 + i] = nq + m.forest.movers[joint, i]
    for i in range(6):
        room.columns[movers + i] = bi + i
        room.columns[2 * movers + 6 + i] = nq + bi + i
    for i in range(3):
        room.columns[2 * movers + 12 + i] = fi + i
        room.columns[2 * movers + 15 + i] = ri + i
    room.columns[2 * movers + 18] = ci
    if is_hand:
        end_speed = (
            room.speed[joint, 0] + cross(link_omega, p)[0],
            room.speed[joint, 1] + cross(link_omega, p)[1],
            room.speed[joint, 2] + cross(link_omega, p)[2],
        )
        for i in range(m.forest.chain.shape[1]):
            k = m.forest.chain[joint, i]
            if k < 0:
                break
            slot = m.forest.slot[joint, i]
            if slot < 0:
                continue
            ratio = m.forest.ratio[k]
            v = joint_motion(m, room, k, p[0], p[1], p[2])
            turning = (0.0, 0.0, 0.0)
            if not m.forest.is_slide[k]:
                turning = (room.axis[k, 0], room.axis[k, 1], room.axis[k, 2])
            # What joints beyond this one do turns with it.
            omega_k = (room.omega[k, 0], room.omega[k, 1], room.omega[k, 2])
            spun = cross(omega_k, p)
            speed_k = (
                room.speed[k, 0] + spun[0],
                room.speed[k, 1] + spun[1],
                room.speed[k, 2] + spun[2],
            )
            left = cross(turning, minus(end_speed, speed_k))
            right = cross(v, minus(link_omega, omega_k))
            for a in range(3):
                rows[2 + a, slot] -= ratio * ws * (left[a] + right[a])
                rows[2 + a, movers + 6 + slot] -= ratio * ws * v[a]
                rows[7 + a, slot] -= ratio * wp * v[a]
            rows[1, slot] -= ratio * wg * dot(n, v)
            _cone_slopes(
                room, slot, (f, fn, ft, ft_length), (n, axis, is_inside), mu, wc, over > 0.0,
                lacks > 0.0, (-ratio * v[0], -ratio * v[1], -ratio * v[2]),
                (ratio * turning[0], ratio * turning[1], ratio * turning[2]), reach,
            )  # fmt: skip
    none = (0.0, 0.0, 0.0)
    for i in range(9):
        # How the origin moves in the world: with the body's place, its hinges, or on its own.
        column = movers + i if i < 6 else 2 * movers + 15 + i - 6
        if i < 3:
            dp = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
            dv = none
            for a in range(3):
                rows[2 + a, 2 * movers + 6 + i] = ws * dp[a]
        elif i < 6:
            h = (room.hinge[i - 3, 0], room.hinge[i - 3, 1], room.hinge[i - 3, 2])
            dp = cross(h, arm)
            after = (
                om[0] - room.swing[i - 2, 0],
                om[1] - room.swing[i - 2, 1],
                om[2] - room.swing[i - 2, 2],
            )
            left, right = cross(cross(h, after), arm), cross(om, dp)
            dv = (left[0] + right[0], left[1] + right[1], left[2] + right[2])
            for a in range(3):
                rows[2 + a, 2 * movers + 6 + i] = ws * dp[a]
        else:
            dp = (t[0, i - 6], t[1, i - 6], t[2, i - 6])
            dv = cross(om, dp)
            rows[0, column] = wg * (gx if i == 6 else (gy if i == 7 else gz))
            if not is_hand:
                rows[7 + i - 6, column] = wp * _SPREAD
        carried = cross(link_omega, dp)
        for a in range(3):
            rows[2 + a, column] = ws * (dv[a] - carried[a])
            if is_hand and m.contacts.pad_joint[j] >= 0:
                rows[7 + a, column] = wp * dp[a]
        rows[1, column] = wg * dot(n, dp)
        if is_hand:
            _cone_slopes(
                room, column, (f, fn, ft, ft_length), (n, axis, is_inside), mu, wc, over > 0.0,
                lacks > 0.0, dp, none, reach,
            )  # fmt: skip
    for i in range(3):
        column = 2 * movers + 12 + i
        if over > 0.0:
            rows[5, column] = wc * (ft[i] / ft_length - mu * n[i]) / weight
        if lacks > 0.0:
            rows[6, column] = -wc * n[i] / weight
    for r in range(_NUM_ROWS):
        for i in range(count):
            rows[r, i] *= share
        rows[r, 2 * movers + 18] = share_slope * res[r]
        res[r] *= share
    add_rows(room, _NUM_ROWS, count)
    return cost


@loose
def _cone_slopes(
    room: Room,
    column: int,
    force: tuple,
    surface: tuple,
    mu: float,
    wc: float,
    is_over: bool,
    is_weak: bool,
    moved: tuple,
    turned: tuple,
    reach: float,
) -> None:
    """Slopes of the cone's residuals as the normal turns: dn = turned x n + P moved / reach.

    ``moved`` is how the origin moves against the link; P takes off the parts along the normal and,
    beside the straight part of a capsule, along its axis.
    """
    if not (is_over or is_weak):
        return
    f, fn, ft, ft_length = force
    n, axis, is_inside = surface
    along = dot(n, moved)
    lengthwise = dot(axis, moved) if is_inside else 0.0
    rolled = cross(turned, n)
    dn = (
        rolled[0] + (moved[0] - along * n[0] - lengthwise * axis[0]) / reach,
        rolled[1] + (moved[1] - along * n[1] - lengthwise * axis[1]) / reach,
        rolled[2] + (moved[2] - along * n[2] - lengthwise * axis[2]) / reach,
    )
    dfn = dot(f, dn)
    if is_over:
        room.rows[5, column] += wc * (-fn * dot(ft, dn) / ft_length - mu * dfn)
    if is_weak:
        room.rows[6, column] -= wc * dfn
