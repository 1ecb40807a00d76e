"""One frame of the search: its kinematic and dynamic feasibility.

Ye & Liu 2012, section 4.3. Guiding points become targets of the inverse kinematics, in which
penetration is a hinge; contacts are then collected over whole hands, and the cone program of
equations (4)-(8) says whether they can move the body as its track shows. Stricter than the paper:
a contact whose material point moves over the surface gets kinetic friction along that motion only.
"""

from __future__ import annotations

from handwright.geometry.distance.capsules import segment_segment
from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kinematics.tree import Links
from handwright.mechanics.cones import MAX_ITERATIONS, PENALTY, solve_cones
from handwright.mechanics.pyramid import MAX_PIVOTS, solve_pyramids
from handwright.mechanics.wrench import ForceProgram
from handwright.methods.sampling.search import vec3
from handwright.methods.sampling.search.contacts import collect_contacts
from handwright.methods.sampling.search.posing import capsule_ends
from handwright.methods.sampling.search.workspace import HOLD, SLIDE, Workspace
from handwright.methods.sampling.setup.hold_data import HoldData

# What the check of a frame says: it is feasible, a digit misses a point that it must touch, skin is
# too deep, digits overlap, or the contacts cannot move the body.
FEASIBLE, MISSED, PENETRATING, CROSSED, UNBALANCED = 0, 1, 2, 3, 4
NUM_VERDICTS = 5
# Residual up to which the solvers of forces go on, in weights of the body.
_FORCE_TOLERANCE = 1e-5


@inlined
def solve_by_pyramids(data: HoldData, t: int, count: int, work: Workspace) -> tuple[int, float]:
    """Looks for forces of the first contacts in pyramids within the friction cones.

    Returns 0 if there are some that move the body in frame t, and the sum of normal forces, N.
    """
    program = ForceProgram(
        work.contacts, count, data.wrench[t], data.weight, data.gyration, _FORCE_TOLERANCE
    )
    status, total, _ = solve_pyramids(work.pyramid, program, MAX_PIVOTS)
    return status, total


@inlined
def solve_by_cones(data: HoldData, t: int, count: int, work: Workspace) -> tuple[int, float]:
    """The same with the cones themselves: the least forces, if there are some."""
    program = ForceProgram(
        work.contacts, count, data.wrench[t], data.weight, data.gyration, _FORCE_TOLERANCE
    )
    status, total, _ = solve_cones(work.cone, program, PENALTY, MAX_ITERATIONS)
    return status, total


@linked
def find_forces(data: HoldData, t: int, work: Workspace, is_exact: bool) -> bool:
    """Whether the collected contacts can move the body; forces are then in ``work.cone.force``.

    Pyramids inside the cones answer quickly whether there are forces at all; the cones are asked
    if those say no, or where the least forces themselves are wanted.
    """
    count, status = work.found.num[0], 1
    if not is_exact:
        status, _ = solve_by_pyramids(data, t, count, work)
        if status == 0:
            for n in range(count):
                vec3.copy(work.cone.force[n], work.pyramid.force[n])
    if status != 0:
        status, _ = solve_by_cones(data, t, count, work)
    _distribute_loads(data, work)
    # Written so that NaN is refused.
    return status == 0 and work.found.total[0] <= data.limits.force


@inlined
def _distribute_loads(data: HoldData, work: Workspace) -> None:
    """Writes loads, friction ratios and directions of friction of the digits from the forces."""
    found, contacts = work.found, work.contacts
    for d in range(data.hands.hand_of_digit.shape[0]):
        found.load[d] = found.ratio[d] = 0.0
        vec3.write(found.pull[d], (0.0, 0.0, 0.0))
    found.total[0] = 0.0
    for n in range(found.num[1], found.num[0]):
        force, normal = vec3.read(work.cone.force[n]), vec3.read(contacts.normal[n])
        level = vec3.dot(force, normal)
        found.total[0] += level / data.weight
        d = data.hands.digit_of_capsule[found.capsule[n]]
        if d < 0:
            continue
        found.load[d] += level / data.weight
        across = vec3.shifted(force, -level, normal)
        size, most = vec3.length(across), contacts.friction[n] * level
        # The faces beside a contact do not count: digits slide along their own.
        is_side = n > found.num[1] and found.capsule[n] == found.capsule[n - 1]
        if level > 0.01 * data.weight and size > 1e-9 and not is_side:
            found.ratio[d] = size / max(most, 1e-12)
            vec3.write(found.pull[d], vec3.divided(across, size))


@kernel
def find_crossed_digits(data: HoldData, links: Links, allowed: float) -> tuple[int, int]:
    """Finds two digits that overlap by more than ``allowed``, m; -1, -1 if there are none."""
    table = data.hands.table
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
        point = vec3.point_of(work.now, guide.link[d], guide.local[d])
        work.is_lost[d] = (
            not vec3.length(vec3.minus(point, vec3.read(guide.target[d]))) <= limits.anchor
        )
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
