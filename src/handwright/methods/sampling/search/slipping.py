"""How contacts of a frame slide, by central differences over the frames before and after it."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined, kernel
from handwright.kinematics.tree import Links, placed
from handwright.methods.sampling.search.contacts import apply_skin_stretch
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.hold_data import HoldData


@inlined
def _copy_slip_of_edge(work: Workspace, n: int) -> None:
    """Writes how contact ``n``, on a face beside an edge, moves.

    It is touched by the material of the contact before it, and by none if that moves over the edge.
    """
    contacts, slip = work.contacts, work.found.slip
    contacts.cap[n] = contacts.cap[n - 1]
    for i in range(3):
        slip[n, i] = slip[n - 1, i]
        contacts.drag[n, i] = contacts.drag[n - 1, i]
        if contacts.drag[n, i] != 0.0:
            contacts.cap[n] = 0.0


@kernel
def find_central_slips(data: HoldData, t: int, work: Workspace, ahead: Links, span: int) -> None:
    """Writes how contacts of frame t slide by central differences, and what they may bear then.

    Args:
        data: The hold.
        t: The frame whose contacts are in ``work``, with its links and those of the frame before.
        work: Scratch memory.
        ahead: Links of a later frame.
        span: Number of frames from ``work.before`` to ``ahead``.
    """
    found, contacts = work.found, work.contacts
    for n in range(found.num[1], found.num[0]):
        if n > found.num[1] and found.capsule[n] == found.capsule[n - 1]:
            _copy_slip_of_edge(work, n)
            continue
        link = data.table.capsule_link[found.capsule[n]]
        position, rotation, moved = work.now.position, work.now.rotation, found.slip
        ax = found.point[n, 0] - position[link, 0]
        ay = found.point[n, 1] - position[link, 1]
        az = found.point[n, 2] - position[link, 2]
        x = rotation[link, 0, 0] * ax + rotation[link, 1, 0] * ay + rotation[link, 2, 0] * az
        y = rotation[link, 0, 1] * ax + rotation[link, 1, 1] * ay + rotation[link, 2, 1] * az
        z = rotation[link, 0, 2] * ax + rotation[link, 1, 2] * ay + rotation[link, 2, 2] * az
        old = placed(work.before, link, x, y, z)
        new = placed(ahead, link, x, y, z)
        along = 0.0
        for i in range(3):
            moved[n, i] = (new[i] - old[i]) / max(span, 1)
            along += moved[n, i] * contacts.normal[n, i]
        for i in range(3):
            moved[n, i] -= along * contacts.normal[n, i]
        # A frame lasts from half-way after the last one to half-way before the next.
        lasts = 0.5 * max(span, 1)
        dx, dy, dz = apply_skin_stretch(
            data, work, n, lasts * moved[n, 0], lasts * moved[n, 1], lasts * moved[n, 2]
        )
        moved[n, 0], moved[n, 1], moved[n, 2] = dx / lasts, dy / lasts, dz / lasts
        size = 0.0
        for i in range(3):
            size += moved[n, i] ** 2
        size = np.sqrt(size)
        for i in range(3):
            contacts.drag[n, i] = moved[n, i] / size if size > data.limits.slip else 0.0
        digit = data.digit_of_capsule[found.capsule[n]]
        if digit >= 0 and not data.may_touch[t, digit]:
            contacts.cap[n] = 0.0


@kernel
def reset_force_weights(work: Workspace) -> None:
    """Lets digits that land press, and gives all forces the same weight."""
    for d in range(work.is_landing.shape[0]):
        work.is_landing[d] = False
        work.force_weight[d] = 1.0
