"""One frame of the search: pose from guiding points, then kinematic and dynamic feasibility.

Ye & Liu 2012, section 4.3. Guiding points become targets of the inverse kinematics, in which
penetration is a hinge; contacts are then collected over whole hands, and the cone program of
equations (4)-(8) says whether they can move the body as its track shows. Stricter than the paper:
a contact whose material point moves over the surface gets kinetic friction along that motion only.
"""

from __future__ import annotations

import numpy as np

from handwright.contact.edges import (
    EDGE_BACK,
    EDGE_DIRECTIONS,
    EDGE_RADIUS,
    EDGE_SINK,
    EDGE_TURN,
)
from handwright.geometry.distance.capsules import segment_segment
from handwright.geometry.distance.environment import EnvironmentArrays, environment_value_gradient
from handwright.geometry.distance.sdf import field_value, field_value_gradient
from handwright.geometry.distance.sdf_chains import capsule_depth
from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kinematics.ik.digit import IkWeights, place_digit, solve_digit
from handwright.kinematics.obstacles import Around
from handwright.kinematics.skin.samples import CAPSULE_BULGE, sample_position
from handwright.kinematics.tree import Links, placed
from handwright.mechanics.cones import MAX_ITERATIONS, PENALTY, solve_cones
from handwright.mechanics.pyramid import MAX_PIVOTS, solve_pyramids
from handwright.methods.sampling.search.workspace import FREE, HOLD, SLIDE, Workspace
from handwright.methods.sampling.setup.hold_data import HoldData

# What a frame fails by.
FEASIBLE, MISSED, PENETRATING, CROSSED, UNBALANCED = 0, 1, 2, 3, 4

BACKWARD = 2.0
"""Slips of one frame that a contact may have moved since the last frame and still count as held:
where it rolls, half of that is the step to a new point of the digit. Once the next frame is known,
and in the end, central differences decide."""
_AXIS_SAMPLES = 6
_TOLERANCE = 1e-5
# A point that is farther from the surface is not on it, m.
_OFF_SURFACE = 3e-4
_GROUND_FORCE_WEIGHT = 0.05


@inlined
def _surroundings_at(data: HoldData, t: int) -> Around:
    """Body and surroundings in one frame.

    Only for kernels: what it returns does not own its arrays, and other compiled code would free
    them.
    """
    world = data.environment
    return Around(
        data.field,
        EnvironmentArrays(
            world.normals[t],
            world.offsets[t],
            world.positions[t],
            world.rotations[t],
            world.half_extents,
            world.frictions,
        ),
        data.samples,
        data.limits.max_samples,
    )


@kernel
def place_hands(data: HoldData, t: int, q: np.ndarray, links: Links) -> None:
    """Places the links of all hands for one frame."""
    for h in range(data.offset.shape[0]):
        root = data.offset[h]
        for i in range(3):
            links.position[root, i] = data.root_position[t, h, i]
            for j in range(3):
                links.rotation[root, i, j] = data.root_rotation[t, h, i, j]
    for digit in range(data.hand_of_digit.shape[0]):
        place_digit(data.tree, data.table, links, digit, q)


@linked
def pose_digits(data: HoldData, t: int, q: np.ndarray, work: Workspace) -> None:
    """Bends the digits of ``q``, within ``work.low`` and ``high``, to their guiding points."""
    around, table, guide = _surroundings_at(data, t), data.table, work.guide
    digits = data.hand_of_digit.shape[0]
    for d in range(digits):
        if guide.mode[d] != FREE:
            data.table.tip_link[d] = guide.link[d]
            for i in range(3):
                data.table.pad[d, i] = guide.local[d, i]
    place_hands(data, t, q, work.now)
    # Free digits first, so that they make room instead of standing in the way.
    for count in range(2 * digits):
        d = count % digits
        is_free = guide.mode[d] == FREE
        if is_free == (count >= digits):
            continue
        solve_digit(
            data.tree,
            table,
            around,
            work.now,
            d,
            q,
            guide.target[d],
            guide.normal[d],
            work.reference,
            work.low,
            work.high,
            data.idle_weights if is_free else data.hold_weights,
            work.ik,
        )


@kernel
def pose_alone(
    data: HoldData,
    t: int,
    d: int,
    link: int,
    local: np.ndarray,
    q: np.ndarray,
    target: np.ndarray,
    normal: np.ndarray,
    reference: np.ndarray,
    weights: IkWeights,
    work: Workspace,
) -> float:
    """Brings one point of a digit to a target within the limits of frame ``t``.

    Roots must be placed. Returns the cost.
    """
    data.table.tip_link[d] = link
    for i in range(3):
        data.table.pad[d, i] = local[i]
    place_digit(data.tree, data.table, work.now, d, q)
    cost, _ = solve_digit(
        data.tree,
        data.table,
        _surroundings_at(data, t),
        work.now,
        d,
        q,
        target,
        normal,
        reference,
        data.low[t],
        data.high[t],
        weights,
        work.ik,
    )
    return cost


@inlined
def _capsule_ends(data: HoldData, links: Links, c: int) -> tuple:
    table = data.table
    link = table.capsule_link[c]
    a = placed(
        links,
        link,
        table.capsule_start[c, 0],
        table.capsule_start[c, 1],
        table.capsule_start[c, 2],
    )
    b = placed(
        links, link, table.capsule_end[c, 0], table.capsule_end[c, 1], table.capsule_end[c, 2]
    )
    return a, b


@kernel
def find_crossed_digits(data: HoldData, links: Links, allowed: float) -> tuple[int, int]:
    """Two digits that overlap by more than allowed, or -1, -1."""
    table = data.table
    count = table.capsule.shape[0]
    for d in range(count):
        for m in range(table.capsule.shape[1]):
            own = table.capsule[d, m]
            if own < 0:
                break
            a, b = _capsule_ends(data, links, own)
            for e in range(d + 1, count):
                for n in range(table.capsule.shape[1]):
                    other = table.capsule[e, n]
                    if other < 0:
                        break
                    c, f = _capsule_ends(data, links, other)
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


@kernel
def skin_distance(
    data: HoldData, around: Around, links: Links, c: int, bound: float
) -> tuple[float, int, float]:
    """How near the skin over a capsule is to the body and to the surroundings.

    Returns:
        Least distance of its skin points from the body, m; which point that is; least distance
        from the surroundings, m. Infinity where all are farther than ``bound``.
    """
    a, b = _capsule_ends(data, links, c)
    half = 0.5 * np.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)
    x, y, z = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])
    reach = half + data.samples.reach[c] + bound
    near_body = field_value(data.field, x, y, z) < reach
    near_ground = False
    if len(around.environment.frictions) > 0:
        near_ground = environment_value_gradient(around.environment, x, y, z)[0] < reach
    least, nearest, ground = np.inf, -1, np.inf
    if not (near_body or near_ground):
        return least, nearest, ground
    first = data.samples.first[c]
    last = min(data.samples.first[c + 1], first + around.max_samples)
    for row in range(first, last):
        x, y, z = sample_position(data.samples, row, links)
        if near_body:
            value = field_value(data.field, x, y, z)
            if value < least:
                least, nearest = value, row
        if near_ground:
            ground = min(ground, environment_value_gradient(around.environment, x, y, z)[0])
    return least, nearest, ground


@kernel
def digit_depth(data: HoldData, t: int, d: int, work: Workspace) -> float:
    """How deep the skin of one placed digit is in the body or the surroundings, m."""
    around = _surroundings_at(data, t)
    deepest = 0.0
    for m in range(data.table.capsule.shape[1]):
        c = data.table.capsule[d, m]
        if c < 0:
            break
        skin, _, ground = skin_distance(data, around, work.now, c, 0.0)
        deepest = max(deepest, -min(skin, ground))
    return deepest


@inlined
def apply_skin_stretch(
    data: HoldData, work: Workspace, n: int, dx: float, dy: float, dz: float
) -> tuple[float, float, float]:
    """Lets skin give way as contact ``n`` moves over the body; returns what it slips by, m.

    As ``mechanics.shear`` does for whole motions.
    """
    limit = data.limits.shear
    if limit <= 0.0:
        return dx, dy, dz
    c, normal = work.found.capsule[n], work.contacts.normal[n]
    old = work.sheared[c]
    ux, uy, uz = old[0], old[1], old[2]
    before = np.sqrt(ux * ux + uy * uy + uz * uz)
    along = ux * normal[0] + uy * normal[1] + uz * normal[2]
    ux, uy, uz = ux - along * normal[0], uy - along * normal[1], uz - along * normal[2]
    # As a digit rolls on, the normal turns; the skin under it stays as stretched as it was.
    scale = before / max(np.sqrt(ux * ux + uy * uy + uz * uz), 1e-12)
    ux, uy, uz = scale * ux + dx, scale * uy + dy, scale * uz + dz
    size = np.sqrt(ux * ux + uy * uy + uz * uz)
    over = max(size - limit, 0.0) / max(size, 1e-12)
    # The faces beside an edge are touched by the same skin.
    if n == work.found.num[1] or work.found.capsule[n - 1] != c:
        work.shear[c, 0] = (1.0 - over) * ux
        work.shear[c, 1] = (1.0 - over) * uy
        work.shear[c, 2] = (1.0 - over) * uz
    return over * ux, over * uy, over * uz


@inlined
def _add_contact(
    data: HoldData,
    work: Workspace,
    n: int,
    c: int,
    p: tuple[float, float, float],
    g: tuple[float, float, float],
    gap: float,
    has_before: bool,
) -> None:
    """Writes contact ``n``, between capsule ``c`` and the body at ``p`` with outward ``g``."""
    found, contacts = work.found, work.contacts
    size = np.sqrt(g[0] ** 2 + g[1] ** 2 + g[2] ** 2)
    nx, ny, nz = -g[0] / size, -g[1] / size, -g[2] / size
    found.capsule[n] = c
    found.gap[n] = gap
    for i in range(3):
        found.point[n, i] = p[i]
        contacts.arm[n, i] = p[i] - data.center[i]
        contacts.drag[n, i] = 0.0
        found.slip[n, i] = 0.0
    contacts.normal[n, 0], contacts.normal[n, 1], contacts.normal[n, 2] = nx, ny, nz
    contacts.friction[n] = data.friction * data.limits.friction_margin
    contacts.cap[n] = np.inf
    digit = data.digit_of_capsule[c]
    contacts.weight[n] = 1.0
    if digit >= 0:
        contacts.weight[n] = work.force_weight[digit]
        if work.is_landing[digit]:
            contacts.cap[n] = 0.0
    if not has_before:
        return
    link, now, before = data.table.capsule_link[c], work.now, work.before
    rx, ry, rz = (
        p[0] - now.position[link, 0],
        p[1] - now.position[link, 1],
        p[2] - now.position[link, 2],
    )
    rotation = now.rotation
    lx = rotation[link, 0, 0] * rx + rotation[link, 1, 0] * ry + rotation[link, 2, 0] * rz
    ly = rotation[link, 0, 1] * rx + rotation[link, 1, 1] * ry + rotation[link, 2, 1] * rz
    lz = rotation[link, 0, 2] * rx + rotation[link, 1, 2] * ry + rotation[link, 2, 2] * rz
    ox, oy, oz = placed(before, link, lx, ly, lz)
    dx, dy, dz = p[0] - ox, p[1] - oy, p[2] - oz
    along = dx * nx + dy * ny + dz * nz
    dx, dy, dz = dx - along * nx, dy - along * ny, dz - along * nz
    dx, dy, dz = apply_skin_stretch(data, work, n, dx, dy, dz)
    found.slip[n, 0], found.slip[n, 1], found.slip[n, 2] = dx, dy, dz
    moved = np.sqrt(dx * dx + dy * dy + dz * dz)
    if moved > BACKWARD * data.limits.slip:
        contacts.drag[n, 0] = dx / moved
        contacts.drag[n, 1] = dy / moved
        contacts.drag[n, 2] = dz / moved


@kernel
def _add_edge_sides(
    data: HoldData,
    work: Workspace,
    n: int,
    c: int,
    p: tuple[float, float, float],
    g: tuple[float, float, float],
    gap: float,
    has_before: bool,
) -> int:
    """Adds contacts on the faces beside contact ``n - 1``; returns how many there are then.

    As ``edge_sides`` does, in the grid.
    """
    field, contacts = data.field, work.contacts
    for i in range(3):
        # A finger that moves over an edge rests on neither face.
        if contacts.drag[n - 1, i] != 0.0:
            return n
    size = np.sqrt(g[0] ** 2 + g[1] ** 2 + g[2] ** 2)
    ux, uy, uz = -g[0] / size, -g[1] / size, -g[2] / size
    # Two directions across the normal.
    if abs(ux) < 0.6:
        ax, ay, az = 0.0, uz, -uy
    else:
        ax, ay, az = -uz, 0.0, ux
    size = np.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax / size, ay / size, az / size
    bx, by, bz = uy * az - uz * ay, uz * ax - ux * az, ux * ay - uy * ax
    first, spare = n, data.digit_of_capsule.shape[0] - c
    for k in range(EDGE_DIRECTIONS):
        angle = 2.0 * np.pi * k / EDGE_DIRECTIONS
        along, across = EDGE_RADIUS * np.cos(angle), EDGE_RADIUS * np.sin(angle)
        x = p[0] + along * ax + across * bx + EDGE_SINK * EDGE_RADIUS * ux
        y = p[1] + along * ay + across * by + EDGE_SINK * EDGE_RADIUS * uy
        z = p[2] + along * az + across * bz + EDGE_SINK * EDGE_RADIUS * uz
        value, gx, gy, gz = field_value_gradient(field, x, y, z)
        size = np.sqrt(gx * gx + gy * gy + gz * gz)
        alike = -(ux * gx + uy * gy + uz * gz)
        if not EDGE_BACK * size < alike < EDGE_TURN * size:
            continue
        gx, gy, gz, value = gx / size, gy / size, gz / size, value / size
        # The foot of the contact, sunk in, on the plane of that face.
        off = value + (p[0] + EDGE_SINK * EDGE_RADIUS * ux - x) * gx
        off += (p[1] + EDGE_SINK * EDGE_RADIUS * uy - y) * gy
        off += (p[2] + EDGE_SINK * EDGE_RADIUS * uz - z) * gz
        x = p[0] + EDGE_SINK * EDGE_RADIUS * ux - off * gx
        y = p[1] + EDGE_SINK * EDGE_RADIUS * uy - off * gy
        z = p[2] + EDGE_SINK * EDGE_RADIUS * uz - off * gz
        sunk = (x - p[0]) * ux + (y - p[1]) * uy + (z - p[2]) * uz
        square = (x - p[0]) ** 2 + (y - p[1]) ** 2 + (z - p[2]) ** 2 - sunk * sunk
        side_gap = gap + max(sunk, 0.0)
        # The grid rounds edges off, and may lead nowhere. Room is kept for the other capsules.
        is_known = (
            not side_gap <= data.limits.gap
            or square > EDGE_RADIUS**2
            or abs(field_value(field, x, y, z)) > _OFF_SURFACE
            or n + spare >= contacts.normal.shape[0]
        )
        for m in range(first, n):
            alike = contacts.normal[m, 0] * gx + contacts.normal[m, 1] * gy
            alike += contacts.normal[m, 2] * gz
            is_known = is_known or -alike >= EDGE_TURN
        if not is_known:
            _add_contact(data, work, n, c, (x, y, z), (gx, gy, gz), side_gap, has_before)
            n += 1
    return n


@kernel
def add_ground(data: HoldData, t: int, work: Workspace) -> int:
    """Writes the contacts with the ground of one frame; returns how many."""
    contacts, found, ground = work.contacts, work.found, data.ground
    n = 0
    for row in range(ground.first[t], ground.first[t + 1]):
        for i in range(3):
            contacts.arm[n, i] = ground.point[row, i] - data.center[i]
            contacts.normal[n, i] = ground.normal[row, i]
            contacts.drag[n, i] = ground.drag[row, i]
            found.point[n, i] = ground.point[row, i]
            found.slip[n, i] = 0.0
        contacts.friction[n] = ground.friction[row]
        contacts.weight[n] = _GROUND_FORCE_WEIGHT
        contacts.cap[n] = np.inf
        found.capsule[n] = -1
        found.gap[n] = 0.0
        n += 1
    return n


@linked
def collect_contacts(data: HoldData, t: int, work: Workspace, has_before: bool) -> float:
    """Finds all contacts of the placed hands; returns how deep the skin is anywhere, m.

    ``work.found.blame`` names the digit that is deepest. One contact for each capsule: of the
    capsule itself if it touches, else of the nearest point of the skin over it. At an edge those on
    the faces beside it come next.
    """
    found, limits = work.found, data.limits
    around = _surroundings_at(data, t)
    n = add_ground(data, t, work)
    found.num[1] = n
    deepest = 0.0
    found.blame[0] = found.blame[1] = -1
    for c in range(data.digit_of_capsule.shape[0]):
        for i in range(3):
            work.shear[c, i] = 0.0
        skin, row, ground = skin_distance(data, around, work.now, c, 0.003)
        depth = -min(skin, ground)
        if depth > deepest:
            deepest = depth
            found.blame[0] = data.digit_of_capsule[c]
        a, b = _capsule_ends(data, work.now, c)
        radius = data.table.capsule_radius[c]
        if not skin < 0.006:
            continue
        gap, s, gx, gy, gz = capsule_depth(
            data.field, a[0], a[1], a[2], b[0], b[1], b[2], radius, radius, _AXIS_SAMPLES
        )
        # Skin is never deeper in a thin wall than half of it; the flesh under it is.
        if -gap - CAPSULE_BULGE > deepest:
            deepest = -gap - CAPSULE_BULGE
            found.blame[0] = data.digit_of_capsule[c]
        if gap <= limits.gap:
            size = np.sqrt(gx * gx + gy * gy + gz * gz)
            if size < 1e-6:
                continue
            far = (gap + radius) / size
            p = (
                a[0] + s * (b[0] - a[0]) - far * gx,
                a[1] + s * (b[1] - a[1]) - far * gy,
                a[2] + s * (b[2] - a[2]) - far * gz,
            )
            _add_contact(data, work, n, c, p, (gx, gy, gz), gap, has_before)
            n = _add_edge_sides(data, work, n + 1, c, p, (gx, gy, gz), gap, has_before)
        elif skin <= limits.gap:
            x, y, z = sample_position(data.samples, row, work.now)
            value, gx, gy, gz = field_value_gradient(data.field, x, y, z)
            size = np.sqrt(gx * gx + gy * gy + gz * gz)
            if size < 1e-6:
                continue
            far = value / size
            p = (x - far * gx, y - far * gy, z - far * gz)
            _add_contact(data, work, n, c, p, (gx, gy, gz), value, has_before)
            n = _add_edge_sides(data, work, n + 1, c, p, (gx, gy, gz), value, has_before)
    found.num[0] = n
    return deepest


@linked
def find_forces(data: HoldData, t: int, work: Workspace, is_exact: bool) -> bool:
    """Whether the collected contacts can move the body; forces are then in ``work.cone.force``.

    Pyramids inside the cones answer quickly whether there are forces at all; the cones are asked
    if those say no, or where the least forces themselves are wanted.
    """
    found = work.found
    count = found.num[0]
    status = 1
    if not is_exact:
        status, _, _ = solve_pyramids(
            work.pyramid, work.contacts, count, data.wrench[t], data.weight, data.gyration,
            _TOLERANCE, MAX_PIVOTS,
        )  # fmt: skip
        if status == 0:
            for n in range(count):
                for i in range(3):
                    work.cone.force[n, i] = work.pyramid.force[n, i]
    if status != 0:
        status, _, _ = solve_cones(
            work.cone, work.contacts, count, data.wrench[t], data.weight, data.gyration,
            _TOLERANCE, PENALTY, MAX_ITERATIONS,
        )  # fmt: skip
    _distribute_loads(data, work)
    # Written so that NaN is refused.
    return status == 0 and found.total[0] <= data.limits.force


@inlined
def _distribute_loads(data: HoldData, work: Workspace) -> None:
    """Loads, friction ratios and pulls of the digits from the forces."""
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
        # Not of the faces beside a contact: digits slide along their own.
        is_side = n > found.num[1] and found.capsule[n] == found.capsule[n - 1]
        if level > 0.01 * data.weight and across > 1e-9 and not is_side:
            found.ratio[d] = across / max(most, 1e-12)
            found.pull[d, 0], found.pull[d, 1], found.pull[d, 2] = (
                tx / across,
                ty / across,
                tz / across,
            )


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
