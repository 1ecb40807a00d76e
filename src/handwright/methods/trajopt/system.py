"""Cost of a whole motion, and its normal equations in blocks of key states.

A key state holds coordinates, their rates, forces, origins and contact variables. Between two keys
coordinates are cubic (Hermite), forces and origins linear; contact variables belong to the phase
that starts at the key. The normal matrix couples neighbouring keys only: ``diagonal[k]`` (lower
half) and ``below[k]``, which couples key k + 1 (rows) to key k (columns).
"""

from __future__ import annotations

import math

import numpy as np

from handwright.geometry.environment import surface_value_gradient
from handwright.math.compiled import loose
from handwright.methods.trajopt.body_terms import body_terms
from handwright.methods.trajopt.collision_terms import collision_terms, limit_terms
from handwright.methods.trajopt.contact_terms import (
    body_distance,
    contact_terms,
    nearest_capsule,
)
from handwright.methods.trajopt.goal_terms import goal_terms
from handwright.methods.trajopt.model import HAND_CONTACT, Model, Room, Weights
from handwright.methods.trajopt.posing import pose_body, pose_hands


@loose
def hermite(s: float, h: float, out: np.ndarray) -> None:
    """Writes what value, rate and acceleration take from both keys: rows of ``out`` (3, 4).

    Columns are value and rate at the first key, then at the second.
    """
    s2, s3 = s * s, s * s * s
    out[0, 0], out[0, 1] = 2.0 * s3 - 3.0 * s2 + 1.0, h * (s3 - 2.0 * s2 + s)
    out[0, 2], out[0, 3] = -2.0 * s3 + 3.0 * s2, h * (s3 - s2)
    out[1, 0], out[1, 1] = (6.0 * s2 - 6.0 * s) / h, 3.0 * s2 - 4.0 * s + 1.0
    out[1, 2], out[1, 3] = (-6.0 * s2 + 6.0 * s) / h, 3.0 * s2 - 2.0 * s
    out[2, 0], out[2, 1] = (12.0 * s - 6.0) / (h * h), (6.0 * s - 4.0) / h
    out[2, 2], out[2, 3] = (-12.0 * s + 6.0) / (h * h), (6.0 * s - 2.0) / h


@loose
def fill_sample(m: Model, first: np.ndarray, second: np.ndarray, s: float, room: Room) -> None:
    """Writes the state within a phase into ``room.z``."""
    nq, nc = m.num_coordinates, m.num_contacts
    h = m.phase_time
    s2, s3 = s * s, s * s * s
    a0, a1 = 2.0 * s3 - 3.0 * s2 + 1.0, h * (s3 - 2.0 * s2 + s)
    a2, a3 = -2.0 * s3 + 3.0 * s2, h * (s3 - s2)
    b0, b1 = (6.0 * s2 - 6.0 * s) / h, 3.0 * s2 - 4.0 * s + 1.0
    b2, b3 = -b0, 3.0 * s2 - 2.0 * s
    c0, c1 = (12.0 * s - 6.0) / (h * h), (6.0 * s - 4.0) / h
    c2, c3 = -c0, (6.0 * s - 2.0) / h
    z = room.z
    for i in range(nq):
        p0, v0, p1, v1 = first[i], first[nq + i], second[i], second[nq + i]
        z[i] = a0 * p0 + a1 * v0 + a2 * p1 + a3 * v1
        z[nq + i] = b0 * p0 + b1 * v0 + b2 * p1 + b3 * v1
        if i >= nq - 6:
            k = 2 * nq + 7 * nc + i - (nq - 6)
            z[k] = c0 * p0 + c1 * v0 + c2 * p1 + c3 * v1
    for i in range(2 * nq, 2 * nq + 6 * nc):
        z[i] = (1.0 - s) * first[i] + s * second[i]
    for i in range(2 * nq + 6 * nc, 2 * nq + 7 * nc):
        z[i] = first[i]


@loose
def pose_sample(m: Model, room: Room, time: float) -> None:
    """Places hands and body from ``room.z``."""
    pose_hands(m, room)
    pose_body(m, room, time)


@loose
def place_contact(m: Model, room: Room, j: int) -> tuple:
    """Origin of a contact in the world, normal into the body, gap and capsule (-1 for none).

    The origin is put on the body's surface; the gap is from there to the hand or the surface.
    """
    nq, nc = m.num_coordinates, m.num_contacts
    i = 2 * nq + 3 * nc + 3 * j
    x, y, z = room.z[i], room.z[i + 1], room.z[i + 2]
    d, gx, gy, gz = body_distance(m, x, y, z)
    x, y, z = x - d * gx, y - d * gy, z - d * gz
    t, b = room.body_turn, nq - 6
    p = (
        room.z[b] + t[0, 0] * x + t[0, 1] * y + t[0, 2] * z,
        room.z[b + 1] + t[1, 0] * x + t[1, 1] * y + t[1, 2] * z,
        room.z[b + 2] + t[2, 0] * x + t[2, 1] * y + t[2, 2] * z,
    )
    if m.contacts.kind[j] == HAND_CONTACT:
        k, at = nearest_capsule(m, room, j, p)
        s, e = room.ends[k, 0], room.ends[k, 1]
        nx = p[0] - s[0] - at * (e[0] - s[0])
        ny = p[1] - s[1] - at * (e[1] - s[1])
        nz = p[2] - s[2] - at * (e[2] - s[2])
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        gap = length - m.skeleton.radius[k]
        return p[0], p[1], p[2], nx / length, ny / length, nz / length, gap, k
    gap, nx, ny, nz = surface_value_gradient(m.env, m.contacts.surface[j], p[0], p[1], p[2])
    return p[0], p[1], p[2], nx, ny, nz, gap, -1


@loose
def is_landing(m: Model, n: int, j: int) -> bool:
    """Whether sample ``n`` is the last before contact ``j`` begins, or the first after its end."""
    k = m.samples.phase[n]
    side = m.landing[k, j]
    if side == 0:
        return False
    at, half = m.samples.fraction[n], 0.75 * m.samples.weight[n] / m.phase_time
    return (side % 2 == 1 and at < half) or (side >= 2 and at > 1.0 - half)


@loose
def sample_cost(m: Model, w: Weights, room: Room, n: int, want: bool) -> float:
    """Cost of one sample whose state is in ``room.z``; adds slopes if wanted."""
    pose_sample(m, room, m.samples.time[n])
    scale = math.sqrt(m.samples.weight[n])
    cost = 0.0
    for row in range(m.samples.goal_first[n], m.samples.goal_last[n]):
        cost += goal_terms(m, w, room, row, scale, want)
    if m.samples.is_full[n]:
        for j in range(m.num_contacts):
            lands = w.is_frozen and is_landing(m, n, j)
            cost += contact_terms(m, w, room, j, scale, lands, want)
        cost += body_terms(m, w, room, scale, want)
        cost += collision_terms(m, w, room, m.samples.phase[n], scale, want)
        cost += limit_terms(m, w, room, scale, want)
    return cost


@loose
def _key_pair(m: Model, keys: np.ndarray, phase: int) -> tuple[int, int]:
    last = phase + 1
    return phase, (0 if last == keys.shape[0] else last)


@loose
def motion_cost(m: Model, w: Weights, keys: np.ndarray, room: Room) -> float:
    """Cost of all samples."""
    cost = 0.0
    for n in range(m.samples.phase.shape[0]):
        k, other = _key_pair(m, keys, m.samples.phase[n])
        fill_sample(m, keys[k], keys[other], m.samples.fraction[n], room)
        cost += sample_cost(m, w, room, n, False)
    return cost


@loose
def motion_system(
    m: Model,
    w: Weights,
    keys: np.ndarray,
    room: Room,
    weights_of_keys: np.ndarray,
    diagonal: np.ndarray,
    below: np.ndarray,
    slope: np.ndarray,
) -> float:
    """Cost of all samples; adds to the blocks of the normal equations and the gradient.

    With a cyclic motion the last phase leads to key 0, and ``below`` of its first key holds the
    coupling with key 0 as rows.
    """
    cost = 0.0
    for n in range(m.samples.phase.shape[0]):
        k, other = _key_pair(m, keys, m.samples.phase[n])
        s = m.samples.fraction[n]
        fill_sample(m, keys[k], keys[other], s, room)
        for i in range(room.slope.shape[0]):
            room.slope[i] = 0.0
            for j in range(i + 1):
                room.square[i, j] = 0.0
        cost += sample_cost(m, w, room, n, True)
        hermite(s, m.phase_time, weights_of_keys)
        _spread(
            m, room, s, weights_of_keys, (diagonal[k], below[k], diagonal[other]),
            (slope[k], slope[other]),
        )  # fmt: skip
    return cost


@loose
def _put(block: np.ndarray, row: int, column: int, value: float) -> None:
    """Adds to a symmetric block of which the lower half is kept."""
    if row >= column:
        block[row, column] += value
    else:
        block[column, row] += value


@loose
def _spread(
    m: Model, room: Room, s: float, hw: np.ndarray, blocks: tuple, slopes: tuple
) -> None:
    """Carries the normal equations of a sample over to its two keys."""
    first, below, second = blocks
    slope0, slope1 = slopes
    nq, nc = m.num_coordinates, m.num_contacts
    H, g = room.square, room.slope
    end, contacts = 2 * nq, 2 * nq + 7 * nc
    linear = 2 * nq + 6 * nc
    for i in range(nq):
        acc = contacts + i - (nq - 6) if i >= nq - 6 else -1
        ga = g[acc] if acc >= 0 else 0.0
        for a in range(2):
            row = a * nq + i
            slope0[row] += hw[0, a] * g[i] + hw[1, a] * g[nq + i] + hw[2, a] * ga
            slope1[row] += hw[0, 2 + a] * g[i] + hw[1, 2 + a] * g[nq + i] + hw[2, 2 + a] * ga
        for j in range(i + 1):
            qq, vq, qv, vv = H[i, j], H[nq + i, j], H[nq + j, i], H[nq + i, nq + j]
            aq, av, qa, va, aa = 0.0, 0.0, 0.0, 0.0, 0.0
            if acc >= 0:
                aq, av = H[acc, j], H[acc, nq + j]
                other = contacts + j - (nq - 6) if j >= nq - 6 else -1
                if other >= 0:
                    qa, va = H[other, i], H[other, nq + i]
                    aa = H[acc, other]
            if i == j:
                qv = vq
                qa, va = aq, av
            if qq == 0.0 and vq == 0.0 and qv == 0.0 and vv == 0.0 and aq == 0.0 and aa == 0.0:
                if av == 0.0 and qa == 0.0 and va == 0.0:
                    continue
            for a in range(4):
                left_q = hw[0, a] * qq + hw[1, a] * vq + hw[2, a] * aq
                left_v = hw[0, a] * qv + hw[1, a] * vv + hw[2, a] * av
                left_a = hw[0, a] * qa + hw[1, a] * va + hw[2, a] * aa
                for b in range(4):
                    if i == j and b > a:
                        continue
                    value = left_q * hw[0, b] + left_v * hw[1, b] + left_a * hw[2, b]
                    row, column = (a % 2) * nq + i, (b % 2) * nq + j
                    if a < 2 and b < 2:
                        _put(first, row, column, value)
                    elif a >= 2 and b >= 2:
                        _put(second, row, column, value)
                    elif a >= 2:
                        below[row, column] += value
                    else:
                        below[column, row] += value
    for l in range(end, contacts):
        u0, u1 = (1.0 - s, s) if l < linear else (1.0, 0.0)
        slope0[l] += u0 * g[l]
        slope1[l] += u1 * g[l]
        for i in range(nq):
            hq, hv = H[l, i], H[l, nq + i]
            ha = H[contacts + i - (nq - 6), l] if i >= nq - 6 else 0.0
            if hq == 0.0 and hv == 0.0 and ha == 0.0:
                continue
            for a in range(4):
                value = hw[0, a] * hq + hw[1, a] * hv + hw[2, a] * ha
                column = (a % 2) * nq + i
                if a < 2:
                    first[l, column] += u0 * value
                    below[l, column] += u1 * value
                else:
                    second[l, column] += u1 * value
                    below[column, l] += u0 * value
        for k in range(end, l + 1):
            h = H[l, k]
            if h == 0.0:
                continue
            t0, t1 = (1.0 - s, s) if k < linear else (1.0, 0.0)
            first[l, k] += u0 * t0 * h
            second[l, k] += u1 * t1 * h
            below[l, k] += u1 * t0 * h
            if k != l:
                below[k, l] += u0 * t1 * h
