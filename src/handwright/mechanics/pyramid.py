"""Least contact forces inside friction pyramids, by a dense two-phase simplex method.

Edges of the pyramids lie on the cones: what is feasible here is feasible with exact cones, and a
few problems that are feasible with cones are not here. Several times quicker than ``cones``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from handwright.kernels.decorators import inlined, linked
from handwright.mechanics.cone_newton import LEAST_WEIGHT
from handwright.mechanics.cones import TOLERANCE, ContactForces, contact_forces
from handwright.mechanics.wrench import (
    ForceContacts,
    ForceProgram,
    ForceStatus,
    check_edges,
    clear_forces,
    edge_force,
    force_program,
    has_one_edge,
    residual_size,
    set_column,
)

MAX_PIVOTS = 1000
_ZERO = 1e-10
_LEAST_PIVOT = 1e-9
_PATIENCE = 12

_FEASIBLE = int(ForceStatus.FEASIBLE)
_INFEASIBLE = int(ForceStatus.INFEASIBLE)
_STALLED = int(ForceStatus.STALLED)
_INVALID = int(ForceStatus.INVALID)


class PyramidWork(NamedTuple):
    """Memory of ``solve_pyramids`` for up to so many contacts N."""

    force: Float[np.ndarray, "N 3"]
    """Result: forces on the body, N, world axes."""
    residual: Float[np.ndarray, "6"]
    """Result: wrench wanted minus wrench of the forces, N and N m."""
    cosine: np.ndarray
    sine: np.ndarray
    columns: np.ndarray
    owner: np.ndarray
    tableau: np.ndarray
    basis: np.ndarray


def make_pyramid_work(capacity: int, num_edges: int) -> PyramidWork:
    """Memory for up to ``capacity`` contacts with pyramids of ``num_edges`` edges."""
    check_edges(num_edges)
    angle = 2.0 * np.pi * np.arange(num_edges) / num_edges
    edges = capacity * num_edges
    return PyramidWork(
        force=np.zeros((capacity, 3)),
        residual=np.zeros(6),
        cosine=np.cos(angle),
        sine=np.sin(angle),
        columns=np.zeros((edges, 6)),
        owner=np.zeros(edges, dtype=np.int64),
        # Rows: balance, caps, two rows of reduced costs. Columns: edges, room under the caps,
        # residual of either sign, right side.
        tableau=np.zeros((6 + capacity + 2, edges + capacity + 13)),
        basis=np.zeros(6 + capacity, dtype=np.int64),
    )


@inlined
def _set_up(work: PyramidWork, program: ForceProgram) -> tuple[bool, int, int, int]:
    """Fills the tableau; whether all is finite, and numbers of edges, rows and columns."""
    contacts, count, wrench = program.contacts, program.count, program.wrench
    force_scale, length_scale = program.force_scale, program.length_scale
    T, edges, caps, total, highest = work.tableau, 0, 0, 0.0, 0.0
    for i in range(count):
        highest = max(highest, contacts.weight[i])
        total += contacts.weight[i] + (0.0 if contacts.cap[i] >= 0.0 else np.nan)
        caps += contacts.cap[i] < np.inf
        for k in range(1 if has_one_edge(contacts, i) else work.cosine.shape[0]):
            force = edge_force(contacts, i, work.cosine[k], work.sine[k])
            set_column(work.columns, edges, contacts.arm, i, force, length_scale)
            work.owner[edges] = i
            edges += 1
    rows, width = 6 + caps, edges + caps + 13
    right, extra = width - 1, edges + caps
    for r in range(rows + 2):
        for c in range(edges, width):
            T[r, c] = 0.0
    for k in range(6):
        value = wrench[k] / (force_scale if k < 3 else force_scale * length_scale)
        total += abs(value)
        sign = -1.0 if value < 0.0 else 1.0
        for c in range(edges):
            T[k, c] = sign * work.columns[c, k]
            total += abs(work.columns[c, k])
        T[k, extra + k], T[k, extra + 6 + k] = sign, -sign
        T[k, right] = sign * value
        work.basis[k] = extra + k if sign > 0.0 else extra + 6 + k
    row = 6
    for i in range(count):
        if contacts.cap[i] < np.inf:
            for c in range(edges):
                T[row, c] = 1.0 if work.owner[c] == i else 0.0
            T[row, edges + row - 6] = 1.0
            T[row, right] = contacts.cap[i] / force_scale
            work.basis[row] = edges + row - 6
            row += 1
    for c in range(edges):
        price = contacts.weight[work.owner[c]] / highest
        T[rows + 1, c] = max(price, LEAST_WEIGHT)
    for c in range(width):
        reduced = 1.0 if extra <= c < right else 0.0
        for k in range(6):
            reduced -= T[k, c]
        T[rows, c] = reduced
    return total < np.inf, edges, rows, width


@inlined
def _entering(T: np.ndarray, rows: int, right: int, phase: int, is_cautious: bool) -> int:
    """Column of the steepest gain, or with caution the first of any gain; -1 for none."""
    best, found = -_ZERO, -1
    for c in range(right):
        # In the second phase what would bring back residual stays out.
        if phase == 1 and T[rows, c] > _ZERO:
            continue
        if T[rows + phase, c] < best:
            found = c
            if is_cautious:
                break
            best = T[rows + phase, c]
    return found


@inlined
def _leaving(
    T: np.ndarray, basis: np.ndarray, rows: int, right: int, column: int, is_cautious: bool
) -> int:
    """Row that limits the step; of several the largest pivot, or with caution the first name."""
    least, found = np.inf, -1
    for r in range(rows):
        if T[r, column] > _LEAST_PIVOT:
            least = min(least, T[r, right] / T[r, column])
    for r in range(rows):
        pivot = T[r, column]
        if pivot > _LEAST_PIVOT and T[r, right] / pivot <= least + 1e-12:
            if found < 0:
                found = r
            elif is_cautious:
                found = r if basis[r] < basis[found] else found
            elif pivot > T[found, column]:
                found = r
    return found


@inlined
def _pivot(T: np.ndarray, rows: int, width: int, row: int, column: int) -> None:
    factor = 1.0 / T[row, column]
    for c in range(width):
        T[row, c] *= factor
    for r in range(rows + 2):
        factor = T[r, column]
        if r != row and factor != 0.0:
            for c in range(width):
                T[r, c] -= factor * T[row, c]
    for r in range(rows):
        # Rounding may leave a right side a hair below zero.
        T[r, width - 1] = max(T[r, width - 1], 0.0)


@inlined
def _optimise(work: PyramidWork, rows: int, width: int, max_pivots: int) -> tuple[bool, int]:
    """Least residual first, then least force without raising it; True if proven."""
    T, pivots = work.tableau, 0
    for phase in range(2):
        idle = 0
        while True:
            column = _entering(T, rows, width - 1, phase, idle > _PATIENCE)
            if column < 0:
                break
            row = _leaving(T, work.basis, rows, width - 1, column, idle > _PATIENCE)
            if row < 0 or pivots >= max_pivots:
                return False, pivots
            idle = idle + 1 if T[row, width - 1] <= _ZERO else 0
            _pivot(T, rows, width, row, column)
            work.basis[row] = column
            pivots += 1
    return True, pivots


@inlined
def _report(
    work: PyramidWork, program: ForceProgram, edges: int, rows: int, width: int
) -> tuple[float, float]:
    """Forces in newtons; objective and residual (scaled), counted afresh from them."""
    objective = 0.0
    clear_forces(program, work.force, work.residual)
    for r in range(rows):
        column = work.basis[r]
        if column < edges:
            level, i = work.tableau[r, width - 1] * program.force_scale, work.owner[column]
            objective += program.contacts.weight[i] * level
            for k in range(3):
                work.force[i, k] += level * work.columns[column, k]
                work.residual[k] -= level * work.columns[column, k]
                work.residual[3 + k] -= level * work.columns[column, 3 + k] * program.length_scale
    return objective, residual_size(program, work.residual)


@linked
def solve_pyramids(
    work: PyramidWork, program: ForceProgram, max_pivots: int
) -> tuple[int, float, int]:
    """``least_pyramid_forces`` in compiled code, without allocation; see ``solve_cones``."""
    is_finite, edges, rows, width = _set_up(work, program)
    if not is_finite:
        clear_forces(program, work.force, work.residual)
        return _INVALID, np.nan, 0
    is_proven, pivots = _optimise(work, rows, width, max_pivots)
    objective, size = _report(work, program, edges, rows, width)
    if size <= program.tolerance:
        return _FEASIBLE, objective, pivots
    return (_INFEASIBLE if is_proven else _STALLED), objective, pivots


def least_pyramid_forces(
    contacts: ForceContacts,
    wrench: ArrayLike,
    *,
    num_edges: int = 8,
    force_scale: float | None = None,
    length_scale: float | None = None,
    tolerance: float = TOLERANCE,
) -> ContactForces:
    """The forces of least weighted normal parts, inside friction pyramids, that give a wrench.

    Where there are none: of the forces with the least sum of absolute residuals (scaled), those
    of least normal parts.

    Args:
        contacts: See ``force_contacts``.
        wrench: Force (N), then moment about the centre of mass (N m), in world axes.
        num_edges: Of the pyramid of a contact that does not slide.
        force_scale: As in ``least_forces``, as are the other two.
        length_scale: m.
        tolerance: In units of the scales.
    """
    program = force_program(contacts, wrench, force_scale, length_scale, tolerance)
    work = make_pyramid_work(program.count, num_edges)
    return contact_forces(work.force, work.residual, *solve_pyramids(work, program, MAX_PIVOTS))
