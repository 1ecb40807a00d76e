"""The interior-point method of ``cones``: start, Newton steps, stopping.

Iterates are feasible from the first to the last, in the primal and in the dual program: what comes
back obeys the cones even if the method were stopped early.
"""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined, inlined_loose
from handwright.mechanics.cone_work import (
    ConeWork,
    corrector,
    measured,
    move_block,
    scaled,
    step_bounds,
)
from handwright.mechanics.wrench import ForceProgram, has_one_edge, set_column, tangents

_RELATIVE_GAP = 1e-8
_ABSOLUTE_GAP = 1e-9
_LOOSE_GAP = 1e-6
_DRIFT = 1e-8
LEAST_WEIGHT = 1e-6
_LEAST_STEP = 1e-12
_ROUNDS = 3
_BALANCED = 1e-12
_NO_PIVOT = 1e-15


@inlined
def set_up(work: ConeWork, program: ForceProgram) -> bool:
    """Columns, prices and caps in scaled units; False if something is not finite."""
    contacts, count, wrench = program.contacts, program.count, program.wrench
    force_scale, length_scale = program.force_scale, program.length_scale
    total, highest = 0.0, 0.0
    for k in range(6):
        work.wanted[k] = wrench[k] / (force_scale if k < 3 else force_scale * length_scale)
        total += abs(work.wanted[k])
    for i in range(count):
        highest = max(highest, contacts.weight[i])
    for i in range(count):
        work.price[i] = max(contacts.weight[i] / highest, LEAST_WEIGHT)
        n, d, mu = contacts.normal, contacts.drag, contacts.friction[i]
        flat = work.columns[i]
        force = (n[i, 0] + mu * d[i, 0], n[i, 1] + mu * d[i, 1], n[i, 2] + mu * d[i, 2])
        set_column(flat, 0, contacts.arm, i, force, length_scale)
        # A ray is a cone whose tangents move nothing.
        side = 0.0 if has_one_edge(contacts, i) else mu
        ax, ay, az, bx, by, bz = tangents(n, i)
        set_column(flat, 1, contacts.arm, i, (side * ax, side * ay, side * az), length_scale)
        set_column(flat, 2, contacts.arm, i, (side * bx, side * by, side * bz), length_scale)
        work.cap[i] = contacts.cap[i] / force_scale
        total += work.price[i] + mu + (0.0 if work.cap[i] >= 0.0 else np.nan)
        for j in range(3):
            for k in range(6):
                total += abs(flat[j, k])
                if work.cap[i] <= 0.0:
                    flat[j, k] = 0.0
    return total < np.inf


@inlined
def start(work: ConeWork, count: int, penalty: float) -> None:
    """A strictly feasible point of both programs."""
    x, z, rx, rz = work.cones.x, work.cones.z, work.slack.x, work.slack.z
    for k in range(6):
        rx[0, 1 + k] = work.wanted[k]
        rz[0, 1 + k] = 0.0
    for i in range(count):
        # A cheap force starts larger, which keeps the products x z of the blocks nearer together.
        x[i, 0], x[i, 1], x[i, 2] = 1.0 / np.sqrt(work.price[i]), 0.0, 0.0
        z[i, 0], z[i, 1], z[i, 2] = work.price[i], 0.0, 0.0
        # A cap of nothing binds a force that moves nothing: it is left out here.
        if 0.0 < work.cap[i] < np.inf:
            x[i, 0] = min(x[i, 0], 0.5 * work.cap[i])
            work.room.x[i, 0] = work.cap[i] - x[i, 0]
            work.room.z[i, 0] = work.price[i]
            z[i, 0] += work.price[i]
        else:
            work.cap[i] = np.inf
        for k in range(6):
            rx[0, 1 + k] -= work.columns[i, 0, k] * x[i, 0]
    square = 0.0
    for k in range(6):
        square += rx[0, 1 + k] ** 2
    rx[0, 0] = np.sqrt(square) + 1.0
    rz[0, 0] = penalty


@inlined_loose
def _normal_matrix(work: ConeWork, count: int) -> None:
    """A H A' of all blocks, as a sum of squares."""
    M, w, eta = work.normal_matrix, work.cones.w, work.cones.eta
    square = 2.0 * work.slack.eta[0] ** 2
    for r in range(6):
        for c in range(r + 1):
            M[r, c] = square * work.slack.w[0, 1 + r] * work.slack.w[0, 1 + c]
        M[r, r] += 0.5 * square
    for i in range(count):
        root, rooted, flat = work.root[i], work.rooted[i], work.columns[i]
        e, w0, w1, w2 = eta[i], w[i, 0], w[i, 1], w[i, 2]
        factor = e / (1.0 + w0)
        p0, p1, p2 = e * w0, e * w1, e * w2
        root[0, 0], root[0, 1], root[0, 2] = p0, p1, p2
        root[1, 0], root[1, 1], root[1, 2] = p1, e + factor * w1 * w1, factor * w1 * w2
        root[2, 0], root[2, 1], root[2, 2] = p2, factor * w1 * w2, e + factor * w2 * w2
        if work.cap[i] < np.inf:
            # The slack of the cap takes part of the block: H - H e e' H / (e' H e + h).
            whole = p0 * p0 + p1 * p1 + p2 * p2
            slack = work.room.eta[i] ** 2
            factor = (1.0 - np.sqrt(slack / (whole + slack))) / whole
            work.share[i, 0] = 1.0 / (whole + slack)
            for r in range(3):
                along = root[r, 0] * p0 + root[r, 1] * p1 + root[r, 2] * p2
                work.share[i, 1 + r] = along
                root[r, 0] -= factor * along * p0
                root[r, 1] -= factor * along * p1
                root[r, 2] -= factor * along * p2
        for c in range(3):
            for k in range(6):
                rooted[c, k] = (
                    root[0, c] * flat[0, k] + root[1, c] * flat[1, k] + root[2, c] * flat[2, k]
                )
        for r in range(6):
            for c in range(r + 1):
                M[r, c] += (
                    rooted[0, r] * rooted[0, c]
                    + rooted[1, r] * rooted[1, c]
                    + rooted[2, r] * rooted[2, c]
                )


@inlined
def _factorise(M: np.ndarray) -> None:
    """Cholesky factor in place."""
    for c in range(6):
        floor = _NO_PIVOT * M[c, c]
        for r in range(c, 6):
            entry = M[r, c]
            for k in range(c):
                entry -= M[r, k] * M[c, k]
            M[r, c] = entry
        # A direction that the contacts cannot reach any more: no step along it.
        pivot = np.sqrt(M[c, c]) if M[c, c] > floor else 1e150
        M[c, c] = pivot
        for r in range(c + 1, 6):
            M[r, c] /= pivot


@inlined_loose
def _back_substitute(M: np.ndarray, y: np.ndarray) -> None:
    """Solves with the Cholesky factor, in place."""
    for r in range(6):
        for c in range(r):
            y[r] -= M[r, c] * y[c]
        y[r] /= M[r, r]
    for r in range(5, -1, -1):
        for c in range(r + 1, 6):
            y[r] -= M[c, r] * y[c]
        y[r] /= M[r, r]


@inlined_loose
def _constant_part(work: ConeWork, count: int) -> None:
    """The Newton step with multipliers of the balance left as they are."""
    right, dx, dz = work.cones.right, work.cones.dx, work.cones.dz
    for i in range(count):
        for j in range(3):
            dx[i, j], dz[i, j] = right[i, j], 0.0
        if work.cap[i] < np.inf:
            part = work.share[i, 0] * (right[i, 0] + work.room.right[i, 0])
            for j in range(3):
                dx[i, j] -= work.share[i, 1 + j] * part
            dz[i, 0] = work.room.dz[i, 0] = part
    for j in range(7):
        work.slack.dx[0, j], work.slack.dz[0, j] = work.slack.right[0, j], 0.0


@inlined_loose
def _imbalance(work: ConeWork, count: int) -> float:
    """What the step leaves of the balance, into ``dy``; its largest part."""
    dx, dy = work.cones.dx, work.dy
    for k in range(6):
        dy[k] = work.missing[k] - work.slack.dx[0, 1 + k]
    for i in range(count):
        flat = work.columns[i]
        for k in range(6):
            dy[k] -= flat[0, k] * dx[i, 0] + flat[1, k] * dx[i, 1] + flat[2, k] * dx[i, 2]
    largest = 0.0
    for k in range(6):
        largest = max(largest, abs(dy[k]))
    return largest


@inlined_loose
def _add_multipliers(work: ConeWork, count: int) -> None:
    """Adds to the step what multipliers ``dy`` bring."""
    dx, dz, dy, share = work.cones.dx, work.cones.dz, work.dy, work.share
    for i in range(count):
        flat, rooted, root = work.columns[i], work.rooted[i], work.root[i]
        rate = 0.0
        for j in range(3):
            push, along = 0.0, 0.0
            for k in range(6):
                push += flat[j, k] * dy[k]
                along += rooted[j, k] * dy[k]
            dz[i, j] -= push
            for r in range(3):
                dx[i, r] += root[r, j] * along
            rate += share[i, 1 + j] * push
        if work.cap[i] < np.inf:
            rate *= share[i, 0]
            dz[i, 0] += rate
            work.room.dz[i, 0] += rate
            work.room.dx[i, 0] = -dx[i, 0]
    work.slack_turn[0, 0] = 0.0
    for k in range(6):
        work.slack_turn[0, 1 + k] = dy[k]
        work.slack.dz[0, 1 + k] -= dy[k]
    scaled(work.slack, 0, 7, work.slack_turn, work.slack_turn)
    scaled(work.slack, 0, 7, work.slack_turn, work.slack_turn)
    for j in range(7):
        work.slack.dx[0, j] += work.slack_turn[0, j]


@inlined
def _direction(work: ConeWork, count: int) -> None:
    """Newton step for the right sides.

    A second round takes back the rounding of the first: near the end the normal matrix is ill
    conditioned, the more so the closer together the contacts lie.
    """
    _constant_part(work, count)
    for _ in range(_ROUNDS):
        if _imbalance(work, count) <= _BALANCED:
            break
        _back_substitute(work.normal_matrix, work.dy)
        _add_multipliers(work, count)


@inlined
def _steps(work: ConeWork, count: int) -> tuple[float, float]:
    """Scaled directions into ``a`` and ``b``, and the reciprocal steps to the boundaries."""
    primal, dual = step_bounds(work.slack, 0, 7)
    for i in range(count):
        cone_primal, cone_dual = step_bounds(work.cones, i, 3)
        primal, dual = max(primal, cone_primal), max(dual, cone_dual)
        if work.cap[i] < np.inf:
            work.room.a[i, 0] = work.room.dx[i, 0] / work.room.eta[i]
            work.room.b[i, 0] = work.room.dz[i, 0] * work.room.eta[i]
            primal = max(primal, -work.room.a[i, 0] / work.room.middle[i, 0])
            dual = max(dual, -work.room.b[i, 0] / work.room.middle[i, 0])
    return primal, dual


@inlined
def _measure(work: ConeWork, count: int) -> float:
    """Scaling of all blocks; the gap, or NaN if a block left its cone."""
    gap = measured(work.slack, 0, 7, 0.0)
    for i in range(count):
        gap = measured(work.cones, i, 3, gap)
        if work.cap[i] < np.inf:
            if not (work.room.x[i, 0] > 0.0 and work.room.z[i, 0] > 0.0):
                return np.nan
            work.room.eta[i] = np.sqrt(work.room.x[i, 0] / work.room.z[i, 0])
            work.room.middle[i, 0] = work.room.eta[i] * work.room.z[i, 0]
            gap += work.room.middle[i, 0] ** 2
    return gap


@inlined
def _move(work: ConeWork, count: int, primal: float, dual: float) -> None:
    move_block(work.slack, 0, 7, primal, dual)
    for i in range(count):
        move_block(work.cones, i, 3, primal, dual)
        if work.cap[i] < np.inf:
            move_block(work.room, i, 1, primal, dual)


@inlined
def _aim_at_optimum(work: ConeWork, count: int) -> float:
    """Right sides of the step that ignores the centre; what rounding took from the balance."""
    for j in range(7):
        work.slack.right[0, j] = -work.slack.x[0, j]
    for k in range(6):
        work.missing[k] = work.wanted[k] - work.slack.x[0, 1 + k]
    for i in range(count):
        x0, x1, x2 = work.cones.x[i, 0], work.cones.x[i, 1], work.cones.x[i, 2]
        work.cones.right[i, 0], work.cones.right[i, 1], work.cones.right[i, 2] = -x0, -x1, -x2
        work.room.right[i, 0] = -work.room.x[i, 0]
        flat = work.columns[i]
        for k in range(6):
            work.missing[k] -= flat[0, k] * x0 + flat[1, k] * x1 + flat[2, k] * x2
    largest = 0.0
    for k in range(6):
        largest = max(largest, abs(work.missing[k]))
    return largest


@inlined
def _aim_at_center(work: ConeWork, count: int, target: float) -> None:
    """Right sides of the step that keeps to the middle and mends the first one's curvature."""
    corrector(work.slack, 0, 7, target)
    for i in range(count):
        corrector(work.cones, i, 3, target)
        if work.cap[i] < np.inf:
            here = work.room.middle[i, 0]
            mended = (target - work.room.a[i, 0] * work.room.b[i, 0]) / here - here
            work.room.right[i, 0] = work.room.eta[i] * mended


@inlined
def descend(work: ConeWork, count: int, penalty: float, max_iterations: int) -> tuple[bool, int]:
    """Iterates until the gap is closed; True if it is."""
    blocks = 1.0 + count
    for i in range(count):
        if work.cap[i] < np.inf:
            blocks += 1.0
    lowest = 1.0
    for i in range(count):
        lowest = min(lowest, work.price[i])
    gap = _measure(work, count)
    for iteration in range(max_iterations):
        price = penalty * work.slack.x[0, 0]
        for i in range(count):
            price += work.price[i] * work.cones.x[i, 0]
        if gap <= _ABSOLUTE_GAP * lowest + _RELATIVE_GAP * price:
            return True, iteration
        # Written so that NaN ends here.
        if not gap < np.inf:
            return False, iteration
        # Contacts that all but coincide: what more steps gain they lose to rounding.
        if _aim_at_optimum(work, count) > _DRIFT and gap <= _LOOSE_GAP * price:
            return True, iteration
        _normal_matrix(work, count)
        _factorise(work.normal_matrix)
        primal = dual = shorter = 0.0
        # Predictor, then corrector; a loop, for the compiler copies what is in it.
        for turn in range(2):
            if turn == 1:
                shorter = min(1.0, 1.0 / max(primal, dual))
                _aim_at_center(work, count, (1.0 - shorter) ** 3 * gap / blocks)
            _direction(work, count)
            primal, dual = _steps(work, count)
        # Near the boundary only where the way was free: else the next steps become short.
        close = max(0.9, 0.89 + 0.1 * shorter)
        primal, dual = min(1.0, close / primal), min(1.0, close / dual)
        if not max(primal, dual) > _LEAST_STEP:
            return False, iteration
        _move(work, count, primal, dual)
        gap = _measure(work, count)
        if not gap < np.inf:
            _move(work, count, -primal, -dual)
            return False, iteration
    return False, max_iterations
