"""Rows and columns of the block of residuals of one contact."""

from __future__ import annotations

from typing import NamedTuple

from handwright.kernels.decorators import kernel
from handwright.methods.trajopt.model.layout import BODY, force_index, origin_index
from handwright.methods.trajopt.model.model import Model
from handwright.methods.trajopt.model.workspace import NUM_RESIDUALS, NUM_ROWS, SampleWorkspace

# Rows of the residuals; those of vectors take three.
BODY_GAP, HAND_GAP, SLIP, CONE, SQUEEZE, PAD, FACING = 0, 1, 2, 5, 6, 7, 10
NORMAL = NUM_RESIDUALS
"""First of three more rows, in which the derivative of the normal is kept for later use."""


class ContactColumns(NamedTuple):
    """First column of each block of variables that a contact depends on."""

    hand: int
    """Coordinates that move the link, of which there are ``Forest.num_movers``."""
    body: int
    hand_rate: int
    body_rate: int
    force: int
    origin: int
    contact: int
    size: int


@kernel
def contact_columns(num_movers: int) -> ContactColumns:
    """Columns for a link that is moved by this many coordinates."""
    n = num_movers
    return ContactColumns(
        0, n, n + BODY, 2 * n + BODY, 2 * n + 12, 2 * n + 15, 2 * n + 18, 2 * n + 19
    )


@kernel
def list_contact_columns(m: Model, work: SampleWorkspace, j: int, joint: int) -> ContactColumns:
    """Lists the variables of contact ``j`` and clears their derivatives.

    Args:
        m: The model.
        work: Its ``columns`` and ``jacobian`` are written to.
        j: Number of the contact.
        joint: Joint whose link touches; -1 for the environment.
    """
    layout, f = m.layout, m.forest
    num_movers = f.num_movers[joint] if joint >= 0 else 0
    at = contact_columns(num_movers)
    for i in range(num_movers):
        work.columns[at.hand + i] = f.movers[joint, i]
        work.columns[at.hand_rate + i] = layout.first_rate + f.movers[joint, i]
    for i in range(BODY):
        work.columns[at.body + i] = layout.first_body + i
        work.columns[at.body_rate + i] = layout.first_body_rate + i
    for i in range(3):
        work.columns[at.force + i] = force_index(layout, j) + i
        work.columns[at.origin + i] = origin_index(layout, j) + i
    work.columns[at.contact] = layout.first_contact + j
    for r in range(NUM_ROWS):
        for i in range(at.size):
            work.jacobian[r, i] = 0.0
    return at
