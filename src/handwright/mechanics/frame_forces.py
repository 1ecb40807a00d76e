"""Least forces for every frame of a motion, in one call of compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from handwright.kernels.decorators import kernel
from handwright.kernels.packed import Packed
from handwright.mechanics.cone_work import ConeWork, make_cone_work
from handwright.mechanics.cones import MAX_ITERATIONS, PENALTY, TOLERANCE, solve_cones
from handwright.mechanics.wrench import ForceContacts, ForceProgram, no_contacts


class FrameForces(NamedTuple):
    """Forces at all contacts, and how well they give the wrenches."""

    forces: Float[np.ndarray, "N 3"]
    """On the body, N."""
    residual: Float[np.ndarray, "T 6"]
    """Wrench wanted minus wrench of the forces, N and N m."""


def forces_of_frames(
    contacts: ForceContacts,
    first: Int[np.ndarray, " T+1"],
    wrench: Float[np.ndarray, "T 6"],
    *,
    force_scale: float,
    length_scale: float,
) -> FrameForces:
    """As ``least_forces``, frame by frame.

    Args:
        contacts: Of all frames, one after the other.
        first: Rows first[t] to first[t + 1] are the contacts of frame t.
        wrench: That the contacts must give about the centre of mass, N and N m.
        force_scale: Unit of force, N: the weight of the body.
        length_scale: Unit of length, m: its radius of gyration.
    """
    capacity = int(np.diff(first).max(initial=0))
    found = FrameForces(np.zeros((len(contacts.arm), 3)), np.zeros((len(first) - 1, 6)))
    rows = ForceContacts(*(np.array(column, order="C") for column in contacts))
    room = ForceProgram(
        Packed(no_contacts(capacity)), 0, np.zeros(6), force_scale, length_scale, TOLERANCE
    )
    _solve_each(
        Packed(make_cone_work(capacity)), room, Packed(rows),
        np.ascontiguousarray(first, dtype=np.int64), np.array(wrench, order="C"), Packed(found),
    )  # fmt: skip
    return found


@kernel
def _solve_each(
    work: ConeWork,
    scaled: ForceProgram,
    contacts: ForceContacts,
    first: np.ndarray,
    wrench: np.ndarray,
    found: FrameForces,
) -> None:
    room = scaled.contacts
    for t in range(wrench.shape[0]):
        begin, count = first[t], first[t + 1] - first[t]
        for n in range(count):
            room.friction[n] = contacts.friction[begin + n]
            room.weight[n] = contacts.weight[begin + n]
            room.cap[n] = contacts.cap[begin + n]
            for i in range(3):
                room.arm[n, i] = contacts.arm[begin + n, i]
                room.normal[n, i] = contacts.normal[begin + n, i]
                room.drag[n, i] = contacts.drag[begin + n, i]
        program = ForceProgram(
            room, count, wrench[t], scaled.force_scale, scaled.length_scale, scaled.tolerance
        )
        solve_cones(work, program, PENALTY, MAX_ITERATIONS)
        for i in range(6):
            found.residual[t, i] = work.residual[i]
        for n in range(count):
            for i in range(3):
                found.forces[begin + n, i] = work.force[n, i]
