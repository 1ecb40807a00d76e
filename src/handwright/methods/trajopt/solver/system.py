"""Cost of a whole motion, and its normal equations in blocks of key states.

A key state holds coordinates, their rates, forces, origins, changes of the forces by which contacts
take pushes (``push_terms``), a shift of its time (``time_terms``), and contact variables. Between
two keys coordinates are cubic (Hermite), forces, origins and changes linear; contact variables
belong to the phase that starts at the key. The normal matrix couples neighbouring keys only:
``diagonal[k]`` (lower half) and ``below[k]``, which couples key k + 1 (rows) to key k (columns).
"""

from __future__ import annotations

import math

import numpy as np

from handwright.geometry.distance.environment import surface_value_gradient
from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import acceleration_index, origin_index
from handwright.methods.trajopt.model.model import HAND_CONTACT, Model, Room, Weights
from handwright.methods.trajopt.model.posing import pose_body, pose_hands
from handwright.methods.trajopt.terms.body import body_terms
from handwright.methods.trajopt.terms.collision import collision_terms, limit_terms
from handwright.methods.trajopt.terms.contact import (
    body_distance,
    contact_terms,
    nearest_capsule,
)
from handwright.methods.trajopt.terms.goal import goal_terms
from handwright.methods.trajopt.terms.push import push_terms
from handwright.methods.trajopt.terms.regularization import Sums
from handwright.methods.trajopt.terms.time import has_free_time, phase_length, spread_time


@kernel
def hermite(s: float, h: float) -> tuple:
    """What value, rate and acceleration take from both keys.

    Each is four weights: of value and rate at the first key, then at the second.
    """
    s2, s3 = s * s, s * s * s
    value = (2.0 * s3 - 3.0 * s2 + 1.0, h * (s3 - 2.0 * s2 + s), 3.0 * s2 - 2.0 * s3, h * (s3 - s2))
    slant, bend = (6.0 * s2 - 6.0 * s) / h, (12.0 * s - 6.0) / (h * h)
    rate = (slant, 3.0 * s2 - 4.0 * s + 1.0, -slant, 3.0 * s2 - 2.0 * s)
    acceleration = (bend, (6.0 * s - 4.0) / h, -bend, (6.0 * s - 2.0) / h)
    return value, rate, acceleration


@kernel
def fill_sample(m: Model, first: np.ndarray, second: np.ndarray, s: float, room: Room) -> None:
    """Writes the state within a phase into ``room.z``."""
    layout, rates = m.layout, m.layout.first_rate
    a, b, c = hermite(s, phase_length(m, first, second))
    z = room.z
    for i in range(layout.num_coordinates):
        p0, v0, p1, v1 = first[i], first[rates + i], second[i], second[rates + i]
        z[i] = a[0] * p0 + a[1] * v0 + a[2] * p1 + a[3] * v1
        z[rates + i] = b[0] * p0 + b[1] * v0 + b[2] * p1 + b[3] * v1
        if i >= layout.first_body:
            k = acceleration_index(layout, i)
            z[k] = c[0] * p0 + c[1] * v0 + c[2] * p1 + c[3] * v1
    for i in range(layout.first_force, layout.first_contact):
        z[i] = (1.0 - s) * first[i] + s * second[i]
    for i in range(layout.first_contact, layout.size):
        z[i] = first[i]


@kernel
def pose_sample(m: Model, room: Room, time: float) -> None:
    """Places hands and body from ``room.z``."""
    pose_hands(m, room)
    pose_body(m, room, time)


@kernel
def place_contact(m: Model, room: Room, j: int) -> tuple:
    """Origin of a contact in the world, normal into the body, gap and capsule (-1 for none).

    The origin is put on the body's surface; the gap is from there to the hand or the surface.
    """
    i = origin_index(m.layout, j)
    x, y, z = room.z[i], room.z[i + 1], room.z[i + 2]
    d, gx, gy, gz = body_distance(m, x, y, z)
    x, y, z = x - d * gx, y - d * gy, z - d * gz
    t, b = room.body_turn, m.layout.first_body
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


@kernel
def is_landing(m: Model, n: int, j: int) -> bool:
    """Whether sample ``n`` is shortly before contact ``j`` begins, or shortly after its end."""
    k = m.samples.phase[n]
    side = m.landing[k, j]
    if side == 0:
        return False
    at, half = m.samples.fraction[n], 0.75 * m.samples.weight[n] / m.phase_time
    return (side % 2 == 1 and at < half) or (side >= 2 and at > 1.0 - half)


@kernel
def firmness(m: Model, phase: int, j: int, at: float) -> float:
    """Share of its least squeeze that contact ``j`` must give within a phase."""
    side = m.easing[phase, j]
    begun = at if side % 2 == 1 else 1.0
    return min(begun, 1.0 - at) if side >= 2 else begun


@kernel
def sample_cost(m: Model, w: Weights, room: Room, n: int, h: float, want: bool) -> float:
    """Cost of one sample of a phase of length h whose state is in ``room.z``.

    Adds slopes if wanted.
    """
    pose_sample(m, room, m.samples.time[n])
    scale = math.sqrt(m.samples.weight[n] * (h / m.phase_time))
    cost = 0.0
    for row in range(m.samples.goal_first[n], m.samples.goal_last[n]):
        cost += goal_terms(m, w, room, row, scale, want)
    if m.samples.is_full[n]:
        for j in range(m.layout.num_contacts):
            lands = w.is_frozen and is_landing(m, n, j)
            firm = firmness(m, m.samples.phase[n], j, m.samples.fraction[n])
            cost += contact_terms(m, w, room, j, scale, firm, lands, want)
        cost += body_terms(m, w, room, scale, want)
        cost += push_terms(m, w, room, m.samples.phase[n], scale, want)
        cost += collision_terms(m, w, room, m.samples.phase[n], scale, want)
        cost += limit_terms(m, w, room, scale, want)
    return cost


@kernel
def _key_pair(m: Model, keys: np.ndarray, phase: int) -> tuple[int, int]:
    last = phase + 1
    return phase, (0 if last == keys.shape[0] else last)


@kernel
def motion_cost(m: Model, w: Weights, keys: np.ndarray, room: Room) -> float:
    """Cost of all samples."""
    cost = 0.0
    for n in range(m.samples.phase.shape[0]):
        k, other = _key_pair(m, keys, m.samples.phase[n])
        fill_sample(m, keys[k], keys[other], m.samples.fraction[n], room)
        cost += sample_cost(m, w, room, n, phase_length(m, keys[k], keys[other]), False)
    return cost


@kernel
def motion_system(m: Model, w: Weights, keys: np.ndarray, room: Room, out: Sums) -> float:
    """Cost of all samples; adds to the normal equations.

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
        h = phase_length(m, keys[k], keys[other])
        part = sample_cost(m, w, room, n, h, True)
        cost += part
        blocks = (out.diagonal[k], out.below[k], out.diagonal[other])
        slopes = (out.slope[k], out.slope[other])
        takes = hermite(s, h)
        _spread_coordinates(m, room, takes, blocks, slopes)
        _spread_contacts(m, room, s, takes, blocks, slopes)
        if w.is_frozen and has_free_time(m, k, other):
            pair = (k, other, keys[k], keys[other])
            spread_time(m, room, (s, h), pair, part, takes, out)
    return cost


@kernel
def _spread_coordinates(m: Model, room: Room, takes: tuple, blocks: tuple, slopes: tuple) -> None:
    """Carries what depends on coordinates of a sample over to its two keys."""
    layout, rates, first_body = m.layout, m.layout.first_rate, m.layout.first_body
    value, rate, acceleration = takes
    H, g = room.square, room.slope
    for i in range(layout.num_coordinates):
        # Accelerations of the body's coordinates come after everything else.
        ai = acceleration_index(layout, i) if i >= first_body else -1
        for a in range(4):
            pull = value[a] * g[i] + rate[a] * g[rates + i]
            if ai >= 0:
                pull += acceleration[a] * g[ai]
            slopes[a // 2][(a % 2) * rates + i] += pull
        for j in range(i + 1):
            aj = acceleration_index(layout, j) if j >= first_body else -1
            pair = (H[i, j], H[rates + i, j], H[rates + j, i], H[rates + i, rates + j])
            bent = (0.0, 0.0, 0.0, 0.0, 0.0)
            if aj >= 0:
                bent = (H[ai, j], H[ai, rates + j], H[aj, i], H[aj, rates + i], H[ai, aj])
            elif ai >= 0:
                bent = (H[ai, j], H[ai, rates + j], 0.0, 0.0, 0.0)
            if _is_nothing(pair, bent):
                continue
            for a in range(4):
                _spread_row(takes, pair, bent, (rates, i, j, a), blocks)


@kernel
def _is_nothing(pair: tuple, bent: tuple) -> bool:
    total = abs(pair[0]) + abs(pair[1]) + abs(pair[2]) + abs(pair[3])
    return total + abs(bent[0]) + abs(bent[1]) + abs(bent[2]) + abs(bent[3]) + abs(bent[4]) == 0.0


@kernel
def _spread_row(takes: tuple, pair: tuple, bent: tuple, place: tuple, blocks: tuple) -> None:
    """One of the four states of coordinate i (value and rate at either key) against those of j."""
    value, rate, acceleration = takes
    rates, i, j, a = place
    first, below, second = blocks
    by_value = value[a] * pair[0] + rate[a] * pair[1] + acceleration[a] * bent[0]
    by_rate = value[a] * pair[2] + rate[a] * pair[3] + acceleration[a] * bent[1]
    by_bend = value[a] * bent[2] + rate[a] * bent[3] + acceleration[a] * bent[4]
    row = (a % 2) * rates + i
    # Of a coordinate with itself every pair of states comes once.
    for b in range(a + 1 if i == j else 4):
        product = by_value * value[b] + by_rate * rate[b] + by_bend * acceleration[b]
        column = (b % 2) * rates + j
        if a < 2 and b < 2:
            _put(first, row, column, product)
        elif a >= 2 and b >= 2:
            _put(second, row, column, product)
        elif a >= 2:
            below[row, column] += product
        else:
            below[column, row] += product


@kernel
def _put(block: np.ndarray, row: int, column: int, value: float) -> None:
    """Adds to a symmetric block of which the lower half is kept."""
    if row >= column:
        block[row, column] += value
    else:
        block[column, row] += value


@kernel
def _key_shares(m: Model, s: float, i: int) -> tuple[float, float]:
    """What a variable of contacts takes from both keys: contact variables belong to the first."""
    return (1.0 - s, s) if i < m.layout.first_contact else (1.0, 0.0)


@kernel
def _spread_contacts(
    m: Model, room: Room, s: float, takes: tuple, blocks: tuple, slopes: tuple
) -> None:
    """Carries what depends on forces, origins and contact variables over to the keys."""
    layout, rates = m.layout, m.layout.first_rate
    value, rate, acceleration = takes
    first, below, second = blocks
    H, g = room.square, room.slope
    for i in range(layout.first_force, layout.size):
        u0, u1 = _key_shares(m, s, i)
        slopes[0][i] += u0 * g[i]
        slopes[1][i] += u1 * g[i]
        for j in range(layout.num_coordinates):
            bent = H[acceleration_index(layout, j), i] if j >= layout.first_body else 0.0
            if H[i, j] == 0.0 and H[i, rates + j] == 0.0 and bent == 0.0:
                continue
            for a in range(4):
                product = value[a] * H[i, j] + rate[a] * H[i, rates + j] + acceleration[a] * bent
                column = (a % 2) * rates + j
                if a < 2:
                    first[i, column] += u0 * product
                    below[i, column] += u1 * product
                else:
                    second[i, column] += u1 * product
                    below[column, i] += u0 * product
        for j in range(layout.first_force, i + 1):
            if H[i, j] != 0.0:
                t0, t1 = _key_shares(m, s, j)
                first[i, j] += u0 * t0 * H[i, j]
                second[i, j] += u1 * t1 * H[i, j]
                below[i, j] += u1 * t0 * H[i, j]
                if j != i:
                    below[j, i] += u0 * t1 * H[i, j]
