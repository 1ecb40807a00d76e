"""The smallest contact forces that move bodies as shown, inside exact friction cones.

Minimise  1/2 sum |f_i|^2 + W sum |s_b|  subject to, for each body b,  sum f_i + s_bf = F_b,
sum r_i x f_i + s_bm = M_b,  f_i in the Coulomb cone of its contact, or on its edge against the slip
of a sliding one, or between that edge and the normal in an impact that slides; at a contact between
two bodies the one gets f_i and the other -f_i. Forces are in units of the weight, moments in units
of weight x radius of gyration. ``s`` is what no force can give: the penalty is exact, so that ``s``
is zero wherever forces of up to about sqrt(W) = 300 weights will do. Limits of the hand may be
added: torques of its joints, forces of its digits.
"""

from __future__ import annotations

from typing import NamedTuple

import clarabel
import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from handwright.errors import HandwrightError

_PENALTY = 1e5
SLIDES, YIELDS, STICKS = 1, 2, 3
"""How a contact holds, and how many unknowns its force has: on the edge of its cone against the
slip; between that edge and the normal; anywhere in the cone."""
_AFTER, _BEFORE = np.array([1, 2, 0]), np.array([2, 0, 1])


class SolverError(HandwrightError, RuntimeError):
    """The cone solver gave up on a problem that always has a solution."""


class ContactSet(NamedTuple):
    """The contacts of one frame that may push on bodies."""

    point: Float[np.ndarray, "N 3"]
    """m, in the world."""
    normal: Float[np.ndarray, "N 3"]
    """Unit length, into the body."""
    friction: Float[np.ndarray, " N"]
    hold: Int[np.ndarray, " N"]
    """``SLIDES``, ``YIELDS`` or ``STICKS``."""
    slip: Float[np.ndarray, "N 3"]
    """Direction in which the toucher slides over the body, for those that do not stick; of unit
    length, or shorter for those that have less friction."""
    body: Int[np.ndarray, " N"]
    """Which of the bodies is pushed."""
    other: Int[np.ndarray, " N"]
    """Which of the bodies pushes, and is pushed back; -1 for hands and surroundings."""


class Loads(NamedTuple):
    """What the contacts must give to each body."""

    force: Float[np.ndarray, "B 3"]
    """N."""
    moment: Float[np.ndarray, "B 3"]
    """About the centre of mass, N m."""
    center: Float[np.ndarray, "B 3"]
    """Centre of mass, m."""
    weight: Float[np.ndarray, " B"]
    """Unit of force, N."""
    gyration: Float[np.ndarray, " B"]
    """Unit of length, m."""


class HandLimits(NamedTuple):
    """What a hand can give."""

    torque: Float[np.ndarray, "M N 3"]
    """Joint torques by contact forces, one way each; sum over contacts of torque . force."""
    most_torque: Float[np.ndarray, " M"]
    """N m, above 0."""
    digit: Int[np.ndarray, " N"]
    """Number of the digit that a contact belongs to; -1 for none."""
    most_force: float
    """Largest sum of the sizes of the forces of one digit, N."""


class Forces(NamedTuple):
    """Forces of one frame, and what they leave unexplained."""

    force: Float[np.ndarray, "N 3"]
    """On the body, N."""
    force_residual: Float[np.ndarray, " B"]
    """Length of the missing force over the weight."""
    moment_residual: Float[np.ndarray, " B"]
    """Length of the missing moment over weight x radius of gyration."""


def tangents(
    normal: Float[np.ndarray, "N 3"],
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Two unit directions across each normal and each other."""
    helper = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = _cross(helper, normal)
    first /= np.sqrt(np.einsum("ni,ni->n", first, first))[:, None]
    return first, _cross(normal, first)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of rows; NumPy's own takes longer than solving for the forces of a frame."""
    return a[:, _AFTER] * b[:, _BEFORE] - a[:, _BEFORE] * b[:, _AFTER]


class _ConeProgram(NamedTuple):
    """Minimise x' P x / 2 + w' x, where b - A x lies in a product of cones."""

    quadratic: sparse.csc_matrix
    """P."""
    weights: np.ndarray
    """w."""
    rows: sparse.csc_matrix
    """A."""
    bounds: np.ndarray
    """b."""
    cones: list[object]


class ForceSolver:
    """Finds forces frame after frame; keeps what problems of the same size share."""

    def __init__(self) -> None:
        self._patterns: dict[tuple[int, int], tuple[sparse.csc_matrix, sparse.csc_matrix]] = {}
        self._cones: dict[bytes, list[object]] = {}
        self._settings = clarabel.DefaultSettings()
        self._settings.verbose = False

    def solve(self, contacts: ContactSet, loads: Loads, limits: HandLimits | None = None) -> Forces:
        """Forces of one frame.

        Args:
            contacts: Where the bodies may be pushed.
            loads: What all contacts together must give.
            limits: What the hands can give at most; no limits if None.
        """
        count, num_bodies = len(contacts.point), len(loads.weight)
        wanted = np.concatenate(
            [
                loads.force / loads.weight[:, None],
                loads.moment / (loads.weight * loads.gyration)[:, None],
            ],
            axis=1,
        ).ravel()
        if count == 0:
            return Forces(np.zeros((0, 3)), *_lengths(wanted))
        unit = float(loads.weight.max())
        basis, owner, width = _cone_basis(contacts)
        grasp = _grasp(contacts, loads, basis, owner, unit)
        squares = np.einsum("ui,ui->u", basis, basis)
        is_normal = np.ones(len(owner), dtype=bool)
        is_normal[1:] = owner[1:] != owner[:-1]
        scale = np.where(is_normal & (width[owner] == STICKS), -contacts.friction[owner], -1.0)
        key = width.tobytes()
        if key not in self._cones:
            self._cones[key] = [
                clarabel.SecondOrderConeT(3) if size == STICKS else clarabel.NonnegativeConeT(size)
                for size in width.tolist()
            ]
        quadratic, linear_rows = self._matrices(grasp, scale, squares)
        b = np.concatenate([wanted, np.zeros(len(owner) + 7 * num_bodies)])
        cones = [
            clarabel.ZeroConeT(6 * num_bodies),
            *self._cones[key],
            *[clarabel.SecondOrderConeT(7)] * num_bodies,
        ]
        weights = np.zeros(linear_rows.shape[1])
        weights[-num_bodies:] = _PENALTY
        program = _ConeProgram(quadratic, weights, linear_rows, b, cones)
        if limits is not None:
            program = _limited(program, limits, basis * unit, owner, squares, unit)
        coefficients = self._run(program)[: len(owner)]
        found = np.zeros((count, 3))
        np.add.at(found, owner, coefficients[:, None] * basis)
        return Forces(found * unit, *_lengths(wanted - grasp @ coefficients))

    def _matrices(
        self, grasp: np.ndarray, scale: np.ndarray, squares: np.ndarray
    ) -> tuple[sparse.csc_matrix, sparse.csc_matrix]:
        """Squares of the objective and rows of the constraints, in matrices made once for a size.

        Columns are the coefficients, the missing parts, and the lengths of these; rows the
        balances, the cones of the contacts and those of the missing parts.
        """
        unknowns, num_bodies = grasp.shape[1], grasp.shape[0] // 6
        key = (unknowns, num_bodies)
        if key not in self._patterns:
            self._patterns[key] = _patterns(unknowns, num_bodies)
        quadratic, rows = self._patterns[key]
        quadratic.data[:unknowns] = squares
        entries = rows.data[: unknowns * (len(grasp) + 1)].reshape(unknowns, len(grasp) + 1)
        entries[:, :-1], entries[:, -1] = grasp.T, scale
        return quadratic, rows

    def _run(self, program: _ConeProgram) -> np.ndarray:
        solver = clarabel.DefaultSolver(*program, self._settings)
        solution = solver.solve()
        values = np.asarray(solution.x)
        if not np.isfinite(values).all():
            raise SolverError(
                f"Clarabel ended with {solution.status} on a problem of "
                f"{program.rows.shape[1]} unknowns; expected a solution. Check the "
                "clip for extreme forces or contacts in one point."
            )
        return values


def _lengths(rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    parts = np.linalg.norm(rest.reshape(-1, 2, 3), axis=2)
    return parts[:, 0], parts[:, 1]


def _cone_basis(contacts: ContactSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Directions of the unknowns (rows), the contact of each, and how many a contact has."""
    first, second = tangents(contacts.normal)
    mu = contacts.friction[:, None]
    ray = contacts.normal + mu * contacts.slip
    width = np.where(contacts.friction <= 0.0, SLIDES, contacts.hold)
    every = np.stack([contacts.normal, first, second], axis=1)
    every[contacts.hold == SLIDES, 0] = ray[contacts.hold == SLIDES]
    every[contacts.hold == YIELDS, 1] = ray[contacts.hold == YIELDS]
    return every[np.arange(3) < width[:, None]], np.repeat(np.arange(len(width)), width), width


def _grasp(
    contacts: ContactSet, loads: Loads, basis: np.ndarray, owner: np.ndarray, unit: float
) -> np.ndarray:
    """(6 B, unknowns) what each unknown gives to each body, in the units of the bodies."""
    grasp = np.zeros((len(loads.weight), 6, len(owner)))
    for sign, bodies in ((1.0, contacts.body[owner]), (-1.0, contacts.other[owner])):
        column = np.flatnonzero(bodies >= 0)
        if column.size == 0:
            continue
        body = bodies[column]
        arm = (contacts.point[owner[column]] - loads.center[body]) / loads.gyration[body, None]
        force = (sign * unit / loads.weight[body])[:, None] * basis[column]
        grasp[body, :3, column] = force
        grasp[body, 3:, column] = _cross(arm, force)
    return grasp.reshape(-1, len(owner))


def _patterns(unknowns: int, num_bodies: int) -> tuple[sparse.csc_matrix, sparse.csc_matrix]:
    parts = 6 * num_bodies
    index, part = np.arange(unknowns), np.arange(parts)
    total = unknowns + parts + num_bodies
    body = part // 6
    below = parts + unknowns
    indices = np.concatenate(
        [
            np.column_stack([np.tile(part, (unknowns, 1)), parts + index]).ravel(),
            np.column_stack([part, below + 7 * body + 1 + part % 6]).ravel(),
            below + 7 * np.arange(num_bodies),
        ]
    )
    data = np.concatenate(
        [np.zeros(unknowns * (parts + 1)), np.tile([1.0, -1.0], parts), -np.ones(num_bodies)]
    )
    starts = np.cumsum([0, *[parts + 1] * unknowns, *[2] * parts, *[1] * num_bodies])
    rows = sparse.csc_matrix((data, indices, starts), shape=(below + 7 * num_bodies, total))
    squares = np.concatenate([np.ones(unknowns), np.zeros(total - unknowns)])
    return sparse.csc_matrix((squares, np.arange(total), np.arange(total + 1))), rows


def _limited(
    program: _ConeProgram,
    limits: HandLimits,
    basis: np.ndarray,
    owner: np.ndarray,
    squares: np.ndarray,
    unit: float,
) -> _ConeProgram:
    """The program with rows for limits, and a column for the size of each force of a digit."""
    quadratic, weights, rows, b, cones = program
    torque = np.einsum("muk,uk->mu", limits.torque[:, owner], basis) / limits.most_torque[:, None]
    fingers = np.flatnonzero(limits.digit >= 0)
    digits, which = np.unique(limits.digit[fingers], return_inverse=True)
    sums = np.zeros((len(digits), len(fingers)))
    sums[which, np.arange(len(fingers))] = unit / limits.most_force
    sizes = []
    more: list[object] = [clarabel.NonnegativeConeT(len(torque) + len(digits))]
    for place, contact in enumerate(fingers):
        mine = np.flatnonzero(owner == contact)
        block = np.zeros((1 + len(mine), rows.shape[1] + len(fingers)))
        block[0, rows.shape[1] + place] = -1.0
        block[1 + np.arange(len(mine)), mine] = -np.sqrt(squares[mine])
        sizes.append(block)
        more.append(clarabel.SecondOrderConeT(1 + len(mine)))
    unknowns = len(owner)
    wide = np.zeros((len(torque) + len(digits), rows.shape[1] + len(fingers)))
    wide[: len(torque), :unknowns] = torque
    wide[len(torque) :, rows.shape[1] :] = sums
    padded = sparse.hstack([rows, sparse.csc_matrix((rows.shape[0], len(fingers)))])
    stacked = sparse.csc_matrix(sparse.vstack([padded, wide, *sizes]))
    bounds = np.concatenate([b, np.ones(len(wide)), np.zeros(sum(len(block) for block in sizes))])
    squared = sparse.block_diag(
        [quadratic, sparse.csc_matrix((len(fingers), len(fingers)))], format="csc"
    )
    return _ConeProgram(
        squared,
        np.concatenate([weights, np.zeros(len(fingers))]),
        stacked,
        bounds,
        [*cones, *more],
    )
