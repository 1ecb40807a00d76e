"""Forces of one frame: whether its contacts can move the body as its track shows."""

from __future__ import annotations

import numpy as np

from handwright.kernels.decorators import inlined, linked
from handwright.mechanics.cones import MAX_ITERATIONS, PENALTY, solve_cones
from handwright.mechanics.pyramid import MAX_PIVOTS, solve_pyramids
from handwright.mechanics.wrench import ForceProgram
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.hold_data import HoldData

FORCE_TOLERANCE = 1e-5
"""Residual up to which the solvers of forces go on, in weights of the body."""


@linked
def find_forces(data: HoldData, t: int, work: Workspace, is_exact: bool) -> bool:
    """Whether the collected contacts can move the body; forces are then in ``work.cone.force``.

    Pyramids inside the cones answer quickly whether there are forces at all; the cones are asked
    if those say no, or where the least forces themselves are wanted.
    """
    found = work.found
    count = found.num[0]
    status = 1
    program = ForceProgram(
        work.contacts, count, data.wrench[t], data.weight, data.gyration, FORCE_TOLERANCE
    )
    if not is_exact:
        status, _, _ = solve_pyramids(work.pyramid, program, MAX_PIVOTS)
        if status == 0:
            for n in range(count):
                for i in range(3):
                    work.cone.force[n, i] = work.pyramid.force[n, i]
    if status != 0:
        status, _, _ = solve_cones(work.cone, program, PENALTY, MAX_ITERATIONS)
    _distribute_loads(data, work)
    # Written so that NaN is refused.
    return status == 0 and found.total[0] <= data.limits.force


@inlined
def _distribute_loads(data: HoldData, work: Workspace) -> None:
    """Writes loads, friction ratios and directions of friction of the digits from the forces."""
    found, contacts, force = work.found, work.contacts, work.cone.force
    for d in range(data.hand_of_digit.shape[0]):
        found.load[d] = found.ratio[d] = 0.0
        for i in range(3):
            found.pull[d, i] = 0.0
    found.total[0] = 0.0
    for n in range(found.num[1], found.num[0]):
        fx, fy, fz = force[n, 0], force[n, 1], force[n, 2]
        nx, ny, nz = contacts.normal[n, 0], contacts.normal[n, 1], contacts.normal[n, 2]
        level = fx * nx + fy * ny + fz * nz
        found.total[0] += level / data.weight
        d = data.digit_of_capsule[found.capsule[n]]
        if d < 0:
            continue
        found.load[d] += level / data.weight
        tx, ty, tz = fx - level * nx, fy - level * ny, fz - level * nz
        across = np.sqrt(tx * tx + ty * ty + tz * tz)
        most = contacts.friction[n] * level
        # The faces beside a contact do not count: digits slide along their own.
        is_side = n > found.num[1] and found.capsule[n] == found.capsule[n - 1]
        if level > 0.01 * data.weight and across > 1e-9 and not is_side:
            found.ratio[d] = across / max(most, 1e-12)
            found.pull[d, 0], found.pull[d, 1], found.pull[d, 2] = (
                tx / across,
                ty / across,
                tz / across,
            )
