"""The smallest contact forces that move a body as shown, inside exact friction cones.

Minimise  1/2 sum |f_i|^2 + W |s|  subject to  sum f_i + s_f = F,  sum r_i x f_i + s_m = M,
f_i in the Coulomb cone of its contact, or on its edge against the slip of a sliding one. Forces
are in units of the weight, moments in units of weight x radius of gyration. ``s`` is what no force
can give: the penalty is exact, so that ``s`` is zero wherever forces of up to about sqrt(W) = 300
weights will do.
"""

from __future__ import annotations

from typing import NamedTuple

import clarabel
import numpy as np
from jaxtyping import Bool, Float
from scipy import sparse

from handwright.errors import HandwrightError

_PENALTY = 1e5


class SolverError(HandwrightError, RuntimeError):
    """The cone solver gave up on a problem that always has a solution."""


class ContactSet(NamedTuple):
    """The contacts of one frame that may push on a body."""

    point: Float[np.ndarray, "N 3"]
    """m, in the world."""
    normal: Float[np.ndarray, "N 3"]
    """Unit length, into the body."""
    friction: Float[np.ndarray, " N"]
    is_sliding: Bool[np.ndarray, " N"]
    slip: Float[np.ndarray, "N 3"]
    """Unit direction in which the toucher slides over the body; used where ``is_sliding``."""


class Forces(NamedTuple):
    """Forces of one frame, and what they leave unexplained."""

    force: Float[np.ndarray, "N 3"]
    """On the body, N."""
    force_residual: float
    """Length of the missing force over the weight."""
    moment_residual: float
    """Length of the missing moment over weight x radius of gyration."""


def tangents(
    normal: Float[np.ndarray, "N 3"],
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3"]]:
    """Two unit directions across each normal and each other."""
    helper = np.eye(3)[np.abs(normal).argmin(axis=1)]
    first = np.cross(helper, normal)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normal, first)


def solve_forces(
    contacts: ContactSet,
    force: Float[np.ndarray, "3"],
    moment: Float[np.ndarray, "3"],
    center: Float[np.ndarray, "3"],
    *,
    weight: float,
    gyration: float,
) -> Forces:
    """Forces of one frame.

    Args:
        contacts: Where the body may be pushed.
        force: That all contacts together must give, N.
        moment: The same about ``center``, N m.
        center: Centre of mass, m.
        weight: Unit of force, N.
        gyration: Unit of length, m.
    """
    wanted = np.concatenate([force / weight, moment / (weight * gyration)])
    count = len(contacts.point)
    if count == 0:
        return Forces(np.zeros((0, 3)), *_lengths(wanted))
    basis, cones, size = _cone_basis(contacts)
    arms = (contacts.point - center) / gyration
    owner = np.concatenate([np.full(width, i) for i, width in enumerate(size)])
    grasp = np.concatenate([basis, np.cross(arms[owner], basis)], axis=1).T
    solution = _solve(grasp, wanted, contacts, cones, size)
    coefficients = np.asarray(solution[: grasp.shape[1]])
    found = np.zeros((count, 3))
    np.add.at(found, owner, coefficients[:, None] * basis)
    rest = wanted - grasp @ coefficients
    return Forces(found * weight, *_lengths(rest))


def _lengths(rest: Float[np.ndarray, "6"]) -> tuple[float, float]:
    return float(np.linalg.norm(rest[:3])), float(np.linalg.norm(rest[3:]))


def _cone_basis(contacts: ContactSet) -> tuple[np.ndarray, list[object], list[int]]:
    """Directions of the unknowns (rows), the cone of each contact and its number of unknowns."""
    first, second = tangents(contacts.normal)
    rows: list[np.ndarray] = []
    cones: list[object] = []
    size = []
    for i in range(len(contacts.point)):
        mu = contacts.friction[i]
        if contacts.is_sliding[i]:
            rows.append(contacts.normal[i] + mu * contacts.slip[i])
            cones.append(clarabel.NonnegativeConeT(1))
            size.append(1)
        elif mu <= 0.0:
            rows.append(contacts.normal[i])
            cones.append(clarabel.NonnegativeConeT(1))
            size.append(1)
        else:
            rows += [contacts.normal[i], first[i], second[i]]
            cones.append(clarabel.SecondOrderConeT(3))
            size.append(3)
    return np.array(rows), cones, size


def _solve(
    grasp: np.ndarray,
    wanted: np.ndarray,
    contacts: ContactSet,
    cones: list[object],
    size: list[int],
) -> np.ndarray:
    unknowns = grasp.shape[1]
    # Columns: coefficients, the six missing parts, and the length of these.
    total = unknowns + 7
    squares = np.concatenate([np.ones(unknowns), np.zeros(7)])
    scale = -np.ones(unknowns)
    at = 0
    for i, width in enumerate(size):
        if width == 3:
            scale[at] = -contacts.friction[i]
        elif contacts.is_sliding[i]:
            squares[at] = 1.0 + contacts.friction[i] ** 2
        at += width
    b = np.concatenate([wanted, np.zeros(unknowns + 7)])
    linear = np.zeros(total)
    linear[-1] = _PENALTY
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((squares, np.arange(total), np.arange(total + 1))),
        linear,
        _constraints(grasp, scale),
        b,
        [clarabel.ZeroConeT(6), *cones, clarabel.SecondOrderConeT(7)],
        settings,
    )
    solution = solver.solve()
    values = np.asarray(solution.x)
    if not np.isfinite(values).all():
        raise SolverError(
            f"Clarabel ended with {solution.status} on {len(size)} contacts; expected a solution. "
            "Check the clip for extreme forces or contacts in one point."
        )
    return values


def _constraints(grasp: np.ndarray, scale: np.ndarray) -> sparse.csc_matrix:
    """Six balances, then the cones of the contacts, then that of the missing part.

    Written column by column: building the matrix any other way takes longer than solving.
    """
    unknowns = grasp.shape[1]
    index = np.arange(unknowns)
    entries = np.concatenate([grasp, scale[None]]).T
    rows = np.concatenate([np.tile(np.arange(6), (unknowns, 1)), 6 + index[:, None]], axis=1)
    six = np.arange(6)
    data = np.concatenate([entries.ravel(), np.tile([1.0, -1.0], 6), [-1.0]])
    indices = np.concatenate(
        [rows.ravel(), np.stack([six, 7 + unknowns + six], axis=1).ravel(), [6 + unknowns]]
    )
    starts = np.cumsum([0, *[7] * unknowns, *[2] * 6, 1])
    return sparse.csc_matrix((data, indices, starts), shape=(unknowns + 13, unknowns + 7))
