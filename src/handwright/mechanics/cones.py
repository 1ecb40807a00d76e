"""Least contact forces inside exact friction cones, by a primal-dual interior-point method.

The program is equations (1)-(6) of docs/derivations/contact-forces.md. A residual with an exact
penalty makes it solvable whatever the contacts and the wrench, so that forces always come back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from handwright.core.frozen import freeze_arrays
from handwright.errors import InvalidValueError
from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kernels.packed import Packed
from handwright.mechanics.cone_newton import descend, set_up, start
from handwright.mechanics.cone_work import ConeWork, make_cone_work
from handwright.mechanics.wrench import (
    ForceContacts,
    ForceProgram,
    ForceStatus,
    check_positive,
    clear_forces,
    force_program,
    has_one_edge,
    no_contacts,
    residual_size,
    tangents,
)

PENALTY = 1e4
"""Price of residual against that of normal force. 1e2 rejects a few problems wrongly."""
TOLERANCE = 1e-6
"""Largest residual of a feasible problem, in units of the force and length scales."""
MAX_ITERATIONS = 60

_FEASIBLE = int(ForceStatus.FEASIBLE)
_INFEASIBLE = int(ForceStatus.INFEASIBLE)
_STALLED = int(ForceStatus.STALLED)
_INVALID = int(ForceStatus.INVALID)


@inlined
def _report(work: ConeWork, program: ForceProgram) -> tuple[float, float]:
    """Forces in newtons; objective, and residual in scaled units counted afresh from them."""
    contacts, force_scale, residual = program.contacts, program.force_scale, work.residual
    x, objective = work.cones.x, 0.0
    clear_forces(program, work.force, residual)
    for i in range(program.count):
        n, d, mu, arm = contacts.normal, contacts.drag, contacts.friction[i], contacts.arm
        level = x[i, 0] * force_scale if contacts.cap[i] > 0.0 else 0.0
        side = 0.0 if has_one_edge(contacts, i) or contacts.cap[i] == 0.0 else mu
        first, second = side * x[i, 1] * force_scale, side * x[i, 2] * force_scale
        ax, ay, az, bx, by, bz = tangents(n, i)
        fx = level * (n[i, 0] + mu * d[i, 0]) + first * ax + second * bx
        fy = level * (n[i, 1] + mu * d[i, 1]) + first * ay + second * by
        fz = level * (n[i, 2] + mu * d[i, 2]) + first * az + second * bz
        work.force[i, 0], work.force[i, 1], work.force[i, 2] = fx, fy, fz
        residual[0] -= fx
        residual[1] -= fy
        residual[2] -= fz
        residual[3] -= arm[i, 1] * fz - arm[i, 2] * fy
        residual[4] -= arm[i, 2] * fx - arm[i, 0] * fz
        residual[5] -= arm[i, 0] * fy - arm[i, 1] * fx
        objective += contacts.weight[i] * level
    return objective, residual_size(program, residual)


@linked
def solve_cones(
    work: ConeWork, program: ForceProgram, penalty: float, max_iterations: int
) -> tuple[int, float, int]:
    """Least contact forces for a wrench; ``least_forces`` in compiled code, without allocation.

    Args:
        work: Memory; ``force`` and ``residual`` hold the result.
        program: Contacts and wrench.
        penalty: Price of residual in units of the program's scales.
        max_iterations: Usually 10 to 20 are taken.

    Returns:
        A value of ``ForceStatus``, the objective (N), and the number of iterations.
    """
    count = program.count
    if not set_up(work, program):
        clear_forces(program, work.force, work.residual)
        return _INVALID, np.nan, 0
    start(work, count, penalty)
    is_closed, iterations = descend(work, count, penalty, max_iterations)
    objective, size = _report(work, program)
    # Counted from the forces that go out: NaN is never feasible, a stall with a sound answer is.
    if size <= program.tolerance:
        return _FEASIBLE, objective, iterations
    # What rounding alone left is no proof.
    is_proven = is_closed and work.slack.x[0, 0] > 0.5 * program.tolerance
    return (_INFEASIBLE if is_proven else _STALLED), objective, iterations


@kernel
def _solve_usual(work: ConeWork, program: ForceProgram, penalty: float) -> tuple[int, float, int]:
    """``solve_cones`` as other compiled code calls it, so that it is compiled once for all."""
    return solve_cones(work, program, penalty, MAX_ITERATIONS)


@dataclass(frozen=True, slots=True, eq=False)
class ContactForces:
    """Forces at contacts, and how well they give the wrench."""

    forces: Float[np.ndarray, "N 3"]
    """On the body, N, world axes."""
    residual: Float[np.ndarray, "6"]
    """Wrench wanted minus wrench of the forces, N and N m."""
    is_feasible: bool
    """Whether the residual is within the tolerance."""
    objective: float
    """Weighted sum of normal forces, N."""
    iterations: int
    status: ForceStatus

    def __post_init__(self) -> None:
        freeze_arrays(self)


def contact_forces(
    forces: np.ndarray, residual: np.ndarray, status: int, objective: float, iterations: int
) -> ContactForces:
    """What a solver found, for callers in Python."""
    is_feasible = status == _FEASIBLE
    return ContactForces(forces, residual, is_feasible, objective, iterations, ForceStatus(status))


def least_forces(
    contacts: ForceContacts,
    wrench: ArrayLike,
    *,
    force_scale: float | None = None,
    length_scale: float | None = None,
    tolerance: float = TOLERANCE,
    penalty: float = PENALTY,
) -> ContactForces:
    """The forces of least weighted normal parts, inside the cones, that give a wrench.

    Where there are none, the forces that come nearest.

    Args:
        contacts: See ``force_contacts``.
        wrench: Force (N), then moment about the centre of mass (N m), in world axes.
        force_scale: Unit of force, N; best the weight of the body. Else from the wrench.
        length_scale: Unit of length, m; best the body's radius of gyration. Else the distance of
            the contacts from the centre of mass.
        tolerance: Residual of a feasible problem, at most, in these units.
        penalty: Price of residual in these units. Forces beyond so many units are not looked for.
    """
    solver = LeastForces(len(contacts.arm), tolerance=tolerance, penalty=penalty)
    return solver.solve(contacts, wrench, force_scale=force_scale, length_scale=length_scale)


class LeastForces:
    """``least_forces`` for many frames, with memory that is made once."""

    def __init__(
        self, capacity: int, *, tolerance: float = TOLERANCE, penalty: float = PENALTY
    ) -> None:
        """Makes room.

        Args:
            capacity: Most contacts of a frame.
            tolerance: As in ``least_forces``.
            penalty: As in ``least_forces``.
        """
        check_positive(tolerance=tolerance, penalty=penalty)
        self._tolerance, self._penalty = tolerance, penalty
        self._work, self._contacts = make_cone_work(capacity), no_contacts(capacity)
        self._packed = Packed(self._work), Packed(self._contacts)

    @property
    def capacity(self) -> int:
        """Most contacts of a frame."""
        return len(self._contacts.arm)

    def solve(
        self,
        contacts: ForceContacts,
        wrench: ArrayLike,
        *,
        force_scale: float | None = None,
        length_scale: float | None = None,
    ) -> ContactForces:
        """As ``least_forces``, for no more contacts than there is room for."""
        program = force_program(contacts, wrench, force_scale, length_scale, self._tolerance)
        count, work = program.count, self._work
        if count > self.capacity:
            raise InvalidValueError(
                f"There are {count} contacts; there is room for {self.capacity}."
            )
        for own, given in zip(self._contacts, contacts, strict=True):
            own[:count] = given
        program = program._replace(contacts=self._packed[1])
        found = _solve_usual(self._packed[0], program, self._penalty)
        return contact_forces(work.force[:count].copy(), work.residual.copy(), *found)
