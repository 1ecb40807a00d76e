"""One frame of the search: its kinematic and dynamic feasibility.

Ye & Liu 2012, section 4.3. Guiding points become targets of the inverse kinematics, in which
penetration is a hinge; contacts are then collected over whole hands, and the cone program of
equations (4)-(8) says whether they can move the body as its track shows. Stricter than the paper:
a contact whose material point moves over the surface gets kinetic friction along that motion only.
"""

from __future__ import annotations

import numpy as np

from handwright.geometry.distance.capsules import segment_segment
from handwright.kernels.decorators import kernel, linked
from handwright.kinematics.tree import Links, placed
from handwright.methods.sampling.search.contacts import collect_contacts
from handwright.methods.sampling.search.forces import find_forces
from handwright.methods.sampling.search.posing import capsule_ends
from handwright.methods.sampling.search.workspace import HOLD, SLIDE, Workspace
from handwright.methods.sampling.setup.hold_data import HoldData

# What the check of a frame says: it is feasible, a digit misses a point that it must touch, skin is
# too deep, digits overlap, or the contacts cannot move the body.
FEASIBLE, MISSED, PENETRATING, CROSSED, UNBALANCED = 0, 1, 2, 3, 4


@kernel
def find_crossed_digits(data: HoldData, links: Links, allowed: float) -> tuple[int, int]:
    """Finds two digits that overlap by more than ``allowed``, m; -1, -1 if there are none."""
    table = data.table
    count = table.capsule.shape[0]
    for d in range(count):
        for m in range(table.capsule.shape[1]):
            own = table.capsule[d, m]
            if own < 0:
                break
            a, b = capsule_ends(data, links, own)
            for e in range(d + 1, count):
                for n in range(table.capsule.shape[1]):
                    other = table.capsule[e, n]
                    if other < 0:
                        break
                    c, f = capsule_ends(data, links, other)
                    reach = table.capsule_radius[own] + table.capsule_radius[other] - allowed
                    is_apart = False
                    for i in range(3):
                        if (
                            min(a[i], b[i]) - max(c[i], f[i]) > reach
                            or min(c[i], f[i]) - max(a[i], b[i]) > reach
                        ):
                            is_apart = True
                            break
                    if not is_apart and segment_segment(a, b, c, f)[0] < reach:
                        return d, e
    return -1, -1


@linked
def check_frame(data: HoldData, t: int, work: Workspace, has_before: bool, is_exact: bool) -> int:
    """Whether the placed hands are a feasible frame; ``work.found.blame`` says who is to blame.

    A digit that misses its guiding point is no fault in itself: it has rolled, slid or come off,
    and the forces say whether the body bears that. ``work.is_lost`` names such digits.
    """
    found, limits, guide = work.found, data.limits, work.guide
    found.blame[0] = found.blame[1] = -1
    for d in range(guide.mode.shape[0]):
        work.is_lost[d] = False
        mode = guide.mode[d]
        if mode != HOLD and mode != SLIDE:
            continue
        x, y, z = placed(
            work.now, guide.link[d], guide.local[d, 0], guide.local[d, 1], guide.local[d, 2]
        )
        miss = np.sqrt(
            (x - guide.target[d, 0]) ** 2
            + (y - guide.target[d, 1]) ** 2
            + (z - guide.target[d, 2]) ** 2
        )
        work.is_lost[d] = not miss <= limits.anchor
        if work.is_lost[d] and work.must_touch[d]:
            found.blame[0] = d
            return MISSED
    a, b = find_crossed_digits(data, work.now, limits.digits)
    if a >= 0:
        found.blame[0], found.blame[1] = a, b
        return CROSSED
    deepest = collect_contacts(data, t, work, has_before)
    if not deepest <= limits.penetration:
        return PENETRATING
    return FEASIBLE if find_forces(data, t, work, is_exact) else UNBALANCED
