"""Cost of a whole motion, and its normal equations in blocks of key states.

For the variables of a key state see ``KeyLayout``. Between two keys coordinates are cubic
(Hermite), forces, origins and changes are linear; contact variables belong to the phase that starts
at the key. The normal matrix couples neighbouring keys only.
"""

from __future__ import annotations

import math

import numpy as np

from handwright.geometry.distance.environment import surface_value_gradient
from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model import vectors as vec
from handwright.methods.trajopt.model.layout import acceleration_index, origin_index
from handwright.methods.trajopt.model.model import HAND_CONTACT, Model, ResidualWeights
from handwright.methods.trajopt.model.posing import pose_body, pose_hands
from handwright.methods.trajopt.model.workspace import NormalEquations, SampleWorkspace
from handwright.methods.trajopt.terms.body import body_terms
from handwright.methods.trajopt.terms.collision import collision_terms, limit_terms
from handwright.methods.trajopt.terms.contact import contact_terms
from handwright.methods.trajopt.terms.contact_state import body_distance, nearest_capsule
from handwright.methods.trajopt.terms.goal import goal_terms
from handwright.methods.trajopt.terms.push import push_terms
from handwright.methods.trajopt.terms.time import distribute_time, has_free_time, phase_length


@kernel
def hermite(s: float, h: float) -> tuple:
    """Basis of a cubic: weights of the states at both keys in value, rate and acceleration.

    Each of the three is four weights: of value and rate at the first key, then at the second.
    """
    s2, s3 = s * s, s * s * s
    value = (2.0 * s3 - 3.0 * s2 + 1.0, h * (s3 - 2.0 * s2 + s), 3.0 * s2 - 2.0 * s3, h * (s3 - s2))
    slant, bend = (6.0 * s2 - 6.0 * s) / h, (12.0 * s - 6.0) / (h * h)
    rate = (slant, 3.0 * s2 - 4.0 * s + 1.0, -slant, 3.0 * s2 - 2.0 * s)
    acceleration = (bend, (6.0 * s - 4.0) / h, -bend, (6.0 * s - 2.0) / h)
    return value, rate, acceleration


@kernel
def fill_sample(
    m: Model, first: np.ndarray, second: np.ndarray, s: float, work: SampleWorkspace
) -> None:
    """Writes the state within a phase into ``work.z``."""
    layout, rates = m.layout, m.layout.first_rate
    a, b, c = hermite(s, phase_length(m, first, second))
    z = work.z
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
def pose_sample(m: Model, work: SampleWorkspace, time: float) -> None:
    """Forward kinematics of hands and body from ``work.z``."""
    pose_hands(m, work)
    pose_body(m, work, time)


@kernel
def place_contact(m: Model, work: SampleWorkspace, j: int) -> tuple:
    """Origin of a contact in the world, normal into the body, gap and capsule (-1 for none).

    The origin is projected to the body's surface; the gap is from there to the hand or surface.
    """
    local = vec.triple(work.z, origin_index(m.layout, j))
    d, outward = body_distance(m, local)
    center = vec.triple(work.z, m.layout.first_body)
    p = vec.placed(work.body_rotation, center, vec.plus_times(local, outward, -d))
    if m.contacts.kind[j] == HAND_CONTACT:
        k, _, away = nearest_capsule(m, work, j, p)
        length = vec.norm(away)
        return p, vec.over(away, length), length - m.skeleton.radius[k], k
    gap, nx, ny, nz = surface_value_gradient(m.env, m.contacts.surface[j], p[0], p[1], p[2])
    return p, (nx, ny, nz), gap, -1


@kernel
def is_landing(m: Model, n: int, j: int) -> bool:
    """Whether sample ``n`` is just before contact ``j`` begins, or just after it ends."""
    k = m.samples.phase[n]
    landing = m.schedule.landing[k, j]
    if landing == 0:
        return False
    at, half = m.samples.fraction[n], 0.75 * m.samples.weight[n] / m.phase_time
    return (landing % 2 == 1 and at < half) or (landing >= 2 and at > 1.0 - half)


@kernel
def squeeze_share(m: Model, phase: int, j: int, at: float) -> float:
    """Share of its least squeeze that contact ``j`` must give at a fraction of a phase."""
    easing = m.schedule.easing[phase, j]
    begun = at if easing % 2 == 1 else 1.0
    return min(begun, 1.0 - at) if easing >= 2 else begun


@kernel
def sample_cost(
    m: Model, w: ResidualWeights, work: SampleWorkspace, n: int, h: float, with_gradient: bool
) -> float:
    """Cost of sample ``n`` in a phase of length ``h``; its state is in ``work.z``."""
    pose_sample(m, work, m.samples.time[n])
    scale = math.sqrt(m.samples.weight[n] * (h / m.phase_time))
    phase, fraction = m.samples.phase[n], m.samples.fraction[n]
    cost = 0.0
    for row in range(m.samples.goal_first[n], m.samples.goal_last[n]):
        cost += goal_terms(m, w, work, row, scale, with_gradient)
    if m.samples.is_full[n]:
        for j in range(m.layout.num_contacts):
            lands = w.is_frozen and is_landing(m, n, j)
            share = squeeze_share(m, phase, j, fraction)
            cost += contact_terms(m, w, work, j, scale, share, lands, with_gradient)
        cost += body_terms(m, w, work, scale, with_gradient)
        cost += push_terms(m, w, work, phase, scale, with_gradient)
        cost += collision_terms(m, w, work, phase, scale, with_gradient)
        cost += limit_terms(m, w, work, scale, with_gradient)
    return cost


@kernel
def _key_pair(m: Model, keys: np.ndarray, phase: int) -> tuple[int, int]:
    """Numbers of the two keys of a phase."""
    last = phase + 1
    return phase, (0 if last == keys.shape[0] else last)


@kernel
def motion_cost(m: Model, w: ResidualWeights, keys: np.ndarray, work: SampleWorkspace) -> float:
    """Cost of all samples."""
    cost = 0.0
    for n in range(m.samples.phase.shape[0]):
        k, other = _key_pair(m, keys, m.samples.phase[n])
        fill_sample(m, keys[k], keys[other], m.samples.fraction[n], work)
        cost += sample_cost(m, w, work, n, phase_length(m, keys[k], keys[other]), False)
    return cost


@kernel
def motion_system(
    m: Model, w: ResidualWeights, keys: np.ndarray, work: SampleWorkspace, out: NormalEquations
) -> float:
    """Cost of all samples; adds to the normal equations.

    With a cyclic motion the last phase leads to key 0, and ``below`` of its first key holds the
    coupling with key 0 as rows.
    """
    cost = 0.0
    for n in range(m.samples.phase.shape[0]):
        k, other = _key_pair(m, keys, m.samples.phase[n])
        s = m.samples.fraction[n]
        fill_sample(m, keys[k], keys[other], s, work)
        for i in range(work.gradient.shape[0]):
            work.gradient[i] = 0.0
            for j in range(i + 1):
                work.hessian[i, j] = 0.0
        h = phase_length(m, keys[k], keys[other])
        part = sample_cost(m, w, work, n, h, True)
        cost += part
        blocks = (out.diagonal[k], out.below[k], out.diagonal[other])
        gradients = (out.gradient[k], out.gradient[other])
        basis = hermite(s, h)
        _distribute_coordinates(m, work, basis, blocks, gradients)
        _distribute_contacts(m, work, s, basis, blocks, gradients)
        if w.is_frozen and has_free_time(m, k, other):
            pair = (k, other, keys[k], keys[other])
            distribute_time(m, work, (s, h), pair, part, basis, out)
    return cost


@kernel
def _distribute_coordinates(
    m: Model, work: SampleWorkspace, basis: tuple, blocks: tuple, gradients: tuple
) -> None:
    """Adds what depends on coordinates of a sample to the blocks of its two keys."""
    layout, rates, first_body = m.layout, m.layout.first_rate, m.layout.first_body
    value, rate, acceleration = basis
    H, g = work.hessian, work.gradient
    for i in range(layout.num_coordinates):
        # Accelerations of the body's coordinates come after everything else.
        ai = acceleration_index(layout, i) if i >= first_body else -1
        for a in range(4):
            pull = value[a] * g[i] + rate[a] * g[rates + i]
            if ai >= 0:
                pull += acceleration[a] * g[ai]
            gradients[a // 2][(a % 2) * rates + i] += pull
        for j in range(i + 1):
            aj = acceleration_index(layout, j) if j >= first_body else -1
            pair = (H[i, j], H[rates + i, j], H[rates + j, i], H[rates + i, rates + j])
            bends = (0.0, 0.0, 0.0, 0.0, 0.0)
            if aj >= 0:
                bends = (H[ai, j], H[ai, rates + j], H[aj, i], H[aj, rates + i], H[ai, aj])
            elif ai >= 0:
                bends = (H[ai, j], H[ai, rates + j], 0.0, 0.0, 0.0)
            if _is_zero(pair, bends):
                continue
            for a in range(4):
                _distribute_row(basis, pair, bends, (rates, i, j, a), blocks)


@kernel
def _is_zero(pair: tuple, bends: tuple) -> bool:
    """Whether all entries of both tuples are zero."""
    total = abs(pair[0]) + abs(pair[1]) + abs(pair[2]) + abs(pair[3])
    return (
        total + abs(bends[0]) + abs(bends[1]) + abs(bends[2]) + abs(bends[3]) + abs(bends[4]) == 0.0
    )


@kernel
def _distribute_row(basis: tuple, pair: tuple, bends: tuple, index: tuple, blocks: tuple) -> None:
    """Entries of one of the four states of coordinate i (value, rate at each key) with those of j.

    ``pair`` are entries of the sample for values and rates of i and j, ``bends`` those with
    accelerations.
    """
    value, rate, acceleration = basis
    rates, i, j, a = index
    first, below, second = blocks
    by_value = value[a] * pair[0] + rate[a] * pair[1] + acceleration[a] * bends[0]
    by_rate = value[a] * pair[2] + rate[a] * pair[3] + acceleration[a] * bends[1]
    by_bend = value[a] * bends[2] + rate[a] * bends[3] + acceleration[a] * bends[4]
    row = (a % 2) * rates + i
    # Every pair of states of one coordinate with itself is added once.
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
    """Weights of both keys in a variable of contacts; contact variables belong to the first."""
    return (1.0 - s, s) if i < m.layout.first_contact else (1.0, 0.0)


@kernel
def _distribute_contacts(
    m: Model, work: SampleWorkspace, s: float, basis: tuple, blocks: tuple, gradients: tuple
) -> None:
    """Adds what depends on forces, origins and contact variables to the blocks of both keys."""
    layout, rates = m.layout, m.layout.first_rate
    value, rate, acceleration = basis
    first, below, second = blocks
    H, g = work.hessian, work.gradient
    for i in range(layout.first_force, layout.size):
        u0, u1 = _key_shares(m, s, i)
        gradients[0][i] += u0 * g[i]
        gradients[1][i] += u1 * g[i]
        for j in range(layout.num_coordinates):
            bends = H[acceleration_index(layout, j), i] if j >= layout.first_body else 0.0
            if H[i, j] == 0.0 and H[i, rates + j] == 0.0 and bends == 0.0:
                continue
            for a in range(4):
                product = value[a] * H[i, j] + rate[a] * H[i, rates + j] + acceleration[a] * bends
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
