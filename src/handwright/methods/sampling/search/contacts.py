"""Contacts of posed hands in one frame, collected over all parts of the hands and the ground."""

from __future__ import annotations

import numpy as np

from handwright.contact.edges import (
    EDGE_BACK,
    EDGE_DIRECTIONS,
    EDGE_RADIUS,
    EDGE_SINK,
    EDGE_TURN,
)
from handwright.geometry.distance.sdf import field_value, field_value_gradient
from handwright.geometry.distance.sdf_chains import capsule_depth
from handwright.kernels.decorators import inlined, kernel, linked
from handwright.kinematics.skin.samples import CAPSULE_BULGE, sample_position
from handwright.kinematics.tree import placed
from handwright.methods.sampling.search.posing import capsule_ends, skin_distance, surroundings_at
from handwright.methods.sampling.search.workspace import Workspace
from handwright.methods.sampling.setup.hold_data import HoldData

BACKWARD = 2.0
"""How many times the allowed slip a contact may have moved since the last frame and still count as
held: where it rolls, half of that is the step to a new point of the digit. Once the next frame is
known, and in the end, central differences decide."""
_AXIS_SAMPLES = 6
# A point that is farther from the surface is not on it, m.
_OFF_SURFACE = 3e-4
_GROUND_FORCE_WEIGHT = 0.05


@inlined
def apply_skin_stretch(
    data: HoldData, work: Workspace, n: int, dx: float, dy: float, dz: float
) -> tuple[float, float, float]:
    """Stretches the skin as contact ``n`` moves over the body; returns what it slips by, m.

    ``contact.shear`` does the same for whole motions.
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

    ``contact.edges.edge_sides`` does the same on the mesh; this reads the grid.
    """
    field, contacts = data.field, work.contacts
    for i in range(3):
        # A finger that moves over an edge rests on neither face.
        if contacts.drag[n - 1, i] != 0.0:
            return n
    size = np.sqrt(g[0] ** 2 + g[1] ** 2 + g[2] ** 2)
    ux, uy, uz = -g[0] / size, -g[1] / size, -g[2] / size
    # Two directions at right angles to the normal.
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
        # The contact's point, sunk in, projected onto the plane of that face.
        off = value + (p[0] + EDGE_SINK * EDGE_RADIUS * ux - x) * gx
        off += (p[1] + EDGE_SINK * EDGE_RADIUS * uy - y) * gy
        off += (p[2] + EDGE_SINK * EDGE_RADIUS * uz - z) * gz
        x = p[0] + EDGE_SINK * EDGE_RADIUS * ux - off * gx
        y = p[1] + EDGE_SINK * EDGE_RADIUS * uy - off * gy
        z = p[2] + EDGE_SINK * EDGE_RADIUS * uz - off * gz
        sunk = (x - p[0]) * ux + (y - p[1]) * uy + (z - p[2]) * uz
        square = (x - p[0]) ** 2 + (y - p[1]) ** 2 + (z - p[2]) ** 2 - sunk * sunk
        side_gap = gap + max(sunk, 0.0)
        # The grid rounds edges off, and may lead nowhere. Rows are kept for the other capsules.
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
    """Writes the contacts of one frame with the ground; returns how many there are."""
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

    ``work.found.blame`` names the digit that is deepest. Each capsule has one contact: of the
    capsule itself if it touches, else of the nearest point of the skin over it. At an edge the
    contacts on the faces beside it come next.
    """
    found, limits = work.found, data.limits
    around = surroundings_at(data, t)
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
        a, b = capsule_ends(data, work.now, c)
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
