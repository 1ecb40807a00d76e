"""Non-negative least squares (Lawson and Hanson), for wrenches in the span of pyramid edges."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from handwright.errors import InvalidValueError
from handwright.kernels.decorators import compiled
from handwright.mechanics.wrench import ForceContacts, check_wrench, edge_wrenches

_ROUNDING = 1e-13


@compiled
def _least_squares(
    A: np.ndarray, b: np.ndarray, chosen: np.ndarray, count: int, out: np.ndarray
) -> bool:
    """Solves for the chosen columns by Householder reflections; False if they are dependent."""
    rows = A.shape[0]
    R = np.zeros((rows, count))
    right = b.copy()
    for j in range(count):
        for r in range(rows):
            R[r, j] = A[r, chosen[j]]
    for j in range(count):
        whole = np.sqrt(np.sum(A[:, chosen[j]] ** 2))
        length = np.sqrt(np.sum(R[j:, j] ** 2))
        if length <= 1e-11 * whole:
            return False
        head = -length if R[j, j] > 0.0 else length
        v = R[j:, j].copy()
        v[0] -= head
        square = np.sum(v**2)
        for c in range(j, count):
            R[j:, c] -= 2.0 * np.sum(v * R[j:, c]) / square * v
        right[j:] -= 2.0 * np.sum(v * right[j:]) / square * v
    for j in range(count - 1, -1, -1):
        entry = right[j]
        for c in range(j + 1, count):
            entry -= R[j, c] * out[c]
        out[j] = entry / R[j, j]
    return True


@compiled
def _entering(
    A: np.ndarray, residual: np.ndarray, x: np.ndarray, blocked: np.ndarray, size: float
) -> int:
    """Column outside the passive set that lowers the residual fastest; -1 for none."""
    best, found = 0.0, -1
    for c in range(A.shape[1]):
        if x[c] > 0.0 or blocked[c]:
            continue
        gradient = np.sum(A[:, c] * residual)
        if gradient > _ROUNDING * np.sqrt(np.sum(A[:, c] ** 2)) * size and gradient > best:
            best, found = gradient, c
    return found


@compiled
def _advance(x: np.ndarray, trial: np.ndarray, chosen: np.ndarray, count: int) -> int:
    """Moves x towards the trial values, as far as none is negative; how many stay above 0."""
    step, binding = 1.0, -1
    for j in range(count):
        here = x[chosen[j]]
        if trial[j] <= 0.0 and here / (here - trial[j]) <= step:
            step, binding = here / (here - trial[j]), j
    kept = 0
    for j in range(count):
        c = chosen[j]
        x[c] += step * (trial[j] - x[c])
        if j == binding or x[c] <= 0.0:
            x[c] = 0.0
        else:
            chosen[kept] = c
            kept += 1
    return kept


@compiled
def nnls_of(A: np.ndarray, b: np.ndarray, max_iterations: int) -> tuple[np.ndarray, bool]:
    """The x >= 0 for which |A x - b| is least, for compiled callers; whether it has settled."""
    rows, columns = A.shape
    x, trial = np.zeros(columns), np.zeros(columns)
    chosen, count = np.zeros(columns + 1, dtype=np.int64), 0
    blocked = np.zeros(columns, dtype=np.bool_)
    size = np.sqrt(np.sum(b**2))
    for _ in range(max_iterations):
        entering = _entering(A, b - A @ x, x, blocked, size)
        if entering < 0:
            return x, True
        chosen[count] = entering
        is_new = count < rows and _least_squares(A, b, chosen, count + 1, trial)
        if not is_new or trial[count] <= 0.0:
            # Rounding made it look useful. It may be so after another has entered.
            blocked[entering] = True
            continue
        count += 1
        kept = _advance(x, trial, chosen, count)
        while kept < count:
            count = kept
            if not _least_squares(A, b, chosen, count, trial):
                return x, False
            kept = _advance(x, trial, chosen, count)
        blocked[:] = False
    return x, False


def nonnegative_least_squares(
    A: Float[np.ndarray, "M N"], b: Float[np.ndarray, " M"]
) -> tuple[Float[np.ndarray, " N"], float]:
    """The x >= 0 for which |A x - b| is least, and that least.

    Raises:
        InvalidValueError: On numbers that are not finite, or shapes that do not fit.
    """
    A, b = np.array(A, dtype=np.float64, order="C"), np.array(b, dtype=np.float64)
    if A.ndim != 2 or b.shape != (A.shape[0],):
        raise InvalidValueError(f"A has shape {A.shape} and b {b.shape}; expected (M, N) and (M,).")
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise InvalidValueError("A or b holds NaN or infinity; leave such contacts out.")
    x, is_done = nnls_of(A, b, 30 * (A.shape[1] + 1))
    if not is_done:
        raise InvalidValueError(
            f"Non-negative least squares of shape {A.shape} did not settle; "
            "scale the columns to similar lengths."
        )
    return x, float(np.linalg.norm(A @ x - b))


@compiled
def _nnls_rows(A: np.ndarray, rows: np.ndarray, max_iterations: int, out: np.ndarray) -> bool:
    for k in range(rows.shape[0]):
        x, is_done = nnls_of(A, rows[k], max_iterations)
        if not is_done:
            return False
        out[k] = x
    return True


def nonnegative_rows(
    A: Float[np.ndarray, "M N"], rows: Float[np.ndarray, "K M"]
) -> Float[np.ndarray, "K N"]:
    """``nonnegative_least_squares`` of one matrix for several right-hand sides."""
    A, rows = np.array(A, dtype=np.float64, order="C"), np.array(rows, dtype=np.float64)
    found = np.zeros((len(rows), A.shape[1]))
    if not (np.isfinite(A).all() and np.isfinite(rows).all()):
        raise InvalidValueError("A or rows hold NaN or infinity; leave such contacts out.")
    if not _nnls_rows(A, rows, 30 * (A.shape[1] + 1), found):
        raise InvalidValueError(
            f"Non-negative least squares of shape {A.shape} did not settle; "
            "scale the columns to similar lengths."
        )
    return found


def nearest_forces(
    contacts: ForceContacts, wrench: ArrayLike, *, num_edges: int = 4
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "6"]]:
    """Forces inside friction pyramids whose wrench comes nearest in SI units, and what is left.

    Sliding contacts have one edge. Weights and caps play no part.

    Args:
        contacts: See ``force_contacts``.
        wrench: Force (N), then moment about the centre of mass (N m), in world axes.
        num_edges: Of the pyramid of a contact that does not slide.

    Returns:
        Forces on the body (N) and wrench wanted minus wrench of the forces (N and N m).
    """
    target = check_wrench(wrench)
    columns, owner = edge_wrenches(contacts, num_edges)
    levels, _ = nonnegative_least_squares(columns, target)
    forces = np.zeros((len(contacts.arm), 3))
    np.add.at(forces, owner, (columns[:3] * levels).T)
    return forces, target - columns @ levels
